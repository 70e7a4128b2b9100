"""How soon capacity is used that others have freed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...fairness import settling_time
from ...statistics import Interval, interval, ratio_of_means
from ..judging import Nothing, Partial
from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from .flapping import first_user

FREED_S, TAKEN_S = 60.0, 120.0
"""When the TCP flows leave the shared path, and when others come (khalili/freed-path)."""

RESAMPLES = 400
"""Resamples of the seeds, for the interval of a rank correlation."""


def _times_s(lab: Laboratory, cell: str) -> Floats:
    """Settling times of the freed path until others come; infinite where it does not settle.

    The new steady rate is the whole link, which every law here fills in the end.
    """
    result = lab[cell]
    shared = result.rates_bps["shared"]
    series = first_user(result, "arrived_bytes")
    return np.array(
        [
            settling_time(run.series.t_s, bytes_[:, 1], FREED_S, TAKEN_S, shared)
            for run, bytes_ in zip(result.runs, series, strict=True)
        ]
    )


def _watched_s(times_s: Floats) -> Floats:
    """Settling times; runs that did not settle count with the time they were watched."""
    return np.minimum(times_s, TAKEN_S - FREED_S)


@measure
def settled(lab: Laboratory, cell: Cell) -> float:
    """The part of the runs that settle before others come."""
    return float(np.isfinite(_times_s(lab, cell)).mean())


@measure
def settling(lab: Laboratory, cell: Cell) -> str:
    """The settling time in words."""
    times_s = _times_s(lab, cell)
    number = int(np.isfinite(times_s).sum())
    runs = f"({number} of {len(times_s)} runs within {TAKEN_S - FREED_S:g} s)"
    if number < len(times_s):
        return f"at least {_watched_s(times_s).mean():.3g} s {runs}"
    return f"{interval(times_s)} s {runs}"


@measure
def settling_ratio(
    lab: Laboratory, cell: Cell, other: Cell
) -> Floats | Interval | Partial | Nothing:
    """The settling time of a cell over that of another one: a lower bound where some runs of the
    first did not settle, nothing where some of the second did not.
    """
    return ratio_of_times(_times_s(lab, cell), _times_s(lab, other))


def ratio_of_times(times_s: Floats, others_s: Floats) -> Interval | Partial | Nothing:
    """The same of settling times, infinite ones among them."""
    ratio: Interval = ratio_of_means(_watched_s(times_s), _watched_s(others_s))
    if missing := int((~np.isfinite(others_s)).sum()):
        return Nothing(f"no ratio: LIA does not settle in {missing} of {len(others_s)} runs")
    if np.isfinite(times_s).all():
        return ratio
    return Partial(ratio)


@measure
def settling_rank(lab: Laboratory, cells: Sequence[Cell]) -> Interval:
    """The rank correlation of settling times with the order of some cells."""
    times_s = np.stack([_times_s(lab, cell) for cell in cells])
    found: Interval = rank_correlation(_watched_s(times_s), ~np.isfinite(times_s))
    return found


@measure
def rank_correlation(
    values: Sequence[ArrayLike] | NDArray[np.float64], censored: NDArray[np.bool_] | None = None
) -> Interval:
    """Spearman's coefficient of the seed means of a sequence with its order; values have shape
    (points, seeds).

    The interval has the middle 95 % of resamples of the seeds. A mean that contains a censored
    value is known from below alone: every order of the means that this allows counts.
    """
    random = np.random.default_rng(7)
    given = np.stack([np.asarray(one, dtype=float) for one in values])
    bounds = np.zeros(given.shape, dtype=bool) if censored is None else censored
    points, seeds = given.shape
    ends = [_rank_range(given.mean(axis=1), np.asarray(bounds.any(axis=1)))]
    for _ in range(RESAMPLES):
        chosen = random.integers(seeds, size=(points, seeds))
        resampled, unknown = (np.take_along_axis(x, chosen, axis=1) for x in (given, bounds))
        ends.append(_rank_range(resampled.mean(axis=1), np.asarray(unknown.any(axis=1))))
    lows, highs = np.array(ends).T
    low, high = float(np.percentile(lows, 2.5)), float(np.percentile(highs, 97.5))
    half = (high - low) / 2 if seeds > 1 else math.inf
    return Interval((low + high) / 2, half, seeds)


def _rank_range(means: NDArray[np.float64], bounds: NDArray[np.bool_]) -> tuple[float, float]:
    """The least and the largest coefficient of ranks that means allow, those where `bounds` being
    lower bounds.
    """
    ranks = np.arange(len(means))
    found = [
        float(np.corrcoef(ranks, np.argsort(order))[0, 1])
        for order in permutations(range(len(means)))
        if all(
            bounds[later] or (means[earlier] <= means[later])
            for earlier, later in combinations(order, 2)
        )
    ]
    return min(found), max(found)
