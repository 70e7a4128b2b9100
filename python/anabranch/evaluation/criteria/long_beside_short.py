"""A long flow beside short transfers of the same controller."""

from ..criterion import PERCENT, Criterion
from ..goals import NoWorse
from ..measures import used
from .short_flows import CASES

CRITERION = Criterion(
    name="long-beside-short",
    title="A long flow beside short ones",
    section="5.1.5",
    level="MUST",
    question="What do short transfers of the controller leave to a long flow?",
    method=(
        "Goodput of the long flow, headers added, over the capacity of the link, in the runs of "
        "short-flows."
    ),
    unit=PERCENT,
    cases=CASES,
    measure=used(),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §5.1.5 asks how short flows affect long ones and names no threshold. A tenth less "
        "than under Reno or CUBIC is the tolerance."
    ),
)
