"""Use of a bottleneck with active queue management."""

from ..criterion import PERCENT, Case, Criterion
from ..measures import used
from ..one_link import SCENARIO, link, times
from .drop_tail import ENOUGH

QUEUES = {
    "RED": 'red = {{ min = "17 packets", max = "50 packets", max_p = 0.1, limit = "134 packets"{} }}',
    "PIE": 'pie = {{ limit = "1000 packets"{} }}',
    "CoDel": 'codel = {{ limit = "1000 packets"{} }}',
    "FQ-CoDel": 'fq-codel = {{ limit = "1000 packets"{} }}',
}
"""Queue disciplines, with room for `ecn`."""


def managed(name: str, flows: int = 4, *, ecn: bool = False) -> Case:
    """A bottleneck of 20 Mb/s and 40 ms with that discipline."""
    queue = QUEUES[name].format(", ecn = true" if ecn else "")
    setting = (*link(flows=flows, buffer=None), *times(60, 10))
    marks = ("transport.ecn=true",) if ecn else ()
    return Case(name, SCENARIO, (*setting, f"link.bottleneck.queue={{ {queue} }}", *marks))


CASES = tuple(managed(name) for name in QUEUES)

CRITERION = Criterion(
    name="aqm",
    title="Use of a bottleneck with active queue management",
    section="7.1",
    level="SHOULD",
    question="How much of a link do flows use whose queue drops early?",
    method=(
        "Goodput of four flows of the controller, headers added, over the capacity of 20 Mb/s at 40 "
        "ms, under RED (thresholds at a quarter and three quarters of the bandwidth-delay "
        "product), PIE (RFC 8033), CoDel (RFC 8289) and FQ-CoDel (RFC 8290) with their defaults."
    ),
    unit=PERCENT,
    cases=CASES,
    measure=used(),
    goal=ENOUGH,
    why=(
        "A flow that halves its window uses three quarters of a link that has no queue at all. No "
        "discipline here keeps the queue shorter than that."
    ),
    linux=True,
)
