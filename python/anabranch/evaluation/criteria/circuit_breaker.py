"""The envelope of circuit breakers."""

from ..criterion import RATIO, Case, Criterion
from ..goals import at_most
from ..measures import over_equation
from ..one_link import SCENARIO, link, times
from .persistent_congestion import CRITERION as CROWDED
from .standing_queue import queued

LOSSY = (*link(flows=1), *times(60, 5), "link.bottleneck.loss={ probability = 0.05 }")

CRITERION = Criterion(
    name="circuit-breaker",
    title="Envelope of circuit breakers",
    section="7.2",
    level="advice",
    question="Would a circuit breaker stop flows of the controller?",
    method=(
        "Rate at which a flow sends over X = s / (R sqrt(2 p / 3)), at its own loss p and mean "
        "round trip R: the formula of the congestion circuit breaker of RFC 8083 §4.3. Its timing "
        "is not that of the RFC, which looks at successive reports; p, R and the rate are means over "
        "the measured time. Four "
        "flows with a queue of a quarter of the bandwidth-delay product, 50 flows at 0.5 Mb/s, and "
        "one flow with random loss of 5 %."
    ),
    unit=RATIO,
    cases=(
        queued(0.25, 4),
        CROWDED.cases[0],
        Case("5 % random loss", SCENARIO, LOSSY),
    ),
    measure=over_equation(),
    goal=at_most(10),
    why=(
        "RFC 8083 §4.3: a sender ceases where it sends more than ten times this rate for some time; "
        "one whose mean is above that is above it for long enough. RFC 8084, "
        "which RFC 9743 §7.2 refers to, leaves the threshold to each breaker."
    ),
)
