"""Delay of a media flow beside a transfer."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import NoWorse
from ..measures import room
from ..one_link import drop_tail

SCENARIO = "rfc9743/real-time"
MEASURED = ("duration=150 s", "warmup=30 s")
BLOATED = drop_tail(167)
CASES = (
    Case("300 ms of queue, 1 transfer", SCENARIO, MEASURED),
    Case("1 s of queue, 1 transfer", SCENARIO, (*MEASURED, BLOATED)),
    Case("300 ms of queue, 4 transfers", SCENARIO, (*MEASURED, "flow.subject.count=4")),
    Case(
        "300 ms of queue, media that pause",
        SCENARIO,
        (*MEASURED, 'flow.media.pauses={ on = "2 s", off = "2 s" }'),
    ),
)

CRITERION = Criterion(
    name="real-time-delay",
    title="Room in the queue of a media flow",
    section="5.2.2",
    level="SHOULD",
    question="How much of a queue in which a media flow waits do transfers under the controller leave free?",
    method=(
        "Mean part of the queue that is free, on a link of 2 Mb/s and a base RTT of 100 ms (RFC 8867 "
        "Section 5.6, with both of its queues) that carries UDP of 0.5 Mb/s and transfers under the "
        "controller. What is not free is the mean wait of a media packet over the longest: at 90 % "
        "it waits 30 of 300 ms, at 10 % 270 ms. The media flow has a constant rate, and no "
        "congestion control of its own."
    ),
    unit=PERCENT,
    cases=CASES,
    measure=room(),
    goal=NoWorse(more_is_worse=False, factor=1.25),
    why=(
        "RFC 9743 §5.2.2 asks for coexistence. Reno and CUBIC, with which media flows live today, "
        "stand in the subject's place in the same runs. They fill the queue but for a part; a "
        "controller that leaves three quarters of that part keeps the queue nearly as they do, "
        "and one that keeps it full leaves none."
    ),
)
