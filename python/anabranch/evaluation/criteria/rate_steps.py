"""A bottleneck whose rate changes in steps."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import NoWorse
from ..measures import used
from ..one_link import SCENARIO, link, steps, times

HALVES = (steps(("10 Mb/s", "20 Mb/s"), 10, 70, "rate", "bottleneck"), *times(70, 10))

CASES = (
    Case("100 and 10 Mb/s, every 20 s", "rfc7928/varying-capacity"),
    Case("20 and 10 Mb/s, every 10 s, 1 flow", SCENARIO, (*link(flows=1), *HALVES)),
    Case("20 and 10 Mb/s, every 10 s, 4 flows", SCENARIO, (*link(flows=4), *HALVES)),
)

CRITERION = Criterion(
    name="rate-steps",
    title="Use of a link whose rate changes in steps",
    section="7.9",
    level="MUST",
    question="How much of a link do flows use whose rate rises and falls in steps?",
    method=(
        "Goodput, headers added, over what the link could carry. 100 and 10 Mb/s in turn, every 20 "
        "s, at 100 ms, in the manner of the varying capacity of RFC 7928, and 20 and 10 Mb/s, every "
        "10 s, at 40 ms; the numbers are a choice."
    ),
    unit=PERCENT,
    cases=CASES,
    measure=used(),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §7.9 asks for robustness to changes of the path and names no threshold. A tenth "
        "less than the lower of Reno's and CUBIC's is the tolerance."
    ),
)
