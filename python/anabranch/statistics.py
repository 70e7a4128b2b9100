"""Intervals over replications, and verdicts against bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

Verdict = Literal["reproduced", "not_reproduced", "undecided", "not_run"]


@dataclass(frozen=True)
class Interval:
    """A mean with its Student interval over independent replications."""

    mean: float
    half: float
    """Half the width of the interval; infinite with a single replication."""
    n: int
    confidence: float = 0.95

    @property
    def low(self) -> float:
        """Lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """Upper end."""
        return self.mean + self.half

    def __str__(self) -> str:
        """The half-width to two digits and the mean to the same place; alone, the mean to three."""
        short = f"{self.mean:.3g}" if abs(self.mean) < 999.5 else f"{self.mean:.0f}"
        if not math.isfinite(self.half):
            return short
        place = 1 - math.floor(math.log10(self.half)) if self.half > 0 else math.inf
        if place > 6:  # nothing, or noise in the last bits
            return f"{short} ± {self.half:.2g}"
        mean, half = (round(value, int(place)) + 0.0 for value in (self.mean, self.half))
        decimals = max(int(place), 0)
        return f"{mean:.{decimals}f} ± {half:.{decimals}f}"

    def to_json(self) -> dict[str, Any]:
        """Mean, ends of the interval, repetitions."""
        finite = math.isfinite(self.half)
        return {
            "mean": self.mean,
            "interval95": [self.low, self.high] if finite else None,
            "repetitions": self.n,
        }


def interval(values: ArrayLike, confidence: float = 0.95) -> Interval:
    """Mean and Student interval of `values`, shape (n,), n >= 1.

    Raises ValueError for no values.
    """
    x = np.asarray(values, dtype=float).ravel()
    if x.size == 0:
        raise ValueError("an interval needs at least one value")
    if x.size == 1:
        return Interval(float(x[0]), math.inf, 1, confidence)
    if (x == x[0]).all():
        return Interval(float(x[0]), 0.0, int(x.size), confidence)  # no noise of the last bits
    from scipy.stats import t

    half = t.ppf(0.5 + confidence / 2, x.size - 1) * x.std(ddof=1) / math.sqrt(x.size)
    return Interval(float(x.mean()), float(half), int(x.size), confidence)


def paired(after: ArrayLike, before: ArrayLike) -> Interval:
    """Interval of the difference of runs with the same seeds, shape (n,) each."""
    return interval(np.asarray(after, dtype=float) - np.asarray(before, dtype=float))


def ratio_of_means(numerator: ArrayLike, denominator: ArrayLike) -> Interval:
    """Interval of the ratio of two means over runs with the same seeds, shape (n,) each.

    Both vary: to first order the ratio R = mean(x)/mean(y) errs by the mean of (x - R y)/mean(y),
    whose Student interval this is (delta method). Unlike a mean of ratios it needs no `y` far from
    zero.
    """
    x, y = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    of_means = x.mean() / y.mean()
    return interval(of_means + (x - of_means * y) / y.mean())


def difference(first: Interval, second: Interval) -> Interval:
    """Interval of `first` less `second`, which come from independent replications.

    Its half is the root of the sum of squares of theirs: no narrower than Welch's, whose degrees of
    freedom are a guess with two or three replications.
    """
    half = math.hypot(first.half, second.half)
    return Interval(first.mean - second.mean, half, min(first.n, second.n), first.confidence)


def apart(first: Interval, second: Interval) -> bool:
    """Whether two means differ beyond what their intervals explain."""
    return abs(first.mean - second.mean) > difference(first, second).half


RESOLUTION = 3e-5
"""Relative distance from a band's edge that no measurement here resolves: a packet at either end of
90 s at 10 Mb/s is 2.7e-5 of the whole, and solvers stop at 1e-6."""


def judge(value: Interval, low: float | None, high: float | None) -> Verdict:
    """Whether an interval lies in the band from `low` to `high` (None: open).

    Inside is `reproduced`, outside `not_reproduced`; one that straddles an edge is `undecided`, and
    so is a single replication, which has no interval. A theoretical value has one of no width.
    """
    low = -math.inf if low is None else low - RESOLUTION * abs(low)
    high = math.inf if high is None else high + RESOLUTION * abs(high)
    bottom, top = value.low, value.high
    if low <= bottom and top <= high:
        return "reproduced"
    if top < low or bottom > high:
        return "not_reproduced"
    return "undecided"


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of a claim with several expectations: it holds when all of them hold."""
    for verdict in ("not_reproduced", "undecided", "not_run"):
        if verdict in verdicts:
            return verdict
    return "reproduced"


def jain(rates: ArrayLike, axis: int = -1) -> Any:
    """Jain's index (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has everything."""
    x = np.asarray(rates, dtype=float)
    with np.errstate(invalid="ignore"):  # NaN where nobody has anything
        return x.sum(axis) ** 2 / (x.shape[axis] * (x**2).sum(axis))
