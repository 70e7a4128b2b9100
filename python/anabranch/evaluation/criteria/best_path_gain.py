"""A user's gain over a TCP on its best path."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..multipath_measures import LONG, TCPS, gain, link

SCENARIO = "rfc9743/two-links"
UNEQUAL_RTT = (
    "link.first-line.delay=10 ms",
    "link.first-back.delay=10 ms",
    "link.second-line.delay=150 ms",
)
CROWDED = "flow.tcp-on-second.count=4"
LOSSY = "link.second.loss={ probability = 0.01 }"

CASES = (
    Case("equal paths", SCENARIO, LONG, TCPS),
    Case("4 TCPs on the second path", SCENARIO, (*LONG, CROWDED), TCPS),
    Case("10 and 2 Mb/s", SCENARIO, (*LONG, *link("second", 2)), TCPS),
    Case("20 and 200 ms", SCENARIO, (*LONG, *UNEQUAL_RTT), TCPS),
    Case("1 % random loss on the second path", SCENARIO, (*LONG, LOSSY), TCPS),
)

CRITERION = Criterion(
    name="best-path-gain",
    title="Rate over that of a TCP on the best path",
    section="7.10",
    level="advice",
    question="Does a user with two paths get at least what a TCP gets on the better one?",
    method=(
        "Rate of a connection over two disjoint paths of 10 Mb/s and 100 ms with a Reno TCP on "
        "each, over the rate of a Reno TCP in its place on the path where that has more. Paths "
        "differ in other users, rate, round trip or random loss."
    ),
    unit=PERCENT,
    cases=CASES,
    measure=gain,
    goal=at_least(0.9),
    why="RFC 6356 Section 2, goal 1: at least a single-path flow on the best path; a tenth is the tolerance.",
    theory=True,
)
