"""Several subflows through one bottleneck."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_most
from ..mixed_measures import ALONE, harm_in_throughput
from ..multipath_measures import LONG, STEADY
from ..one_link import drop_tail

SCENARIO = "rfc9743/shared-bottleneck"
DROP_TAIL = (*LONG, drop_tail(100))
"""Its losses are fewer and come together, so that shares vary for longer."""
SUBFLOW = '{ links = ["line", "bottleneck"], back = ["back"] }'


def _case(count: int, queue: str, *overrides: str) -> Case:
    """A case with so many subflows."""
    subflows = f"flow.subject.path=[{', '.join([SUBFLOW] * count)}]"
    name = f"{count} subflow{'s' if count > 1 else ''}, {queue}"
    return Case(name, SCENARIO, (*overrides, subflows), ALONE)


CRITERION = Criterion(
    name="shared-bottleneck",
    title="Harm where all paths share a bottleneck",
    section="7.10",
    level="MUST",
    question="How much does a TCP lose where several subflows share its bottleneck?",
    method=(
        "Harm to the throughput of a Reno TCP (Ware et al., HotNets 2019): (alone - beside) / alone, "
        "beside one connection of 1, 2, 4 and 8 subflows. 10 Mb/s and 100 ms, with the RED of "
        "draft-khalili-mptcp-performance-issues-04 and with drop-tail of about 1 BDP."
    ),
    unit=PERCENT,
    cases=(
        *(_case(count, "RED", *STEADY) for count in (1, 2, 4, 8)),
        *(_case(count, "drop-tail", *DROP_TAIL) for count in (2, 4)),
    ),
    measure=harm_in_throughput("tcp"),
    goal=at_most(0.55),
    why=(
        "RFC 6356 Section 2, goal 2: no more than a single-path flow would take. Another TCP takes "
        "half, and two uncoupled subflows two thirds. A tenth of the half is the tolerance."
    ),
    theory=True,
    linux=("2 subflows, RED",),
)
