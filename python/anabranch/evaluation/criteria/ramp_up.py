"""Time until a newcomer without slow start has got its first bytes."""

from ..criterion import SECONDS, Case, Criterion
from ..goals import NoWorse
from ..measures import completion

SCENARIO = "common-suite/two-flows"
BYTES = "flow.second.transfer=1.448 MB"


def _pair(first_ms: int, second_ms: int) -> Case:
    """Round trips of the flow that is there and of the one that joins."""
    lines = (
        f"link.first-line.delay={first_ms / 2:g} ms",
        f"link.second-line.delay={second_ms / 2:g} ms",
    )
    return Case(f"{first_ms} ms, joined by {second_ms} ms", SCENARIO, (BYTES, *lines))


CRITERION = Criterion(
    name="ramp-up",
    title="How soon a flow makes room for another one",
    section="5.1.4",
    level="advice",
    question="How soon does a flow of the controller make room for a new one?",
    method=(
        "Seconds until the new flow has 1000 packets of 1500 bytes through, as in the common TCP "
        "evaluation suite, section 5.2: 10 Mb/s, a queue of 80 ms, half of the link in use by "
        "other transfers of the controller, no slow start of the new flow, three pairs of round "
        "trips."
    ),
    unit=SECONDS,
    cases=(_pair(80, 80), _pair(120, 30), _pair(30, 120)),
    measure=completion("second"),
    goal=NoWorse(factor=1.25),
    why=(
        "The suite compares with standard TCP and names no threshold. A quarter more is about the "
        "spread of its three runs."
    ),
)
