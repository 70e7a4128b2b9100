"""The queue that is there half of the time."""

from ..criterion import MILLISECONDS, Case, Criterion
from ..goals import NoWorse
from ..measures import queue_delay
from ..one_link import SCENARIO, link, steady


def queued(buffer: float, flows: int) -> Case:
    """A drop-tail bottleneck of 20 Mb/s and 40 ms, its queue in bandwidth-delay products; for three
    cycles of Reno or more.
    """
    name = f"{buffer:g} BDP, {flows} flow{'s' if flows > 1 else ''}"
    setting = (*link(flows=flows, buffer=buffer), *steady(flows=flows, buffer=buffer))
    return Case(name, SCENARIO, setting)


CRITERION = Criterion(
    name="standing-queue",
    title="Standing queue at a drop-tail bottleneck",
    section="5.1.2",
    level="SHOULD",
    question="How long do packets wait in the queue half of the time?",
    method=(
        "Median queueing delay of one and of four flows of the controller at 20 Mb/s and 40 ms, "
        "with drop-tail queues of one and four bandwidth-delay products. 50 s are measured, or three "
        "cycles of Reno from loss to loss where they take longer."
    ),
    unit=MILLISECONDS,
    cases=(queued(1, 1), queued(1, 4), queued(4, 1), queued(4, 4)),
    measure=queue_delay("p50"),
    goal=NoWorse(factor=1.05),
    why=(
        "RFC 9743 §5.1.2: a controller should try to avoid excessive queues, and Reno and CUBIC do "
        "not. None needs to be worse than they are. The tolerance is small because CUBIC's median "
        "is nine tenths of the queue: a tenth more would be the whole of it."
    ),
    linux=True,
)
