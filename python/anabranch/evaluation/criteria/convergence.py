"""Time until a newcomer has its share."""

from ..criterion import SECONDS, Case, Criterion
from ..goals import NoWorse
from ..measures import fair_share_time
from ..one_link import SCENARIO, link, times

JOINS = ("flow.later.count=1", *link(flows=1), *times(120, 5))
NO_SLOW_START = "flow.later.transport={ initial_ssthresh = 10 }"

CRITERION = Criterion(
    name="convergence",
    title="Convergence to a fair share",
    section="5.1.4",
    level="advice",
    question="How long does a flow that joins another one of the controller take to get its share?",
    method=(
        "Seconds until the newcomer's share is from 0.4 to 0.6 over 5 s, and stays there for 5 s: "
        "the delta-fair convergence time of RFC 5166 §2.3 with delta 0.2, held for a while. 20 Mb/s "
        "and 40 ms with a drop-tail queue of one bandwidth-delay product. It joins after 10 s, with "
        "slow start or, as after a loss in the first round trip, without. 110 s are watched."
    ),
    unit=SECONDS,
    cases=(
        Case("with slow start", SCENARIO, JOINS, series=True),
        Case("without slow start", SCENARIO, (*JOINS, NO_SLOW_START), series=True),
    ),
    measure=fair_share_time("later", 10),
    goal=NoWorse(factor=1.5),
    why=(
        "Reno and CUBIC converge slowly and are deployed. Half as long again is the tolerance: "
        "the time depends on which flow meets the first losses, and varies as much between seeds."
    ),
)
