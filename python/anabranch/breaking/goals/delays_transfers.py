"""Short transfers that take longer."""

from __future__ import annotations

from ...statistics import linearised
from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..queues import SHARED
from ..trial import Trial
from ..variants import tcp_on_each_path


def score(trial: Trial) -> Aspects:
    """How much longer transfers take than beside the TCP beside which they take longest."""
    if not trial.twins:
        return {}
    longest = max((trial.completion_s(twin) for twin in trial.twins), key=lambda t: float(t.mean()))
    return {"short transfers": [Part(linearised(trial.completion_s(), longest) - 1.0)]}


GOAL = Goal(
    name="delays-transfers",
    meaning="Short transfers take longer than beside a TCP in the user's place, on whichever of its paths delays them most. "
    "One that is not completed counts with its age at the end. No link has FQ-CoDel, for which each subflow is a flow of "
    "its own.",
    limit=0.25,
    why="RFC 9743 §5.1.5 has no number; a quarter more is a page that is seen to take longer.",
    score=score,
    told="beside {controller}, {aspect} take {value} longer than beside one TCP in its place",
    twins=tcp_on_each_path,
    needs=Needs(transfers=True, queues=SHARED, event="never"),
)
