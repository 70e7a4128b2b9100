"""More than a TCP would take: what another user loses beyond a TCP's harm."""

from __future__ import annotations

from ..drawing import Needs
from ..kind import Aspects, Goal, Part, less
from ..queues import SHARED
from ..trial import Trial
from ..variants import tcp_on_each_path


def score(trial: Trial) -> Aspects:
    """How much less each other class has than beside the TCP that leaves it least."""
    found = {}
    for name in trial.users:
        least = min((trial.rate(name, twin) for twin in trial.twins), key=lambda r: float(r.mean()))
        found[name] = [Part(less(trial.rate(name), least))]
    return found


GOAL = Goal(
    name="more-than-tcp",
    meaning="Another user has less than beside a TCP in the user's place, on whichever of its paths that takes most from it. "
    "No link has FQ-CoDel, for which each subflow is a flow of its own.",
    limit=0.1,
    why="RFC 6356 §2, goal 2: no more of a shared resource than a single flow on one of the paths takes. A tenth is more "
    "than a change of the users' starts makes.",
    score=score,
    told="beside {controller}, the user {aspect} has {value} less than beside one TCP in its place",
    twins=tcp_on_each_path,
    needs=Needs(others=1, queues=SHARED, event="never"),
)
