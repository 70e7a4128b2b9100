"""Time that TCPs need after users have failed over to their link."""

from dataclasses import replace

from ..criterion import SECONDS, Criterion
from ..goals import at_most
from ..multipath_measures import time_below_share
from .failover_synchronised import CASES

CRITERION = Criterion(
    name="failover-recovery",
    title="Time in which TCPs have less than their share after failover",
    section="7.10",
    level="advice",
    question="How long do TCPs have less than their share when eight users fail over at once?",
    method=(
        "Time of the 30 s after the failure in which 8 Reno TCPs together carry less than 80 % of "
        "half of their link of 20 Mb/s, as a mean over 2 s, in the settings of "
        "failover-synchronised."
    ),
    unit=SECONDS,
    cases=tuple(
        replace(case, overrides=(*case.overrides, "duration=50 s"), series=True) for case in CASES
    ),
    measure=time_below_share("tcp-on-second", "second", 20.0, 30.0),
    goal=at_most(5.0),
    why=(
        "A TCP whose window of 27 segments was halved has it again after 14 round trips, 2 s; twice "
        "that, and a second for the losses themselves."
    ),
)
