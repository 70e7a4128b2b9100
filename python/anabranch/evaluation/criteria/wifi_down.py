"""From an access point to stations."""

from ..criterion import MEGABITS, Case, Criterion
from ..goals import NoWorse
from ..measures import goodput

CRITERION = Criterion(
    name="wifi-down",
    title="Wi-Fi, from the access point",
    section="6.4",
    level="advice",
    question="What do four stations of a Wi-Fi network receive together?",
    method=(
        "Goodput of four flows of the controller from a server to four stations of one network of "
        "802.11g, whose acknowledgements contend for the channel, with bursts of noise at each "
        "station."
    ),
    unit=MEGABITS,
    cases=(Case("4 stations", "rfc9743/wifi"),),
    measure=goodput(),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §6.4 asks for media access delays and losses due to radio effects, and names no "
        "threshold. A tenth less than the lower of Reno's and CUBIC's is the tolerance."
    ),
)
