"""The queue of a link whose rate varies."""

from ..criterion import MILLISECONDS, Criterion
from ..goals import NoWorse
from ..measures import queue_delay
from .cellular import CASES, recorded

CRITERION = Criterion(
    name="cellular-delay",
    title="Queue of a cellular link",
    section="6.4",
    level="advice",
    question="How long do packets wait for a link whose rate varies?",
    method="95th percentile of the queueing delay in the runs of cellular.",
    unit=MILLISECONDS,
    cases=CASES,
    recording=recorded,
    measure=queue_delay("p95", "cellular"),
    goal=NoWorse(),
    why=(
        "Where the rate falls, a window that was right becomes a queue. RFC 9743 names no "
        "threshold; a tenth more than the worse of Reno's and CUBIC's is the tolerance."
    ),
)
