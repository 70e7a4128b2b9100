"""The others lose, and the user gains nothing by it."""

from __future__ import annotations

from ..drawing import Needs
from ..kind import Aspects, Goal, Part, less
from ..rendering import SUBJECT
from ..trial import Trial
from ..variants import tcp_on_each_path

GAIN = 0.02
"""Largest gain that counts as none."""


def score(trial: Trial) -> Aspects:
    """For a TCP on each path, how much less the others have together, where the subject gains
    nothing.
    """
    return {
        twin: [
            Part(less(trial.together(trial.users), trial.together(trial.users, twin))),
            Part(less(trial.rate(SUBJECT), trial.rate(SUBJECT, twin)), -GAIN),
        ]
        for twin in trial.twins
    }


GOAL = Goal(
    name="harm-without-gain",
    meaning="The other users together have less than with a TCP on one of the user's paths in its place, and the user has "
    "no more than that TCP.",
    limit=0.05,
    why="problem P1 of draft-khalili-mptcp-performance-issues-04: others lose 5 % or more, and the user gains 2 % at most.",
    score=score,
    told="beside {controller}, the others have {value} less than with one {aspect} in its place, and its user gains nothing",
    twins=tcp_on_each_path,
    needs=Needs(others=1, paths=2, event="never"),
)
