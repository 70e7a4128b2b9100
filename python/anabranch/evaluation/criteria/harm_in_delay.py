"""Queue that a subject adds to the round trips of others."""

from dataclasses import replace

from ..criterion import PERCENT, Criterion
from ..goals import NoWorse
from ..mixed_measures import rivals, room_taken

CRITERION = Criterion(
    name="harm-in-delay",
    title="Room in the queue that is taken from others",
    section="5.2",
    level="advice",
    question=(
        "How much of the room that Reno, CUBIC or BBR flows leave in the queue does one user of the "
        "controller fill?"
    ),
    method=(
        "(beside - alone) / (1 - alone) of the mean filling of the queue, without and with the "
        "subject, in the runs of beside-reno, beside-cubic and beside-bbr: 100 % if the queue is "
        "always full, so that every packet of the rivals waits as long as it can. The harm of Ware "
        "et al., HotNets 2019, (beside - alone) / beside, has no such end: for rivals that nearly "
        "fill the queue themselves it is a few per cent under the worst of controllers."
    ),
    unit=PERCENT,
    cases=tuple(
        replace(case, name=f"{case.name} under {shown}")
        for name, shown in (("reno", "Reno"), ("cubic", "CUBIC"), ("bbr", "BBR"))
        for case in rivals(name)
    ),
    measure=room_taken(),
    goal=NoWorse(slack=0.1),
    why=(
        "RFC 9743 §5.2: harm ought also to consider the introduced latency. Reno and CUBIC stand in "
        "the subject's place in the same runs. A tenth of what they take and ten points of the room "
        "are the tolerance."
    ),
)
