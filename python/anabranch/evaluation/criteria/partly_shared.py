"""Paths that differ in part and share a link."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_most
from ..mixed_measures import ALONE, harm_in_throughput
from ..multipath_measures import STEADY
from ..one_link import drop_tail

SCENARIO = "rfc9743/partly-shared"
NARROW = (
    "link.first-access.rate=2 Mb/s",
    drop_tail(25, "first-access"),
)

CRITERION = Criterion(
    name="partly-shared",
    title="Harm where paths share a link",
    section="7.10",
    level="MUST",
    question="How much does a TCP lose on a link that paths over different access links share?",
    method=(
        "Harm to the throughput of a Reno TCP: (alone - beside) / alone, beside one connection "
        "whose two paths have access links of their own, of 8 and 8 Mb/s or of 2 and 8 Mb/s, and "
        "share a link of 10 Mb/s with the TCP. RTTs of 100 ms; RED on the shared link."
    ),
    unit=PERCENT,
    cases=(
        Case("access of 8 and 8 Mb/s", SCENARIO, STEADY, ALONE),
        Case("access of 2 and 8 Mb/s", SCENARIO, (*STEADY, *NARROW), ALONE),
    ),
    measure=harm_in_throughput("tcp"),
    goal=at_most(0.55),
    why=(
        "RFC 9743 §7.10: resources that are coupled between paths, such as an overall capacity limit. "
        "As for shared-bottleneck, another TCP takes half (RFC 6356 Section 2, goal 2); a tenth of "
        "the half is the tolerance."
    ),
    theory=True,
)
