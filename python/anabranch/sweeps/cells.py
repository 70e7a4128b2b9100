"""Points of figures: means over the rows of a run, and intervals over the runs of a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..statistics import Interval
from .scan import Coded, Codes, Scan

Floats = NDArray[np.float64]

MOST_CODES = 2**62
"""Products of numbers of values up to which places fit into a number."""


@dataclass(frozen=True)
class Runs:
    """A value, or several, of each run at each place of a figure, sorted by place and then run."""

    places: Codes
    """Numbers of values, shape (runs, dimensions)."""
    values: Floats
    """Shape (runs, metrics)."""
    rows: Codes
    """The first row of each in the scan."""
    seeds: NDArray[np.uint64]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.rows)

    def cells(self) -> Codes:
        """Where each place begins."""
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(np.r_[True, (np.diff(self.places, axis=0) != 0).any(axis=1)])


def runs_of(scan: Scan, dimensions: Sequence[Coded], metrics: Sequence[str]) -> Runs:
    """The means of metrics over the rows of each run at each place. Rows that lack a metric or a
    place are left out: they are of another kind, or had nothing to measure.
    """
    values = np.stack([scan.numbers(name) for name in metrics], axis=1)
    codes = np.stack([one.codes for one in dimensions], axis=1)
    there = np.flatnonzero(np.isfinite(values).all(axis=1) & (codes >= 0).all(axis=1))
    place = together(codes[there], [len(one.values) for one in dimensions])
    few = place.max(initial=0) <= np.iinfo(np.uint16).max  # these are sorted ten times as fast
    order = np.argsort(place.astype(np.uint16) if few else place, kind="stable")
    rows, place = there[order], place[order]
    run = scan.run[rows]
    new = (np.diff(place, prepend=-1) != 0) | (np.diff(run, prepend=-1) != 0)
    starts = np.flatnonzero(new)
    counts = np.diff(np.r_[starts, len(rows)])
    sums = np.add.reduceat(values[rows], starts) if len(starts) else values[:0]
    seeds = scan.table.column("seed").to_numpy()
    first = rows[starts]
    return Runs(codes[first], sums / counts[:, None], first, seeds[first])


def together(codes: Codes, sizes: Sequence[int]) -> Codes:
    """A number for each row of codes, shape (rows, dimensions), that rises as they do."""
    found, most = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in zip(codes.T, sizes, strict=True):
        if most * max(size, 1) > MOST_CODES:
            known, found = np.unique(found, return_inverse=True)
            most = len(known)
        found, most = found * max(size, 1) + column, most * max(size, 1)
    return found


def mixed(runs: Runs, codes: Sequence[Codes]) -> tuple[int, int] | None:
    """Two rows of one place that differ in codes of rows, such as configurations; None if all
    places have one.
    """
    starts = runs.cells()
    if not len(starts):
        return None
    counts = np.diff(np.r_[starts, len(runs)])
    for code in codes:
        own = code[runs.rows]
        other = np.flatnonzero(own != np.repeat(own[starts], counts))
        if len(other):
            begin = starts[np.searchsorted(starts, other[0], side="right") - 1]
            return int(runs.rows[begin]), int(runs.rows[other[0]])
    return None


def paired(runs: Runs, dimension: int, code: int, sizes: Sequence[int]) -> Runs:
    """The differences of runs to those of one value of a dimension, at the same place otherwise and
    with the same seed; runs without such a partner are left out.
    """
    others = [place for place in range(len(sizes)) if place != dimension]
    known, seeds = np.unique(runs.seeds, return_inverse=True)
    rest = together(runs.places[:, others], [sizes[place] for place in others])
    _, rest = np.unique(rest, return_inverse=True)
    key = rest * len(known) + seeds
    own = runs.places[:, dimension] == code
    order = np.argsort(key[own], kind="stable")
    keys, values = key[own][order], runs.values[own][order]
    if not len(keys):
        return _of(runs, np.zeros(0, dtype=np.int64), runs.values[:0])
    place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    kept = np.flatnonzero((keys[place] == key) & ~own)
    return _of(runs, kept, runs.values[kept] - values[place[kept]])


def _of(runs: Runs, kept: Codes, values: Floats) -> Runs:
    return replace(
        runs,
        places=runs.places[kept],
        values=values,
        rows=runs.rows[kept],
        seeds=runs.seeds[kept],
    )


@dataclass(frozen=True)
class Cells:
    """The points of a figure."""

    places: Codes
    """Shape (points, dimensions)."""
    means: Floats
    """Shape (points, metrics)."""
    halves: Floats
    """Of the intervals, infinite with a single run; shape (points, metrics)."""
    counts: Codes
    """Runs of each point."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.counts)

    def interval(self, cell: int, metric: int = 0) -> Interval:
        """The mean of a point with its interval."""
        mean, half = self.means[cell, metric], self.halves[cell, metric]
        return Interval(float(mean), float(half), int(self.counts[cell]))


def cells(runs: Runs) -> Cells:
    """Means and 95 % intervals over the runs of each place, as `statistics.interval` has them."""
    starts = runs.cells()
    counts = np.diff(np.r_[starts, len(runs)]).astype(np.int64)
    if not len(starts):
        return Cells(runs.places, runs.values, runs.values, counts)
    n = counts[:, None].astype(float)
    means = np.add.reduceat(runs.values, starts) / n
    squares = np.add.reduceat((runs.values - np.repeat(means, counts, axis=0)) ** 2, starts)
    low, high = (each.reduceat(runs.values, starts) for each in (np.minimum, np.maximum))
    means = np.where(low == high, low, means)  # no noise of the last bits
    with np.errstate(divide="ignore", invalid="ignore"):
        halves = quantiles(counts)[:, None] * np.sqrt(squares / (n - 1)) / np.sqrt(n)
    halves = np.where(low == high, 0.0, halves)
    halves[counts == 1] = np.inf
    return Cells(runs.places[starts], means, halves, counts)


def quantiles(counts: Codes) -> Floats:
    """Student's quantile of 95 % intervals over so many runs."""
    from scipy.special import stdtrit  # imported in a tenth of the time that scipy.stats takes

    found: Floats = np.asarray(stdtrit(np.maximum(counts - 1, 1), 0.975), dtype=float)
    return found
