"""Less than a TCP on the best path."""

from __future__ import annotations

from ..drawing import Needs
from ..kind import Aspects, Goal, Part, less
from ..rendering import SUBJECT
from ..trial import Trial
from ..variants import tcp_on_each_path


def score(trial: Trial) -> Aspects:
    """How much less the subject has than a TCP on each of its paths."""
    own = trial.rate(SUBJECT)
    return {twin: [Part(less(own, trial.rate(SUBJECT, twin)))] for twin in trial.twins}


GOAL = Goal(
    name="less-than-best-path",
    meaning="The user has less than with one TCP on its best path in its place.",
    limit=0.1,
    why="RFC 6356 §2, goal 1: at least as much as a single path's flow on the best path; a tenth is more than a change of "
    "the users' starts makes.",
    score=score,
    told="{controller} has {value} less than one {aspect} would have in its place",
    twins=tcp_on_each_path,
    needs=Needs(paths=2, event="never"),
)
