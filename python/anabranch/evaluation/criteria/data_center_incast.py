"""Many servers that answer at once."""

from ..criterion import MILLISECONDS, Case, Criterion
from ..goals import NoWorse
from ..measures import last_completion


def _servers(count: int) -> Case:
    """A block of 1 MB from so many servers."""
    size = f"flow.subject.transfer={1024 // count} kB"
    return Case(f"{count} servers", "rfc9743/incast", (f"flow.subject.count={count}", size))


CRITERION = Criterion(
    name="data-center-incast",
    title="Incast in a data center",
    section="7.11",
    level="advice",
    question="How long does a block take that many servers send at once?",
    method=(
        "Time until the last of 4, 16 or 32 servers has its part of 1 MB through a port of 1 Gb/s "
        "with a queue of 64 packets, at 0.2 ms with a smallest timeout of 10 ms (settings of "
        "Vasudevan et al., SIGCOMM 2009, and Alizadeh et al., SIGCOMM 2010). The port needs 8.5 ms."
    ),
    unit=MILLISECONDS,
    cases=(_servers(4), _servers(16), _servers(32)),
    measure=last_completion(),
    goal=NoWorse(factor=1.25),
    why=(
        "RFC 9743 §7.11 names bursty traffic of many nodes and no threshold. A single timeout more "
        "or less is more than a quarter of the time, which is the tolerance."
    ),
)
