"""From stations to an access point."""

from ..criterion import MEGABITS, Case, Criterion
from ..goals import NoWorse
from ..measures import goodput

CRITERION = Criterion(
    name="wifi-up",
    title="Wi-Fi, to the access point",
    section="6.4",
    level="advice",
    question="What do four stations of a Wi-Fi network send together?",
    method="As wifi-down, with flows from the four stations to the server.",
    unit=MEGABITS,
    cases=(Case("4 stations", "rfc9743/wifi", ("flow.subject.count=0", "flow.sender.count=4")),),
    measure=goodput(("sender",)),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §6.4 asks for media access delays and losses due to radio effects, and names no "
        "threshold. A tenth less than the lower of Reno's and CUBIC's is the tolerance."
    ),
)
