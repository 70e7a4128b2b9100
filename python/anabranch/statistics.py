"""Intervals over replications, and verdicts against bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Verdict = Literal["reproduced", "not_reproduced", "undecided", "not_run"]


FINEST = 12
"""Decimals that a number has at most."""


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
        """The half-width to two digits and the mean to the same place; alone, the mean to three.

        A half-width below the seventh digit of the mean and below 1e-6 is noise, and left out.
        """
        short = significant(self.mean)
        if not 0 < self.half < math.inf:
            return short
        finest = 6 if self.mean == 0 else min(6, 6 - _magnitude(self.mean))
        place = min(1 - _magnitude(self.half), finest)
        mean, half = (round(value, place) + 0.0 for value in (self.mean, self.half))
        decimals = max(place, 0)
        return f"{mean:.{decimals}f} ± {half:.{decimals}f}" if half else short

    def times(self, factor: float) -> Interval:
        """The interval in another unit."""
        return Interval(self.mean * factor, self.half * factor, self.n, self.confidence)

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


def foreseen(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Where one more value is with this probability, if it is drawn as `values`, shape (n,), are,
    from a normal distribution: `mean ± t s √(1 + 1/n)`. Infinite for a single value.
    """
    known = interval(values, confidence)
    half = known.half * math.sqrt(known.n + 1.0)
    return known.mean - half, known.mean + half


@dataclass(frozen=True)
class Quantity:
    """How to print one kind of number: its unit and its resolution."""

    factor: float = 1.0
    """From the unit of results to the unit that is shown."""
    decimals: int = 3
    """Decimals of the resolution in that unit; finer digits are not shown."""
    always: bool = False
    """Whether to show all decimals even if intervals are wider."""


RATE = Quantity(1e-6, 3)
"""Shown in Mb/s."""
DELAY = Quantity(1e3, 2)
"""Shown in ms."""
PERCENT = Quantity(1e2, 4)
COUNT = Quantity(1.0, 2)
INDEX = Quantity(1.0, 3, always=True)
"""Jain's index, utilisation."""


def column(values: Sequence[Interval | float | None], quantity: Quantity) -> list[str]:
    """The cells of a column in one unit, a dash for None and NaN.

    A half-width has two digits and its mean the same decimals. No cell has more decimals than the
    column: those of the least half-width, one fewer if the widest ends two places before. A
    half-width that rounds to zero is left out. Without half-widths the largest number has three
    digits and the smallest two.
    """
    found = [_interval(value).times(quantity.factor) for value in values]
    known = [value for value in found if math.isfinite(value.mean)]
    decimals = quantity.decimals if quantity.always else _decimals(known, quantity.decimals)
    return [_cell(value, decimals if quantity.always else _own(value, decimals)) for value in found]


def _interval(value: Interval | float | None) -> Interval:
    """A value with or without an interval; NaN for None."""
    if isinstance(value, Interval):
        return value
    return Interval(math.nan if value is None else float(value), math.inf, 1)


def _own(value: Interval, most: int) -> int:
    """The decimals of one cell of a column that has `most`."""
    half = round(value.half, most) if math.isfinite(value.half) else 0.0
    return max(0, min(most, 1 - _magnitude(half))) if half else most


def _cell(value: Interval, decimals: int) -> str:
    """A mean with its half-width where that is not too small to be seen."""
    if not math.isfinite(value.mean):
        return "–"
    half = round(value.half, decimals) if math.isfinite(value.half) else 0.0
    mean = f"{round(value.mean, decimals) + 0.0:.{decimals}f}"
    return f"{mean} ± {half:.{decimals}f}" if half else mean


def _decimals(values: Sequence[Interval], most: int) -> int:
    """The decimals of a column; `most` is its resolution."""
    least = 0.5 * 10.0**-most
    halves = [value.half for value in values if least <= value.half < math.inf]
    if halves:
        fine, coarse = (1 - _magnitude(half) for half in (min(halves), max(halves)))
        wanted = fine if fine - coarse < 2 else fine - 1
    else:
        means = [abs(value.mean) for value in values if abs(value.mean) >= least]
        if not means or all(mean == round(mean) for mean in means):
            return 0
        wanted = max(2 - _magnitude(max(means)), 1 - _magnitude(min(means)))
    return min(max(wanted, 0), most)


def significant(value: float, digits: int = 3, *, zeros: bool = False) -> str:
    """A number with `digits` significant digits, without an exponent; digits before the point are
    never dropped. `zeros` keeps trailing zeros. Values below 1e-12 are noise and print as 0.
    """
    if not math.isfinite(value):
        return f"{value}"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = min(max(0, digits - 1 - _magnitude(rounded)), FINEST) if rounded else 0
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text and not zeros else text


def _magnitude(value: float) -> int:
    """The place of the first digit: 0 for units, -1 for tenths."""
    return math.floor(math.log10(abs(value)))


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
    return interval(linearised(x, y))


def linearised(numerator: ArrayLike, denominator: ArrayLike) -> NDArray[np.float64]:
    """Values whose mean is the ratio R of two means, and whose spread is that of the ratio to first
    order, shape (n,): R + (x - R y)/mean(y). NaN where the mean of `denominator` is zero.
    """
    x, y = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    of = float(y.mean())
    if of == 0.0:
        return np.full(x.shape, np.nan)
    ratio = float(x.mean()) / of
    found: NDArray[np.float64] = ratio + (x - ratio * y) / of
    return found


def difference(first: Interval, second: Interval) -> Interval:
    """Interval of `first` minus `second`, from independent replications.

    Its half is the root of the sum of squares of theirs: no narrower than Welch's, whose degrees of
    freedom are a guess with two or three replications.
    """
    half = math.hypot(first.half, second.half)
    return Interval(first.mean - second.mean, half, min(first.n, second.n), first.confidence)


def relative(later: float, earlier: float) -> float | None:
    """Relative difference of the later value from `earlier`; None if `earlier` is zero."""
    return later / earlier - 1 if earlier else None


def percent(part: float | None) -> str:
    """A relative difference with its sign; "–" for None."""
    return "–" if part is None else f"{part:+.1%}"


def apart(first: Interval, second: Interval) -> bool:
    """Whether two means differ by more than their intervals explain."""
    return abs(first.mean - second.mean) > difference(first, second).half


RESOLUTION = 3e-5
"""Relative distance from a band's edge that no measurement here resolves: a packet at either end of
90 s at 10 Mb/s is 2.7e-5 of the whole, and solvers stop at 1e-6."""


def judge(value: Interval, low: float | None, high: float | None) -> Verdict:
    """Whether an interval lies in the band from `low` to `high` (None: open).

    An interval inside the band is `reproduced`, one outside `not_reproduced`, one that straddles an
    edge `undecided`. A single replication has no interval and is `undecided`. A theoretical value
    has an interval of width zero.
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
    with np.errstate(invalid="ignore"):  # 0/0 where all rates are zero: NaN
        return x.sum(axis) ** 2 / (x.shape[axis] * (x**2).sum(axis))
