"""Everybody would have more if the user were a TCP on one of its paths."""

from __future__ import annotations

from ..drawing import Needs
from ..kind import Aspects, Goal, Part, less
from ..rendering import SUBJECT
from ..trial import Trial
from ..variants import tcp_on_each_path


def score(trial: Trial) -> Aspects:
    """For a TCP on each path, how much less every class has than with it; of short transfers, how
    much less of one is done in a second.
    """
    found = {}
    for twin in trial.twins:
        users = (SUBJECT, *trial.users)
        parts = [Part(less(trial.rate(name), trial.rate(name, twin))) for name in users]
        if trial.has_transfers:
            parts.append(Part(less(1.0 / trial.completion_s(), 1.0 / trial.completion_s(twin))))
        found[twin] = parts
    return found


GOAL = Goal(
    name="everybody-loses",
    meaning="Every user, the one with the controller too, has less than with a TCP on one of its paths in its place.",
    limit=0.02,
    why="an allocation in which nobody has more and everybody has less is not Pareto-optimal, however little it is "
    "(draft-khalili-mptcp-performance-issues-04, §5). Two percent is above what the users' starts change.",
    score=score,
    told="everybody, the user of {controller} too, has at least {value} less than with one {aspect} in its place",
    twins=tcp_on_each_path,
    needs=Needs(others=1, paths=2, event="never"),
)
