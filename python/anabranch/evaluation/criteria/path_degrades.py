"""A path that becomes much worse."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..multipath_measures import FOUR, TCPS, goodput_gain

SCENARIO = "rfc9743/two-links"
GOOD = {"second": TCPS["second"]}


def _worse(change: str) -> tuple[str, ...]:
    """Overrides: a change of the first path at 20 s, and measurement of the 60 s from then on."""
    return (*FOUR, "warmup=20 s", "duration=80 s", f"link.{change}")


CRITERION = Criterion(
    name="path-degrades",
    title="Goodput after a path has become worse",
    section="7.10",
    level="MUST",
    question="Does a path that becomes several times worse pull the user down on the good one?",
    method=(
        "Mean goodput of 4 users in the 60 s after the first path's rate falls to a tenth, its one-way "
        "delay grows tenfold, so that the round trip grows from 100 to 550 ms, or its random loss "
        "rises to 5 %, over that of Reno TCPs in their place on the second path. 40 Mb/s and 100 ms "
        "with 4 TCPs on each path."
    ),
    unit=PERCENT,
    cases=(
        Case("rate", SCENARIO, _worse('first.change=[{ at = "20 s", rate = "4 Mb/s" }]'), GOOD),
        Case(
            "delay", SCENARIO, _worse('first-line.change=[{ at = "20 s", delay = "500 ms" }]'), GOOD
        ),
        Case("loss", SCENARIO, _worse('first.change=[{ at = "20 s", loss = 0.05 }]'), GOOD),
    ),
    measure=goodput_gain,
    goal=at_least(0.8),
    why=(
        "RFC 9743 §7.10 asks for the harm of a change in the path. RFC 6356 Section 2, goal 1, "
        "promises the rate of the best path; a fifth is left for the time that it takes to grow "
        "there from half the window of a TCP."
    ),
)
