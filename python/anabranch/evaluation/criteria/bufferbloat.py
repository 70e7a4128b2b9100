"""Delay in a very deep queue."""

from ..criterion import MILLISECONDS, Criterion
from ..goals import at_most
from ..measures import one_way_delay
from .standing_queue import queued

CRITERION = Criterion(
    name="bufferbloat",
    title="Delay beside a very deep queue",
    section="5.1.2",
    level="advice",
    question="Does a call across the same bottleneck stay usable?",
    method=(
        "95th percentile of the queueing delay plus the 20 ms of propagation, at 20 Mb/s and 40 ms "
        "with a drop-tail queue of eight bandwidth-delay products, 320 ms, under one and four "
        "flows of the controller, for at least three cycles of Reno from loss to loss."
    ),
    unit=MILLISECONDS,
    cases=(queued(8, 1), queued(8, 4)),
    measure=one_way_delay("p95"),
    goal=at_most(0.15),
    why=(
        "ITU-T G.114: up to 150 ms from mouth to ear most conversations do not suffer. Reno and "
        "CUBIC fill every queue and miss this, as RFC 9743 §5.1.2 says: a new controller has the "
        "opportunity to do better."
    ),
    linux=True,
)
