"""A path that comes back."""

from ..criterion import SECONDS, Case, Criterion
from ..goals import at_most
from ..multipath_measures import FOUR, TCPS, return_time

SCENARIO = "rfc9743/two-links"
AT_S, DOWN_S = 40.0, 10.0
PART = 0.4
"""Of a TCP's rate: 80 % of the half that two paths with equal traffic leave to each."""

CRITERION = Criterion(
    name="path-returns",
    title="Time until a path is in use again",
    section="7.10",
    level="advice",
    question="How long does a path that was down for 10 s take to carry its traffic again?",
    method=(
        "Seconds from the return of the first of two paths until 4 users carry there 40 % of what 4 "
        "Reno TCPs in their place carried in the 20 s before it failed, as a mean over 2 s. 40 Mb/s "
        "and 100 ms with 4 other Reno TCPs on each path. 60 s are watched."
    ),
    unit=SECONDS,
    cases=(
        Case(
            "down for 10 s",
            SCENARIO,
            (
                *FOUR,
                "duration=110 s",
                f'link.first.change=[{{ at = "{AT_S:g} s", up = false }}, '
                f'{{ at = "{AT_S + DOWN_S:g} s", up = true }}]',
            ),
            beside={"first": TCPS["first"]},
            series=True,
        ),
    ),
    measure=return_time(AT_S, DOWN_S, PART),
    goal=at_most(2 * DOWN_S),
    why=(
        "A user that takes as much in all as a TCP on one of two equal paths (RFC 6356 Section 2) "
        "has half of a TCP's rate on each; 80 % of that is 40 %. Timeouts double, so the first "
        "segment after the return comes at most as long after it as the path was down: 10 s. Growth "
        "to 22 segments, 40 % of the window of a TCP, takes 2 s at one segment in a round trip. "
        "Twice the outage leaves room for both."
    ),
)
