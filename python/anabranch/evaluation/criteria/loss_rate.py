"""Sustained loss at a drop-tail bottleneck."""

from ..criterion import PERCENT, Criterion
from ..goals import NoWorse
from ..measures import loss
from .standing_queue import queued

LOSS = NoWorse(factor=2, slack=0.001)
"""Twice the loss, and a packet in a thousand."""

CRITERION = Criterion(
    name="loss-rate",
    title="Sustained loss at a drop-tail bottleneck",
    section="5.1.3",
    level="SHOULD",
    question="How many packets do flows of the controller lose to a queue that they fill themselves?",
    method=(
        "Packets dropped over packets offered, under four flows of the controller at 20 Mb/s and "
        "40 ms, with drop-tail queues from a quarter of the bandwidth-delay product to four of it "
        "(Hock, Bless and Zitterbart, ICNP 2017, saw BBRv1's loss with several flows)."
    ),
    unit=PERCENT,
    cases=tuple(queued(buffer, 4) for buffer in (0.25, 0.5, 1, 1.5, 4)),
    measure=loss(),
    goal=LOSS,
    why=(
        "RFC 9743 §5.1.3 does not ask for Reno's reaction. By the square-root law twice the loss "
        "costs a standard flow beside it 30 % of its rate, which is as far as a difference may go "
        "unnoticed; one packet in a thousand is below what standard flows cause themselves."
    ),
    linux=True,
)
