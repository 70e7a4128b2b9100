"""Traffic that moves from path to path."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_most
from ..multipath_measures import LONG, dominated

SCENARIO = "rfc9743/two-links"

CRITERION = Criterion(
    name="flapping",
    title="Time on one of two equal paths",
    section="7.10",
    level="advice",
    question="Does nearly all traffic of a user sit on one of two equal paths for a time?",
    method=(
        "Fraction of time in which one of two equal paths has more than 90 % of the user's window. "
        "10 Mb/s and 100 ms with a Reno TCP on each path, as "
        "draft-khalili-mptcp-performance-issues-04 discusses; and without other traffic."
    ),
    unit=PERCENT,
    cases=(
        Case("a TCP on each path", SCENARIO, LONG, series=True),
        Case(
            "no other traffic",
            SCENARIO,
            (*LONG, "flow.tcp-on-first.count=0", "flow.tcp-on-second.count=0"),
            series=True,
        ),
    ),
    measure=dominated,
    goal=at_most(0.1),
    why=(
        "Equal paths should carry equal traffic. Windows of independent flows halve and grow again "
        "and are never 1:9; fully coupled ones can be for long (flappiness, which RFC 6356 names)."
    ),
)
