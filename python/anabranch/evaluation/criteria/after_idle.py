"""Bursts after an application has paused."""

from ..criterion import PERCENT, Case, Criterion
from ..measures import loss
from ..one_link import SCENARIO, link, times
from .loss_rate import LOSS

BURSTS = (
    "flow.subject.app_rate=40 Mb/s",
    'flow.subject.pauses={ on = "1 s", off = "2 s" }',
)


def _pausing(name: str, flows: int, idle: str) -> Case:
    """Applications that write twice what the link carries, for a third of the time."""
    setting = (*link(flows=flows), *times(60, 5), *BURSTS, f"transport.idle={idle}")
    return Case(name, SCENARIO, setting)


CRITERION = Criterion(
    name="after-idle",
    title="Loss after pauses of the application",
    section="5.1.3",
    level="SHOULD",
    question="Does a flow send too much at once after its application has paused?",
    method=(
        "Packets dropped over packets offered at 20 Mb/s and 40 ms with a queue of one "
        "bandwidth-delay product. Applications write at 40 Mb/s for 1 s and pause for 2 s in the "
        "mean. The transport keeps the window in pauses, or restarts it (RFC 5681 §4.1)."
    ),
    unit=PERCENT,
    cases=(
        _pausing("1 flow, window kept", 1, "keep"),
        _pausing("1 flow, window restarted", 1, "restart"),
        _pausing("3 flows, window kept", 3, "keep"),
    ),
    measure=loss(),
    goal=LOSS,
    why=(
        "RFC 9743 §5.1.3: a controller should avoid excessive increases in sending rate. The "
        "tolerance is that of loss-rate."
    ),
)
