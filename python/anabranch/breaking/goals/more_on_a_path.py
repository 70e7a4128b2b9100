"""More on a path than a TCP would have there."""

from __future__ import annotations

from ...statistics import linearised
from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..queues import SHARED
from ..rendering import SUBJECT
from ..trial import Trial
from ..variants import tcp_on_each_path

SENT = "throughput_bps"
"""What paths are compared by: a connection's goodput is not divided among them in every world."""


def score(trial: Trial) -> Aspects:
    """How much more than a TCP in its place the subject has on each path."""
    found = {}
    for path, twin in zip(trial.paths, trial.twins, strict=True):
        own, tcp = trial.path_rate(path, metric=SENT), trial.rate(SUBJECT, twin, SENT)
        found[f"path {path + 1}"] = [Part(linearised(own, tcp) - 1.0)]
    return found


GOAL = Goal(
    name="more-on-a-path",
    meaning="The user has more on one of its paths than a TCP on that path alone would have.",
    limit=0.1,
    why="RFC 6356 §2, goal 2: on none of its paths more than a single-path flow takes. A tenth is more than a change of the "
    "users' starts makes.",
    score=score,
    told="{controller} has {value} more on {aspect} than one TCP would have there in its place",
    twins=tcp_on_each_path,
    needs=Needs(queues=SHARED, event="never"),
)
