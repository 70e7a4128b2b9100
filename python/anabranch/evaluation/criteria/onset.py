"""Sudden onset of congestion."""

from ..criterion import Case, Criterion, Unit
from ..goals import NoWorse
from ..measures import lost_by

CASES = (Case("75 of 100 Mb/s for 10 s", "common-suite/transients", series=True),)

CRITERION = Criterion(
    name="onset",
    title="Sudden onset of congestion",
    section="7.8",
    level="SHOULD",
    question="How much does traffic lose that suddenly takes three quarters of the link?",
    method=(
        "Packets that UDP loses which takes 75 of 100 Mb/s from one moment to the next, beside one "
        "flow of the controller: common TCP evaluation suite, section 5.3, with its queue of 1024 "
        "packets and 100 ms. It sends 62,500 packets in 10 s."
    ),
    unit=Unit("packets"),
    cases=CASES,
    measure=lost_by("udp"),
    goal=NoWorse(),
    why=(
        "The suite's metric: the harm that a controller causes which reduces its rate too slowly. "
        "It compares with standard TCP; a tenth more than under the worse of Reno and CUBIC is the "
        "tolerance."
    ),
)
