"""Goals: what a controller is to do, as a score that is beyond a limit where it does not.

A score has aspects, such as the classes of other users: the goal is broken where one of them is
beyond the limit. An aspect has one or more parts, all of which have to be beyond their limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ..statistics import Interval, interval, linearised, significant
from .drawing import Needs
from .trial import Trial, Values
from .variants import Document

RISK = 0.05
"""That an interval lies beyond the limit by noise; with several aspects, of all of them together."""


@dataclass(frozen=True)
class Part:
    """Values that have to be above a limit, one for each replication."""

    values: Values
    limit: float | None = None
    """None is the limit of the goal."""


Aspects = Mapping[str, Sequence[Part]]
"""By name what may break the goal."""

Score = Callable[[Trial], Aspects]
"""Raises KeyError, as a result does, for a column that there is not."""

Twins = Callable[[Document], Mapping[str, Document]]


def no_twins(_document: Document) -> dict[str, Document]:
    """For a score of the runs alone."""
    return {}


class GoalError(ValueError):
    """A goal that fails, or that returns what is no score."""


@dataclass(frozen=True)
class Goal:
    """What a controller is to do."""

    name: str
    meaning: str
    """A sentence that says when the goal is broken."""
    limit: float
    """The goal is broken above it."""
    why: str
    """Reason for the limit, or its source."""
    score: Score
    told: str
    """A finding as a sentence with {controller}, {aspect} and {value}."""
    twins: Twins = no_twins
    needs: Needs = field(default_factory=Needs)
    percent: bool = True
    """Whether values are parts, shown in percent."""
    unit: str = ""
    """Of values that are no parts."""
    series: bool = False
    """Whether the score needs samples over time."""
    simulated: bool = True
    """Whether the score needs packets; else theory alone."""
    lasting: bool = True
    """Whether a longer run has to show the same."""
    file: str = ""
    """FILE.py:FUNCTION of a user's own goal."""

    @property
    def given(self) -> str:
        """Text for the command line that selects the goal again."""
        return self.file or self.name

    def __call__(self, trial: Trial) -> Aspects:
        """The score of a trial. Raises GoalError where the goal's function fails."""
        with self._named():
            return self.score(trial)

    def twins_of(self, document: Document) -> Mapping[str, Document]:
        """The twins of a scenario. Raises GoalError where the goal's function fails."""
        with self._named():
            return self.twins(document)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except GoalError:
            raise
        except Exception as error:
            text = f"the goal {self.given} fails: {type(error).__name__}: {error}"
            raise GoalError(text) from error

    def shown(self, value: float) -> str:
        """A value with its unit."""
        if self.percent:
            return f"{significant(100 * value)} %"
        return f"{significant(value)} {self.unit}".strip()

    def shown_interval(self, value: Interval) -> str:
        """A mean with its interval and unit."""
        text = str(value.times(100.0)) if self.percent else str(value)
        return f"{text} {'%' if self.percent else self.unit}".strip()


@dataclass(frozen=True)
class Judged:
    """The aspect that is furthest beyond the limit, or nearest to it."""

    aspect: str
    value: Interval
    """Of the part that decides: the one that is least beyond its limit."""
    margin: float
    """How far the lower end of the interval is beyond the limit; below zero if it is not."""
    aspects: int
    """How many aspects had values."""

    @property
    def broken(self) -> bool:
        """Whether the whole interval is beyond the limit."""
        return self.margin > 0


def judged(aspects: Aspects, limit: float, risk: float = RISK) -> Judged | None:
    """The verdict on a score of at least two replications; None if no aspect has values.

    With k aspects each interval has a confidence of 1 - risk/k (Bonferroni): the chance that one
    of them lies beyond its limit by noise alone is below `risk`.
    """
    known = {name: parts for name, parts in aspects.items() if _known(parts)}
    if not known:
        return None
    confidence = 1.0 - risk / len(known)

    def weakest(parts: Sequence[Part]) -> tuple[float, Interval]:
        found = []
        for part in parts:
            value = interval(part.values, confidence)
            beyond = value.low - (limit if part.limit is None else part.limit)
            found.append((beyond, part.limit is not None, value))
        margin = min(beyond for beyond, _, _ in found)
        own = [(beyond, value) for beyond, extra, value in found if not extra]
        return margin, min(own, key=lambda one: one[0])[1]

    name = max(known, key=lambda name: weakest(known[name])[0])
    margin, value = weakest(known[name])
    return Judged(name, value, margin, len(known))


def guide(aspects: Aspects, limit: float) -> float:
    """What the search maximises: how far every replication of every part of the best aspect is
    beyond the limit; -inf without values.
    """
    return _beyond(aspects, limit, lambda values: float(np.min(values)))


def leaning(aspects: Aspects, limit: float) -> float:
    """How far the means of the best aspect are beyond the limit; -inf without values."""
    return _beyond(aspects, limit, lambda values: float(np.mean(values)))


def _beyond(aspects: Aspects, limit: float, of: Callable[[Values], float]) -> float:
    """How far the best aspect is beyond its limits, by its weakest part."""
    found = [
        min(of(part.values) - (limit if part.limit is None else part.limit) for part in parts)
        for parts in aspects.values()
        if _known(parts)
    ]
    return max(found, default=-math.inf)


def _known(parts: Sequence[Part]) -> bool:
    """Whether every replication has a value of every part."""
    return bool(parts) and all(np.isfinite(part.values).all() for part in parts)


def less(now: Values, twin: Values) -> Values:
    """How much less something is than in a twin, as a part of the twin's mean, shape (n,).

    The ratio of the means keeps replications with little from counting much; its values count that
    the twin's mean errs too (`statistics.linearised`). NaN where the twin has nothing.
    """
    return 1.0 - linearised(now, twin)
