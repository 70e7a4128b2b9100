"""Delay at a bottleneck with active queue management."""

from ..criterion import MILLISECONDS, Criterion
from ..goals import NoWorse
from ..measures import queue_delay
from .aqm import CASES

CRITERION = Criterion(
    name="aqm-delay",
    title="Delay under active queue management",
    section="7.1",
    level="SHOULD",
    question="Does a queue that drops early stay short under the controller?",
    method="95th percentile of the queueing delay in the runs of aqm.",
    unit=MILLISECONDS,
    cases=CASES,
    measure=queue_delay("p95"),
    goal=NoWorse(factor=1.25),
    why=(
        "These disciplines were designed for flows that answer losses. A quarter more delay than "
        "under the worse of Reno and CUBIC is the tolerance: the percentile is of single bursts."
    ),
    linux=True,
)
