"""Reaction to marks."""

from ..criterion import PERCENT, Criterion
from ..measures import marked
from .aqm import QUEUES, managed
from .loss_rate import LOSS

CRITERION = Criterion(
    name="ecn",
    title="Reaction to ECN marks",
    section="7.1",
    level="advice",
    question="Do flows of the controller answer a mark as they answer a loss?",
    method=(
        "Packets that the bottleneck marks or drops over packets that arrive: four flows that use "
        "ECN (RFC 3168), at 20 Mb/s and 40 ms, under RED, PIE, CoDel and FQ-CoDel that mark. "
        "A sender that ignores marks is marked until nearly every packet is, or the queue is full."
    ),
    unit=PERCENT,
    cases=tuple(managed(name, ecn=True) for name in QUEUES),
    measure=marked(),
    goal=LOSS,
    why=(
        "RFC 9743 §7.1: the reaction must conform to the codepoint that is used; to ECT(0) it is "
        "that to a loss (RFC 3168 §5). The tolerance is that of loss-rate: twice the marks, and a "
        "packet in a thousand."
    ),
)
