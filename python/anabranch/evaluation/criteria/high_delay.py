"""A geostationary satellite."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import NoWorse
from ..measures import used
from ..one_link import SCENARIO, link, steady, times

RATE, RTT = 40e6, 0.6


def _satellite(flows: int, queue_s: float) -> Case:
    """Flows over the suite's downlink, with a queue of so many seconds."""
    buffer = queue_s / RTT
    name = f"{flows} flow{'s' if flows > 1 else ''}, queue of {queue_s * 1e3:g} ms"
    setting = link(RATE, RTT, flows=flows, buffer=buffer)
    long = steady(RATE, RTT, flows=flows, buffer=buffer, warmup_s=30)
    return Case(name, SCENARIO, (*setting, *long), seeds=2)


CRITERION = Criterion(
    name="high-delay",
    title="A geostationary satellite",
    section="7.5",
    level="advice",
    question="Do flows use a path of high delay?",
    method=(
        "Goodput, headers added, over 40 Mb/s at 600 ms: the downlink of the common TCP evaluation "
        "suite, section 4.4.4, with its drop-tail queue of 100 ms, and with one of 600 ms. Three "
        "cycles of Reno from loss to loss are measured, which take 9 to 35 minutes; and, as most "
        "transfers end before the first of them, the 90 s from 30 s after the start on, in which "
        "Reno climbs after slow start and loses nothing."
    ),
    unit=PERCENT,
    cases=(
        _satellite(1, 0.1),
        _satellite(4, 0.1),
        _satellite(4, 0.6),
        Case(
            "1 flow, 90 s after slow start",
            SCENARIO,
            (*link(RATE, RTT, flows=1, buffer=0.1 / RTT), *times(120, 30)),
        ),
    ),
    measure=used(),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §7.5 names no threshold. Reno, which adds a segment in a round trip, is slow "
        "here: not to be slower than it by more than a tenth is little."
    ),
)
