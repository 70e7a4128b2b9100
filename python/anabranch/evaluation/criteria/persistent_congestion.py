"""Congestion that lasts, with windows below one segment."""

from ..criterion import RATIO, Case, Criterion
from ..goals import NoWorse
from ..measures import offered
from ..one_link import SCENARIO, drop_tail, link, times


def _crowd(rate_bps: float, flows: int, queue: int) -> Case:
    """Flows whose share is less than a segment in a round trip of 100 ms."""
    name = f"{flows} flows at {rate_bps / 1e6:g} Mb/s"
    setting = link(rate_bps, 0.1, flows=flows, buffer=None)
    return Case(name, SCENARIO, (*setting, drop_tail(queue), *times(120, 20)))


CRITERION = Criterion(
    name="persistent-congestion",
    title="Full backoff under persistent congestion",
    section="5.1.1",
    level="SHOULD",
    question="Do dozens of flows of the controller on a slow link send ever less as losses last?",
    method=(
        "Packets offered to the bottleneck for each one that it carries. 50 flows at 0.5 Mb/s and "
        "24 at 1 Mb/s, 100 ms, queues of about one bandwidth-delay product: a fair share is a "
        "twelfth and a third of a segment in a round trip, which only pauses between single "
        "packets can reach."
    ),
    unit=RATIO,
    cases=(_crowd(0.5e6, 50, 10), _crowd(1e6, 24, 8)),
    measure=offered(),
    goal=NoWorse(),
    why=(
        "Packets that are sent and never arrive are what RFC 2914 §5 calls congestion collapse. "
        "Reno and CUBIC back off fully, with the timeouts of RFC 6298; whoever loads the link "
        "more backs off less."
    ),
)
