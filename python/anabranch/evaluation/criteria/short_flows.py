"""Short transfers beside a long flow of the same controller."""

from ..criterion import SECONDS, Case, Criterion
from ..goals import NoWorse
from ..measures import completion

SCENARIO = "rfc9743/short-and-long"
SAME = "flow.short.subject=true"

CASES = (
    Case("a fifth of the link", SCENARIO, (SAME,)),
    Case("half of the link", SCENARIO, (SAME, "flow.short.count=250")),
)

CRITERION = Criterion(
    name="short-flows",
    title="Short flows beside a long one",
    section="5.1.5",
    level="MUST",
    question="How long do short transfers take beside a long flow of the controller?",
    method=(
        "Mean completion time of transfers of 100 kB under the controller that begin at random, 2 "
        "or 5 a second, at 8 Mb/s and 50 ms with a drop-tail queue of one bandwidth-delay product, "
        "beside one long flow under it."
    ),
    unit=SECONDS,
    cases=CASES,
    measure=completion("short"),
    goal=NoWorse(),
    why=(
        "RFC 9743 §5.1.5 asks how long flows affect short ones and names no threshold. A tenth more "
        "than under Reno or CUBIC is the tolerance."
    ),
)
