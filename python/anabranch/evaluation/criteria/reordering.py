"""Packets that arrive out of order."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import NoWorse
from ..measures import used
from ..one_link import SCENARIO, link, times


def _held(percent: float, milliseconds: int) -> Case:
    """A part of the packets is held back behind the bottleneck."""
    how = f'probability = {percent / 100:g}, delay = "{milliseconds} ms"'
    setting = (*link(flows=1), *times(60, 5), f"link.bottleneck.reorder={{ {how} }}")
    return Case(f"{percent:g} % by {milliseconds} ms", SCENARIO, setting)


CRITERION = Criterion(
    name="reordering",
    title="Reordering",
    section="7.7",
    level="advice",
    question="What rate does a flow keep where packets overtake each other?",
    method=(
        "Goodput of one flow, headers added, over 20 Mb/s at 40 ms, where 1 % or 10 % of the packets "
        "are held back behind the bottleneck by 5 ms, which is eight packets, or by 40 ms, a round "
        "trip. Losses are found by duplicate acknowledgements (RFC 6675)."
    ),
    unit=PERCENT,
    cases=(_held(1, 5), _held(1, 40), _held(10, 40)),
    measure=used(),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §7.7 names no threshold. Reno and CUBIC take reordering for loss; a tenth less "
        "than the lower of theirs is the tolerance. RACK, which is transport, would help all."
    ),
)
