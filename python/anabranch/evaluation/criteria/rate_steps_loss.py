"""Loss where the rate of a bottleneck changes in steps."""

from ..criterion import PERCENT, Criterion
from ..measures import loss
from .loss_rate import LOSS
from .rate_steps import CASES

CRITERION = Criterion(
    name="rate-steps-loss",
    title="Loss where the rate changes in steps",
    section="7.9",
    level="MUST",
    question="How many packets do flows lose where the rate of a link falls and rises in steps?",
    method="Packets dropped over packets offered in the runs of rate-steps.",
    unit=PERCENT,
    cases=CASES,
    measure=loss(),
    goal=LOSS,
    why=(
        "A window that was right for the higher rate must be given up at the lower one. The "
        "tolerance is that of loss-rate: twice the loss of Reno or CUBIC, and a packet in a "
        "thousand."
    ),
)
