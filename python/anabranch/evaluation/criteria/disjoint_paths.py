"""Capacity of disjoint paths."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..multipath_measures import STEADY, TCPS, filled, link
from ..one_link import drop_tail

SCENARIO = "rfc9743/two-links"
EMPTY = (*STEADY, "flow.tcp-on-first.count=0", "flow.tcp-on-second.count=0")
DROP_TAIL = tuple(drop_tail(83, name) for name in ("first", "second"))

CRITERION = Criterion(
    name="disjoint-paths",
    title="Use of disjoint paths without other traffic",
    section="7.10",
    level="advice",
    question="Does one connection use the capacity of two disjoint paths?",
    method=(
        "Rate of a connection over two links that nobody else uses, over the sum of the rates of a "
        "Reno TCP on either. 10 and 10 Mb/s with RED and with drop-tail of 1 BDP, 10 and 2 Mb/s, "
        "100 ms."
    ),
    unit=PERCENT,
    cases=(
        Case("10 and 10 Mb/s, RED", SCENARIO, EMPTY, TCPS),
        Case("10 and 10 Mb/s, drop-tail", SCENARIO, (*EMPTY, *DROP_TAIL), TCPS),
        Case("10 and 2 Mb/s, RED", SCENARIO, (*EMPTY, *link("second", 2)), TCPS),
    ),
    measure=filled,
    goal=at_least(0.9),
    why=(
        "Concurrent multipath is there to aggregate the capacity of paths (RFC 9743 §7.10), and "
        "nobody else needs it here. Coupled laws grow more slowly; a tenth is the tolerance."
    ),
    theory=True,
    linux=("10 and 10 Mb/s, RED",),
)
