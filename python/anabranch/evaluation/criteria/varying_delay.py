"""Delay that varies without congestion."""

import random

from ..criterion import PERCENT, Case, Criterion
from ..goals import NoWorse
from ..measures import used
from ..one_link import SCENARIO, link, steps, times

ONE_FLOW = (*link(flows=1), *times(60, 10))


def drawn(spread_s: float) -> str:
    """The one-way delay takes a new value every 100 ms: 20 ms and a part of `spread_s`, uniform and
    independent, drawn once by Python's generator with seed 1.
    """
    draw = random.Random(1)
    rows = (
        f'{{ at = "{n / 10:g} s", delay = "{20 + 1e3 * spread_s * draw.random():.3f} ms" }}'
        for n in range(1, 600)
    )
    return f"link.line.change=[{', '.join(rows)}]"


def _delays(every_s: float) -> str:
    """The base RTT goes from 40 ms to 120 ms and back."""
    return steps(("100 ms", "20 ms"), every_s, 60, "delay", "line")


CRITERION = Criterion(
    name="varying-delay",
    title="Delay that varies without congestion",
    section="7.3",
    level="SHOULD",
    question="Does a flow keep its rate where the minimum delay changes or varies at random?",
    method=(
        "Goodput of one flow, headers added, over 20 Mb/s. The base RTT goes from 40 ms to 120 ms "
        "and back, every 5 s or every second; or it takes a new value every 100 ms, uniform from 40 "
        "to 80 ms or from 40 to 120 ms, drawn once. Packets keep their order: where the delay falls, "
        "they wait for those under way, at most as long as it fell. So a packet of the latter two "
        "sees 61 or 83 ms in the mean, with a standard deviation of 11 or 22 ms. The drop-tail queue "
        "has 67 packets, one bandwidth-delay product at 40 ms."
    ),
    unit=PERCENT,
    cases=(
        Case("steps every 5 s", SCENARIO, (*ONE_FLOW, _delays(5))),
        Case("steps every second", SCENARIO, (*ONE_FLOW, _delays(1))),
        Case("40 to 80 ms, every 100 ms", SCENARIO, (*ONE_FLOW, drawn(0.04))),
        Case("40 to 120 ms, every 100 ms", SCENARIO, (*ONE_FLOW, drawn(0.08))),
    ),
    measure=used(),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §7.3: inferring congestion from an increase in the delay reduces throughput. "
        "Reno and CUBIC do not, and a tenth less than the lower of theirs is the tolerance."
    ),
)
