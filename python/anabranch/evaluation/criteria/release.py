"""Sudden release of capacity."""

from ..criterion import SECONDS, Criterion
from ..goals import NoWorse
from ..measures import rise
from .onset import CASES

CRITERION = Criterion(
    name="release",
    title="Sudden release of capacity",
    section="7.8",
    level="SHOULD",
    question="How soon does a flow use capacity that is suddenly free?",
    method=(
        "Seconds until the flow has 80 of 100 Mb/s over a second, after the UDP of onset gave up 75 "
        "of them: common TCP evaluation suite, section 5.3, whose metric is a window of 80 % of the "
        "bandwidth-delay product. 50 s are watched."
    ),
    unit=SECONDS,
    cases=CASES,
    measure=rise(20, 80e6),
    goal=NoWorse(),
    why=(
        "The suite compares with standard TCP and names no threshold. Reno adds a segment in a "
        "round trip of 100 ms and needs some 40 s; no controller needs to be slower."
    ),
)
