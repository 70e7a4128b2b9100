"""Loss that a subject adds to that of others."""

from ..criterion import PERCENT, Criterion
from ..mixed_measures import loss_added
from .harm_in_delay import CRITERION as DELAY
from .loss_rate import LOSS

CRITERION = Criterion(
    name="harm-in-loss",
    title="Loss that is added to that of others",
    section="5.2",
    level="advice",
    question=(
        "How many more packets do Reno, CUBIC or BBR flows lose beside one user of the controller?"
    ),
    method=(
        "Fraction of the rivals' packets that is lost beside the subject, less that without it, in "
        "the runs of beside-reno, beside-cubic and beside-bbr. The harm of Ware et al., HotNets "
        "2019, is this over the loss beside the subject. It ends at 1, and Reno is near that already: "
        "beside it the window of a single Reno rival halves, which is four times the loss."
    ),
    unit=PERCENT,
    cases=DELAY.cases,
    measure=loss_added(),
    goal=LOSS,
    why=(
        "RFC 9743 §5.2: harm ought also to consider an increase in packet loss. Reno and CUBIC stand "
        "in the subject's place in the same runs. The tolerance is that of loss-rate: twice the "
        "increase, and a packet in a thousand."
    ),
)
