"""Losses that are no sign of congestion."""

from ..criterion import MEGABITS, Case, Criterion
from ..goals import NoWorse
from ..measures import throughput
from ..one_link import SCENARIO, link, times


def _lossy(name: str, loss: str) -> Case:
    """One flow on a link with such a loss."""
    setting = (*link(flows=1), *times(60, 5), f"link.bottleneck.loss={{ {loss} }}")
    return Case(name, SCENARIO, setting)


CRITERION = Criterion(
    name="random-loss",
    title="Random and bursty loss",
    section="6.4",
    level="advice",
    question="What rate does a flow keep where packets are lost to radio effects?",
    method=(
        "Throughput of one flow at 20 Mb/s and 40 ms with independent losses of 0.1 % and 1 %, and "
        "with bursts of five packets in the mean that make 1 % (Gilbert 1960)."
    ),
    unit=MEGABITS,
    cases=(
        _lossy("0.1 %", "probability = 0.001"),
        _lossy("1 %", "probability = 0.01"),
        _lossy("1 % in bursts", "probability = 0.01, burst = 5"),
    ),
    measure=throughput(),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §6.4 asks for situations with losses due to radio effects and names no "
        "threshold. Reno's rate there is known: theory's, from which several losses in a round "
        "trip and timeouts take a part. A tenth less than the lower of Reno's and CUBIC's is the "
        "tolerance."
    ),
    theory=True,
    linux=True,
)
