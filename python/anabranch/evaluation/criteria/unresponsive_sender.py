"""A sender that does not comply."""

from ..criterion import PERCENT, Case, Criterion
from ..measures import left_over
from ..one_link import SCENARIO, link, times
from .drop_tail import ENOUGH


def _beside(megabits: float) -> Case:
    """Four flows beside UDP that takes so much of 20 Mb/s on the wire, all the time."""
    udp = (
        "flow.udp.count=1",
        f"flow.udp.app_rate={megabits * 1448 / 1500:.6g} Mb/s",
        "flow.udp.start=0 s",
        'flow.udp.pauses={ on = "1 h", off = "1 h", random = false }',
    )
    return Case(f"{megabits:g} of 20 Mb/s", SCENARIO, (*link(), *times(60, 10), *udp))


CRITERION = Criterion(
    name="unresponsive-sender",
    title="Beside a sender that does not comply",
    section="7.6",
    level="SHOULD",
    question="Do flows use what a sender without congestion control leaves?",
    method=(
        "Goodput of four flows of the controller, headers added, over what UDP at a constant rate "
        "of 10 or 15 Mb/s leaves of 20 Mb/s, at 40 ms with a drop-tail queue of one "
        "bandwidth-delay product. Above 100 % they take from the UDP, by its losses."
    ),
    unit=PERCENT,
    cases=(_beside(10), _beside(15)),
    measure=left_over(),
    goal=ENOUGH,
    why=(
        "RFC 9743 §7.6 asks for non-compliant senders and names no threshold. A flow that halves "
        "its window uses three quarters of a link that has no queue at all; what is left behaves "
        "as a slower link."
    ),
)
