"""Evaluates congestion control by the criteria of RFC 9743 (BCP 133).

    >>> import anabranch as ab
    >>> found = ab.evaluate("lia", only=["shared-bottleneck"])
    >>> [(row.case.name, row.verdict) for row in found.entries[0].rows]

A criterion has a measure, a goal, and cases, which are shipped scenarios with overrides. Beside
each value stand those of Reno, CUBIC, LIA, OLIA and BALIA, theory's where it has an answer, and the
kernel's where it was asked.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .criterion import Case, Criterion, Found, Unit
    from .entry import Entry, Measured, Row
    from .evaluating import Evaluation, evaluate
    from .goals import Between, Goal, NoWorse, at_least, at_most

__all__ = [
    "Between",
    "Case",
    "Criterion",
    "Entry",
    "Evaluation",
    "Found",
    "Goal",
    "Measured",
    "NoWorse",
    "Row",
    "Unit",
    "at_least",
    "at_most",
    "evaluate",
]

_HOMES = {
    "Between": "goals",
    "Goal": "goals",
    "NoWorse": "goals",
    "at_least": "goals",
    "at_most": "goals",
    "Case": "criterion",
    "Criterion": "criterion",
    "Found": "criterion",
    "Unit": "criterion",
    "Entry": "entry",
    "Measured": "entry",
    "Row": "entry",
    "Evaluation": "evaluating",
    "evaluate": "evaluating",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in {"criteria", *_HOMES.values()}:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
