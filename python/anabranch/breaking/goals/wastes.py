"""Capacity that nobody uses."""

from __future__ import annotations

from ..drawing import Needs
from ..kind import Aspects, Goal, Part, less
from ..rendering import SUBJECT
from ..trial import Trial
from ..variants import RENO, reno_on_every_path


def score(trial: Trial) -> Aspects:
    """How much less all users with data without end have together."""
    users = (SUBJECT, *trial.users)
    return {"all users": [Part(less(trial.together(users), trial.together(users, RENO)))]}


GOAL = Goal(
    name="wastes",
    meaning="All users together have less than with Reno on every path in the user's place.",
    limit=0.1,
    why="RFC 9743 has no number for utilisation; a tenth less than Reno is the tolerance of `anabranch evaluate`.",
    score=score,
    told="with {controller}, {aspect} together have {value} less than with Reno on every path in its place",
    twins=reno_on_every_path,
    needs=Needs(event="never"),
)
