"""Fairness between round trips."""

from ..criterion import RATIO, SUBJECT, Case, Criterion
from ..goals import NoWorse
from ..measures import least_share
from ..one_link import drop_tail

SCENARIO = "common-suite/two-flows"
TOGETHER = (
    "flow.second.start=1 s",
    "duration=220 s",
    "warmup=20 s",
    drop_tail(83),
)


def _pair(first_ms: int, second_ms: int) -> Case:
    """Two flows with these round trips."""
    lines = (
        f"link.first-line.delay={first_ms / 2:g} ms",
        f"link.second-line.delay={second_ms / 2:g} ms",
    )
    return Case(f"{first_ms} and {second_ms} ms", SCENARIO, (*TOGETHER, *lines))


CRITERION = Criterion(
    name="rtt-fairness",
    title="Fairness between round trips",
    section="5.1.4",
    level="advice",
    question="How unequally do flows of the controller with unequal round trips share a bottleneck?",
    method=(
        "The lower of two rates over the mean of both. Round trips of 160 ms and 10 or 40 ms (common "
        "TCP evaluation suite, section 6.2), and of 100 and 560 ms, where one crosses a satellite (a "
        "choice); 10 Mb/s, a drop-tail queue of 100 ms, half of the link in use by other transfers "
        "of the controller."
    ),
    unit=RATIO,
    cases=(_pair(160, 10), _pair(160, 40), _pair(100, 560)),
    measure=least_share((SUBJECT, "second")),
    goal=NoWorse(more_is_worse=False, factor=1.25),
    why=(
        "Reno's rate falls with the round trip, to the power of one to two at drop-tail queues, and "
        "that is the state of the Internet. Either flow may be the one with less: the measure does "
        "not ask which. A quarter is the tolerance for two shares that differ by ten times."
    ),
)
