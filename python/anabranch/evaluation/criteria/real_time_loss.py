"""Loss of a media flow beside a transfer."""

from ..criterion import PERCENT, Criterion
from ..goals import NoWorse
from ..measures import loss_of
from .real_time_delay import CASES

CRITERION = Criterion(
    name="real-time-loss",
    title="Loss of a media flow",
    section="5.2.2",
    level="SHOULD",
    question="How many packets does a media flow lose beside transfers under the controller?",
    method=(
        "Lost packets over sent packets of UDP of 0.5 Mb/s, in the runs of real-time-delay. The flow "
        "does not adapt, so that all of a change is due to the controller."
    ),
    unit=PERCENT,
    cases=CASES,
    measure=loss_of("media"),
    goal=NoWorse(slack=0.005),
    why=(
        "RFC 9743 §5.2.2 asks for coexistence. Reno and CUBIC stand in the subject's place in the "
        "same runs. Half a per cent, a packet in four seconds, is the tolerance."
    ),
)
