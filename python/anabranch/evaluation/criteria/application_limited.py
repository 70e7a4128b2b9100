"""Flows whose application writes less than the link carries."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..measures import delivered
from ..one_link import SCENARIO, link, times

WRITES = (*link(flows=1), *times(60, 5), "flow.subject.app_rate=5 Mb/s")
FOUR = (*link(flows=4), *times(60, 5), "flow.subject.app_rate=4 Mb/s")

CRITERION = Criterion(
    name="application-limited",
    title="Application-limited flows",
    section="5.1.4",
    level="advice",
    question="Does a flow whose application needs a part of the link get it?",
    method=(
        "Goodput over what applications write, at 20 Mb/s and 40 ms: one that writes 5 Mb/s, alone "
        "and with random loss of 0.1 %, at which a Reno flow could have 11 Mb/s; four that write "
        "4 Mb/s each, 83 % of the link with headers."
    ),
    unit=PERCENT,
    cases=(
        Case("5 Mb/s", SCENARIO, WRITES),
        Case(
            "5 Mb/s, 0.1 % loss",
            SCENARIO,
            (*WRITES, "link.bottleneck.loss={ probability = 0.001 }"),
        ),
        Case("4 flows of 4 Mb/s", SCENARIO, FOUR),
    ),
    measure=delivered(),
    goal=at_least(0.98),
    why=(
        "RFC 9743 §5.1.4 has flows that seek to send at different rates. The link has room for all "
        "of it. Two hundredths are what a second of backlog at the end of the run would take."
    ),
)
