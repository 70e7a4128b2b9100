"""Short and long flows of different controllers."""

from ..criterion import RATIO, Case, Criterion
from ..goals import NoWorse
from ..mixed_measures import ALONE, slowdown

SCENARIO = "rfc9743/short-and-long"
LONG_SUBJECT = ("duration=160 s", "flow.short.count=300", "flow.short.spread=150 s")
SHORT_SUBJECT = (
    "duration=160 s",
    "flow.subject.count=300",
    "flow.subject.transfer=100 kB",
    "flow.subject.start=9 s",
    "flow.subject.spread=150 s",
    "flow.short.count=0",
    "flow.long.count=1",
)

CRITERION = Criterion(
    name="short-and-long",
    title="Short and long CUBIC flows",
    section="5.2.3",
    level="MUST",
    question=(
        "How much slower are short CUBIC flows beside a long flow of the controller, and a long "
        "CUBIC flow beside short ones of the controller?"
    ),
    method=(
        "Mean completion time of CUBIC transfers of 100 kB, two in a second, with one long flow of "
        "the controller, over that without it (transfers that do not complete count until the end "
        "of the run); and the rate of a long CUBIC flow without such "
        "transfers under the controller, over that with them. 8 Mb/s, 50 ms, drop-tail of 1 BDP."
    ),
    unit=RATIO,
    cases=(
        Case("long subject, short CUBIC", SCENARIO, LONG_SUBJECT, ALONE),
        Case("short subjects, long CUBIC", SCENARIO, SHORT_SUBJECT, ALONE),
    ),
    measure=slowdown,
    goal=NoWorse(),
    why=(
        "RFC 9743 §5.2.3 asks for the effect and has no threshold. Reno and CUBIC stand in the "
        "subject's place in the same runs."
    ),
)
