"""A fair share of one segment."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..measures import least_share
from ..one_link import SCENARIO, drop_tail, link, times


def _single(rate_bps: float, flows: int, queue: int) -> Case:
    """As many flows as packets fit into path and queue."""
    setting = (*link(rate_bps, 0.1, flows=flows, buffer=None), drop_tail(queue))
    name = f"{flows} flows at {rate_bps / 1e6:g} Mb/s"
    return Case(name, SCENARIO, (*setting, *times(1020, 20)))


CRITERION = Criterion(
    name="small-window",
    title="A window of one segment",
    section="7.4",
    level="advice",
    question="Does every flow get on where a fair share is a window of one segment?",
    method=(
        "Mean rate of the worst flow over the mean of all, over 1000 s. 16 flows at 1 Mb/s, and 8 at "
        "0.25 Mb/s, 100 ms; path and drop-tail queue together hold as many packets as there are "
        "flows."
    ),
    unit=PERCENT,
    cases=(_single(1e6, 16, 8), _single(0.25e6, 8, 6)),
    measure=least_share(),
    goal=at_least(0.1),
    why=(
        "Constrained devices have links and windows of this size (RFC 9743 §7.4). Here timeouts "
        "make up most of the rate, and luck matters; less than a tenth of the mean over 1000 s is "
        "starvation, as between rivals (§5.2)."
    ),
)
