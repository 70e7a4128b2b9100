"""Subflows of different round trips through one bottleneck."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_most
from ..multipath_measures import LONG, gain, in_place

SCENARIO = "rfc9743/shared-bottleneck"
UNEQUAL = (*LONG, "link.line.delay=10 ms", "link.back.delay=10 ms", "link.other-line.delay=190 ms")
BESIDE = in_place(
    short='{ links = ["line", "bottleneck"], back = ["back"] }',
    long='{ links = ["other-line", "bottleneck"], back = ["back"] }',
)

CRITERION = Criterion(
    name="unequal-rtt",
    title="Subflows of 20 and 200 ms at one bottleneck",
    section="7.10",
    level="MUST",
    question="Do subflows of different round trips take more together than one TCP?",
    method=(
        "Rate of a connection with subflows of 20 and 200 ms through a bottleneck of 10 Mb/s, over "
        "that of a Reno TCP in its place on the path where that has more, beside a Reno TCP of "
        "20 ms or of 200 ms."
    ),
    unit=PERCENT,
    cases=(
        Case("beside a TCP of 20 ms", SCENARIO, (*UNEQUAL, "link.far.delay=10 ms"), BESIDE),
        Case("beside a TCP of 200 ms", SCENARIO, (*UNEQUAL, "link.far.delay=190 ms"), BESIDE),
    ),
    measure=gain,
    goal=at_most(1.1),
    why=(
        "RFC 6356 Section 2, goal 2, with a tenth as the tolerance: no more than a single-path flow "
        "on one of its paths. RFC 6356 compensates for round trips so that the sum is that of the "
        "best path."
    ),
    theory=True,
)
