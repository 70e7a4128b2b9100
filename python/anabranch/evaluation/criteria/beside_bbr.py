"""Throughput that BBR flows lose."""

from ..criterion import PERCENT, Criterion
from ..mixed_measures import harm_in_throughput, rivals
from .beside_cubic import GOAL, METHOD, QUESTION, WHY

CRITERION = Criterion(
    name="beside-bbr",
    title="Harm to the throughput of BBR",
    section="5.2.1",
    level="advice",
    question=QUESTION.format("BBR"),
    method=(
        f"{METHOD} BBR is version 1: RFC 9743 §5.2.1 has the community consider non-standard "
        "algorithms that are known to be widely deployed."
    ),
    unit=PERCENT,
    cases=rivals("bbr"),
    measure=harm_in_throughput(),
    goal=GOAL,
    why=WHY,
)
