"""Goals: what a measure has to be for a criterion to be met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..statistics import Interval, interval

Values = NDArray[np.float64]
"""A measure, shape (replications,)."""
Verdict = Literal["meets", "misses", "undecided", "not_evaluated"]
Worse = Literal["more", "less", "outside"]
"""Values that are worse: larger ones, smaller ones, or those further beyond either end of a range."""
Show = Callable[[float], str]
"""Prints a value with its unit."""


class Goal(Protocol):
    """A kind of goal."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Controllers whose values of the same case the goal compares with."""

    @property
    def worse(self) -> Worse:
        """Which values are worse, for comparisons of two controllers."""

    def judge(self, values: Values, references: Mapping[str, Values]) -> Verdict:
        """The verdict on the values of replications; `references` has those of `needs`, with the
        same seeds.
        """

    def bound(self, references: Mapping[str, Values]) -> tuple[float, float]:
        """Lowest and highest value that meets the goal; infinite if open. For figures."""

    def text(self, show: Show) -> str:
        """The goal in a few words, such as "at most 5 %"."""


@dataclass(frozen=True)
class Between:
    """A goal with fixed ends; None is open."""

    low: float | None = None
    high: float | None = None
    needs: tuple[str, ...] = ()

    @property
    def worse(self) -> Worse:
        """The side of the only end, or either side."""
        if self.low is None:
            return "more"
        return "less" if self.high is None else "outside"

    def judge(self, values: Values, references: Mapping[str, Values]) -> Verdict:
        """Meets if the interval lies inside, misses if it lies outside.

        An infinite value beyond an end misses. One on the side without an end is better than any
        other, and counts as the best of these.
        """
        low, high = self.bound(references)
        if bool(((values < low) | (values > high))[np.isinf(values)].any()):
            return "misses"
        finite = values[~np.isinf(values)]
        if not finite.size:
            return "meets"
        return _verdict(interval(np.clip(values, finite.min(), finite.max())), low, high)

    def bound(self, references: Mapping[str, Values]) -> tuple[float, float]:
        """Both ends."""
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        return low, high

    def text(self, show: Show) -> str:
        """Such as "from 0.8 to 1.2"."""
        if self.low is None:
            return f"at most {show(self.high or 0.0)}"
        if self.high is None:
            return f"at least {show(self.low)}"
        return f"from {show(self.low)} to {show(self.high)}"


def at_most(bound: float) -> Between:
    """A goal that is met by values up to `bound`."""
    return Between(None, bound)


def at_least(bound: float) -> Between:
    """A goal that is met by values from `bound` on."""
    return Between(bound, None)


@dataclass(frozen=True)
class NoWorse:
    """No worse than the worst of some standard controllers, with a tolerance.

    `more_is_worse` gives the direction. The tolerance is `factor` times the worst reference, plus
    `slack`. Differences are paired: run and reference have the same seeds.
    """

    needs: tuple[str, ...] = ("reno", "cubic")
    more_is_worse: bool = True
    factor: float = 1.1
    """Above 1; a measure of which less is worse is divided by it."""
    slack: float = 0.0

    @property
    def worse(self) -> Worse:
        """The direction of harm."""
        return "more" if self.more_is_worse else "less"

    def judge(self, values: Values, references: Mapping[str, Values]) -> Verdict:
        """Meets if the interval of the mean's distance from the bound lies on the right side.

        The half-width is that of the differences of pairs of runs, with the references times the
        ratio of both means (delta method, as in `statistics.ratio_of_means`), so that a controller
        which is as good as the reference on each seed meets the goal however much seeds differ.
        The ratio is at most the tolerance away from 1; beyond, the test is that of the bound.

        A NaN of the worst reference is worse than any value: such a replication is met, and left
        out where the controller has NaN too. Undecided if none is left. So is an infinite value on
        the bad side, except that NaN is worse. Where the controller alone has one, it misses.
        """
        worst = self._worst(references)
        sign = 1.0 if self.more_is_worse else -1.0
        if bool((order(sign * values) > order(sign * worst)).any()):
            return "misses"
        known = np.isfinite(worst) & np.isfinite(values)
        if not known.any():
            return "undecided" if np.isnan(values).any() else "meets"
        scale = self.factor if self.more_is_worse else 1.0 / self.factor
        own, other = values[known] - sign * self.slack, worst[known]
        mean = float(np.mean(other))
        ratio = float(np.mean(own)) / mean if mean > 0 else scale
        near = float(np.clip(ratio, 1.0 / self.factor, self.factor))
        excess = sign * (own - near * other + (near - scale) * mean)
        return _verdict(interval(excess), -np.inf, 0.0)

    def bound(self, references: Mapping[str, Values]) -> tuple[float, float]:
        """The bound from the mean of the worst reference, over the replications that have values;
        open if none has.
        """
        values = self._worst(references)
        values = values[np.isfinite(values)]
        if not values.size:
            return -np.inf, np.inf
        worst = float(np.mean(values))
        if self.more_is_worse:
            return -np.inf, self.factor * worst + self.slack
        return worst / self.factor - self.slack, np.inf

    def text(self, show: Show) -> str:
        """Such as "at most 1.1 times the larger of reno and cubic, plus 5 %"."""
        named = " and ".join(self.needs)
        slack = show(self.slack) if self.slack else ""
        if self.more_is_worse:
            plus = f", plus {slack}" if slack else ""
            return f"at most {self.factor:g} times the larger of {named}{plus}"
        less = f", less {slack}" if slack else ""
        return f"at least the smaller of {named} over {self.factor:g}{less}"

    def _worst(self, references: Mapping[str, Values]) -> Values:
        """The values of the reference with the most replications without a value, and of those
        with the worst mean.
        """
        sign = 1.0 if self.more_is_worse else -1.0

        def badness(values: Values) -> tuple[int, float]:
            rank = order(sign * values)
            known = values[rank == 1]
            mean = sign * float(np.mean(known)) if known.size else np.inf
            return int(rank[rank > 1].sum()), mean

        return max((references[name] for name in self.needs), key=badness)


def order(badness: Values) -> Values:
    """0 for negative infinity, 1 for a number, 2 for infinity, 3 for NaN: each is worse than those
    before it, whatever the tolerance.
    """
    return np.select(
        [np.isneginf(badness), np.isposinf(badness), np.isnan(badness)], [0.0, 2.0, 3.0], 1.0
    )


def _verdict(found: Interval, low: float, high: float) -> Verdict:
    """NaN is a miss: a replication that has no value did not do what was asked."""
    if np.isnan(found.mean):
        return "misses"
    if low <= found.low and found.high <= high:
        return "meets"
    if found.high < low or found.low > high:
        return "misses"
    return "undecided"
