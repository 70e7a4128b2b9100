"""Use of links of all round trips."""

from ..criterion import PERCENT, Case, Criterion
from ..measures import used
from ..one_link import SCENARIO, link, steady
from .drop_tail import ENOUGH

CRITERION = Criterion(
    name="round-trips",
    title="Round trips from 1 to 300 ms",
    section="6.3",
    level="SHOULD",
    question="Does a flow of the controller use paths of all lengths?",
    method=(
        "Goodput of one flow, headers added, over the capacity, at 20 Mb/s with a drop-tail queue "
        "of one bandwidth-delay product, and of at least four packets. 60 s are measured, or three "
        "cycles of Reno from loss to loss where they take longer: 225 s each at 300 ms."
    ),
    unit=PERCENT,
    cases=tuple(
        Case(
            f"{rtt} ms",
            SCENARIO,
            (
                *link(rtt_s=rtt / 1e3, flows=1),
                *steady(rtt_s=rtt / 1e3, least_s=60, warmup_s=30),
            ),
            seeds=3 if rtt > 200 else None,
        )
        for rtt in (1, 10, 100, 300)
    ),
    measure=used(),
    goal=ENOUGH,
    why=(
        "RFC 9743 §6 asks for a representative range of delays. A flow that halves its window uses "
        "three quarters of a link that has no queue at all."
    ),
)
