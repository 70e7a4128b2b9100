"""Two users of one controller that have unequal rates."""

from __future__ import annotations

import numpy as np

from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..queues import SHARED
from ..rendering import SUBJECT
from ..trial import Trial, Values
from ..variants import LATE, LATE_RENO, SECOND, TOGETHER, TOGETHER_RENO, doubled


def apart(first: Values, second: Values) -> Values:
    """How much less than half of their rate the smaller of two users has, as a part of the half."""
    return np.asarray(1.0 - 2.0 * np.minimum(first, second) / (first + second))


def together(trial: Trial, variant: str) -> Values:
    """`apart` of two users that begin together."""
    return apart(*trial.rates(SUBJECT, variant).T)


def in_turn(trial: Trial, variant: str) -> Values:
    """`apart` of a user and a later one."""
    return apart(trial.rate(SUBJECT, variant), trial.rate(SECOND, variant))


def score(trial: Trial) -> Aspects:
    """How much further two users are apart than two Renos."""
    return {
        "begin together": [Part(together(trial, TOGETHER) - together(trial, TOGETHER_RENO))],
        "begin one after the other": [Part(in_turn(trial, LATE) - in_turn(trial, LATE_RENO))],
    }


GOAL = Goal(
    name="unfair-to-itself",
    meaning="Of two users of the controller with the same paths one has less than half of their rate, and lacks more of the "
    "half than the smaller of two Renos: where both begin together, or one after the other.",
    limit=0.25,
    why="RFC 9743 §5.1.4 has no number; at a quarter less than half, one user has five thirds of the other's rate.",
    score=score,
    told="of two users of {controller} that {aspect}, one lacks {value} of its half more than one of two Renos",
    twins=doubled,
    needs=Needs(queues=SHARED, event="never"),
)
