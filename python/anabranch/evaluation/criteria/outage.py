"""Recovery after an outage."""

from ..criterion import RATIO, Case, Criterion
from ..goals import at_most
from ..measures import recovery
from ..one_link import SCENARIO, down, link, times


def _gone(seconds: float, flows: int) -> Case:
    """A link that is down for that time."""
    name = f"{seconds:g} s, {flows} flow{'s' if flows > 1 else ''}"
    setting = (*link(flows=flows), *times(25 + 3 * seconds, 5), down(20, 20 + seconds))
    return Case(name, SCENARIO, (*setting, "sample=20 ms"), series=True)


CRITERION = Criterion(
    name="outage",
    title="Recovery after an outage",
    section="7.8",
    level="SHOULD",
    question="How soon do flows use a link again that was down?",
    method=(
        "Time from the end of an outage of 2 or 10 s until flows of the controller have 80 % of the "
        "link over a second, over the length of the outage; 20 Mb/s and 40 ms with a drop-tail "
        "queue of one bandwidth-delay product, one and four flows."
    ),
    unit=RATIO,
    cases=(_gone(2, 1), _gone(2, 4), _gone(10, 1), _gone(10, 4)),
    measure=recovery(),
    goal=at_most(2),
    why=(
        "With doubling timeouts (RFC 6298) the next attempt comes at most as late after the end as "
        "the outage was long. As much again is ample for slow start, which needs seven round trips "
        "here, and for the second over which the rate is taken."
    ),
)
