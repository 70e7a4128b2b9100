"""Throughput that CUBIC flows lose."""

from ..criterion import PERCENT, Criterion
from ..goals import NoWorse
from ..mixed_measures import harm_in_throughput, rivals

QUESTION = "How much of their throughput alone do {} flows lose to one user of the controller?"
METHOD = (
    "Harm (Ware et al., HotNets 2019): (alone - beside) / alone of the mean rate of 1, 4 and 16 "
    "rivals without and with the subject. Links, queues of 4 BDP and the base RTT of 50 ms are "
    "those of Prudentia."
)
GOAL = NoWorse(slack=0.05)
WHY = (
    "RFC 9743 §5.2 asks for more harm than by previous standards-track algorithms: Reno and CUBIC "
    "stand in the subject's place in the same runs. A tenth of their harm and five points are the "
    "tolerance: the shares of two equal flows in one run differ by as much."
)

CRITERION = Criterion(
    name="beside-cubic",
    title="Harm to the throughput of CUBIC",
    section="5.2.1",
    level="MUST",
    question=QUESTION.format("CUBIC"),
    method=METHOD,
    unit=PERCENT,
    cases=rivals("cubic"),
    measure=harm_in_throughput(),
    goal=GOAL,
    why=WHY,
)
