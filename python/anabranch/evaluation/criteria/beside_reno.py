"""Throughput that Reno flows lose."""

from ..criterion import PERCENT, Criterion
from ..mixed_measures import harm_in_throughput, rivals
from .beside_cubic import GOAL, METHOD, QUESTION, WHY

CRITERION = Criterion(
    name="beside-reno",
    title="Harm to the throughput of Reno",
    section="5.2.1",
    level="MUST",
    question=QUESTION.format("Reno"),
    method=METHOD,
    unit=PERCENT,
    cases=rivals("reno"),
    measure=harm_in_throughput(),
    goal=GOAL,
    why=WHY,
    theory=True,
)
