"""Loss at a bottleneck with active queue management."""

from ..criterion import PERCENT, Criterion
from ..measures import loss
from .aqm import CASES
from .loss_rate import LOSS

CRITERION = Criterion(
    name="aqm-loss",
    title="Loss under active queue management",
    section="7.1",
    level="SHOULD",
    question="How many packets must a queue that drops early drop under the controller?",
    method="Packets dropped over packets offered in the runs of aqm.",
    unit=PERCENT,
    cases=CASES,
    measure=loss(),
    goal=LOSS,
    why=(
        "A controller that does not answer losses makes the discipline drop ever more. The "
        "tolerance is that of loss-rate: twice the loss, and a packet in a thousand."
    ),
    linux=True,
)
