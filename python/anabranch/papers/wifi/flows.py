"""Flows over time: throughput in pieces, windows, standstills, and whether two runs are alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..laboratory import Laboratory
from ..library import Cell, Floats, Metric, Users, measure
from ..readings import series


def warm(lab: Laboratory, cell: str) -> int:
    """The first sample that counts."""
    plan = lab[cell].plan
    return round(plan.warmup_s / plan.sample_s)


@measure
def samples(lab: Laboratory, cell: Cell, users: Users, number: int, metric: Metric) -> Floats:
    """A metric over time of a class's path after the warm-up, shape (seeds, samples)."""
    return series(lab[cell], users, metric)[:, warm(lab, cell) :, number]


@measure
def pieces(lab: Laboratory, cell: Cell, users: Users, number: int, seconds: float) -> Floats:
    """Throughput of a class's path in pieces of so many seconds, shape (seeds, pieces), in Mb/s."""
    step = round(seconds / lab[cell].plan.sample_s)
    arrived = samples(lab, cell, users, number, Metric("arrived_bytes"))
    return np.asarray(np.diff(arrived[:, ::step], axis=1) * 8e-6 / seconds)


@measure
def percentile(values: Floats, percent: float) -> Floats:
    """A percentile over time for each seed, of values of shape (seeds, samples)."""
    return np.asarray(np.percentile(values, percent, axis=1))


@measure
def correlated(first: Floats, second: Floats) -> Floats:
    """The correlation over time of two flows for each seed, each of shape (seeds, pieces)."""
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(first, second, strict=True)])


@measure
def widest_gap(values: Floats, tail: float) -> Floats:
    """The widest gap between neighbouring values, as a part of what they span, for each seed.

    The part `tail` of the values at either end is left out. Shape (seeds, pieces).
    """
    cut = int(values.shape[1] * tail)
    inner = np.sort(values, axis=1)[:, cut : values.shape[1] - cut]
    return np.asarray(np.diff(inner, axis=1).max(axis=1) / (inner[:, -1] - inner[:, 0]))


@measure
def at_times(
    lab: Laboratory, cell: Cell, users: Users, number: int, periods: Sequence[Sequence[float]]
) -> list[Floats]:
    """Mb/s of a class's path inside some periods and outside of them. Each period is a begin and an
    end in seconds.
    """
    rates = pieces(lab, cell, users, number, 1.0)
    start = lab[cell].plan.warmup_s + np.arange(rates.shape[1])
    inside = np.any([(start >= begin) & (start < end) for begin, end in periods], axis=0)
    return [rates[:, inside].mean(axis=1), rates[:, ~inside].mean(axis=1)]


@measure
def standstill(
    lab: Laboratory, cell: Cell, users: Users, number: int, seconds: float
) -> NDArray[np.bool_]:
    """Whether a class's path brings nothing for so long, for each seed."""
    least = round(seconds / lab[cell].plan.sample_s)
    arrived = samples(lab, cell, users, number, Metric("arrived_bytes"))
    return np.asarray((arrived[:, least:] == arrived[:, :-least]).any(axis=1))


@measure
def window_limit(lab: Laboratory, cell: Cell, users: Users, number: int) -> Floats:
    """What a path's window lets it send: the mean of window over round trip, in Mb/s."""
    windows, rtts = (
        samples(lab, cell, users, number, Metric(m)) for m in ("cwnd_segments", "srtt_s")
    )
    known = np.where(rtts > 0, rtts, np.nan)
    return np.asarray(np.nanmean(windows / known, axis=1) * 1500 * 8e-6)


@measure
def same_events(lab: Laboratory, cell: Cell, other: Cell) -> bool:
    """Whether runs of two cells have the same windows at every sample and the same digest of all
    events, seed by seed.
    """
    pairs = list(zip(lab[cell].runs, lab[other].runs, strict=True))
    return all(
        np.array_equal(a.series.paths.cwnd_segments, b.series.paths.cwnd_segments)
        and a.digest == b.digest
        for a, b in pairs
    )
