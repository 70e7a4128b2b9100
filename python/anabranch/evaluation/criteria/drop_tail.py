"""Use of a drop-tail bottleneck."""

from ..criterion import PERCENT, Criterion
from ..goals import at_least
from ..measures import used
from .standing_queue import queued

ENOUGH = at_least(0.75)
"""What a flow keeps of a link without a queue if it halves its window at each loss."""

CRITERION = Criterion(
    name="drop-tail",
    title="Use of a drop-tail bottleneck",
    section="6.1",
    level="MUST",
    question="How much of a link with a drop-tail queue do flows of the controller use?",
    method=(
        "Goodput, headers added, over the capacity: 20 Mb/s and 40 ms, queues from a quarter of "
        "the bandwidth-delay product to eight of it, one and four flows. 50 s are measured, or three "
        "cycles of Reno from loss to loss where they take longer: 81 s each at eight "
        "bandwidth-delay products."
    ),
    unit=PERCENT,
    cases=(
        *(queued(buffer, 1) for buffer in (0.25, 0.5, 1, 2, 4, 8)),
        *(queued(buffer, 4) for buffer in (0.25, 1, 4)),
    ),
    measure=used(),
    goal=ENOUGH,
    why=(
        "A flow that halves its window uses three quarters of a link that has no queue at all. A "
        "queue of a quarter of the bandwidth-delay product is more than none."
    ),
    linux=True,
)
