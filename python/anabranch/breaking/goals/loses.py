"""Packets that are lost all the time."""

from __future__ import annotations

from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..rendering import SUBJECT
from ..trial import Trial
from ..variants import RENO, reno_on_every_path


def score(trial: Trial) -> Aspects:
    """The part of packets that is lost, above that with Reno: the subject's, and each other's."""
    return {
        name: [Part(trial.lost(name) - trial.lost(name, RENO))] for name in (SUBJECT, *trial.users)
    }


GOAL = Goal(
    name="loses",
    meaning="A larger part of the user's or of another's packets is lost than with Reno on every path in its place.",
    limit=0.05,
    why="RFC 9743 §5.1.3 has no number; at a loss of five in a hundred more, a Reno beside it is left with a window of "
    "five segments.",
    score=score,
    told="with {controller}, {value} more of the packets of the user {aspect} are lost than with Reno in its place",
    twins=reno_on_every_path,
    needs=Needs(event="never"),
)
