"""Fairness among flows of one controller."""

from ..criterion import RATIO, Case, Criterion
from ..goals import at_least
from ..measures import jain_index
from ..one_link import SCENARIO, link, times

CRITERION = Criterion(
    name="self-fairness",
    title="Fairness to itself",
    section="5.1.4",
    level="advice",
    question="Do flows of the controller with equal round trips share a bottleneck equally?",
    method=(
        "Jain's index of the mean rates of 2, 4 and 16 flows over 160 s, at 20 Mb/s and 40 ms with "
        "a drop-tail queue of one bandwidth-delay product."
    ),
    unit=RATIO,
    cases=tuple(
        Case(f"{count} flows", SCENARIO, (*link(flows=count), *times(180, 20)))
        for count in (2, 4, 16)
    ),
    measure=jain_index(),
    goal=at_least(0.9),
    why=(
        "Of two flows, 0.9 is a share of two to one, within which standard flows of different "
        "versions share in practice (RFC 5166 §2.3 has the index and no threshold)."
    ),
    theory=True,
    linux=True,
)
