"""A path whose rate and delay change at once."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import NoWorse
from ..measures import used
from ..one_link import SCENARIO, link, steps, times


def _routes(megabits: int, delay_ms: int, flows: int) -> Case:
    """The path of 20 Mb/s and 40 ms, and every other 10 s one of that rate and base RTT."""
    name = f"{megabits} Mb/s and {delay_ms} ms, {flows} flow{'s' if flows > 1 else ''}"
    ways = (
        steps((f"{megabits} Mb/s", "20 Mb/s"), 10, 190, "rate", "bottleneck"),
        steps((f"{delay_ms - 20} ms", "20 ms"), 10, 190, "delay", "line"),
    )
    return Case(name, SCENARIO, (*link(flows=flows), *times(190, 10), *ways))


CRITERION = Criterion(
    name="route-change",
    title="Route changes",
    section="7.9",
    level="MUST",
    question="How much of a path do flows use whose route changes?",
    method=(
        "Goodput, headers added, over what the path could carry. Every 10 s it changes between 20 "
        "Mb/s and 40 ms and another one: slower and longer (5 Mb/s, 200 ms), faster and longer (50 "
        "Mb/s, 120 ms), or longer alone (20 Mb/s, 120 ms). The queue has 67 packets throughout. "
        "Packets keep their order: those that take a shorter route wait for those under way on the "
        "longer one. Reordering is a criterion of its own."
    ),
    unit=PERCENT,
    cases=(
        _routes(5, 200, 1),
        _routes(5, 200, 4),
        _routes(50, 120, 1),
        _routes(50, 120, 4),
        _routes(20, 120, 1),
    ),
    measure=used(),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §7.9: a controller must be robust to changes on the interval of common Internet "
        "re-routing. It names no threshold; a tenth less than the lower of Reno's and CUBIC's is "
        "the tolerance."
    ),
)
