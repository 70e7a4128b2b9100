"""Small criteria for tests of the machinery, and what they need."""

from __future__ import annotations

from typing import Any

import numpy as np

from anabranch.evaluation.criterion import MEGABITS, RATIO, Case, Criterion, Found
from anabranch.evaluation.goals import NoWorse, Values, at_most

SHARED, ALONE = "tests/evaluation/shared.toml", "tests/evaluation/alone.toml"


def share(found: Found) -> Values:
    """The subject's rate over that of the TCP beside it."""
    return found.result.rate("subject") / found.result.rate("tcp")


def rate(found: Found) -> Values:
    """The subject's rate."""
    return found.result.rate("subject")


def criterion(**changed: Any) -> Criterion:
    """A criterion with one case, unless something else is given."""
    given: dict[str, Any] = {
        "name": "share",
        "title": "Share of a bottleneck",
        "section": "7.10",
        "level": "MUST",
        "question": "How much does it take?",
        "method": "The rate of the subject over that of a TCP.",
        "unit": RATIO,
        "cases": (Case("two paths", SHARED),),
        "measure": share,
        "goal": at_most(1.5),
        "why": "A TCP takes its share and no more.",
    }
    return Criterion(**given | changed)


RATES = criterion(
    name="rates",
    title="Rate alone",
    section="5.1.1",
    level="SHOULD",
    unit=MEGABITS,
    measure=rate,
    goal=NoWorse(more_is_worse=False),
    cases=(
        Case("one flow", ALONE, ("flow.subject.count=1",)),
        Case("two flows", ALONE, ("flow.subject.count=2",), seeds=2),
    ),
)


def numbers(*values: float) -> Values:
    """An array."""
    return np.array(values, dtype=float)
