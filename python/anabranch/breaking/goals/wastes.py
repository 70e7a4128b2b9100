"""Capacity that nobody uses."""

from __future__ import annotations

import numpy as np

from ..drawing import Needs
from ..kind import Aspects, Goal, Part, less
from ..rendering import SUBJECT
from ..trial import ITSELF, Trial, Values
from ..variants import RENO, reno_on_every_path


def score(trial: Trial) -> Aspects:
    """How much less all users with data without end have together."""
    sizes = {c.name: c.count for c in trial.plan.classes}

    def together(variant: str) -> Values:
        rates = [sizes[name] * trial.rate(name, variant) for name in (SUBJECT, *trial.users)]
        return np.asarray(np.sum(rates, axis=0))

    return {"all users": [Part(less(together(ITSELF), together(RENO)))]}


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
