"""Paths that fail, and loss that varies: what the authors wish for."""

from __future__ import annotations

import numpy as np

from ...result import Result
from ...statistics import interval
from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from ..readings import times_s
from .reading import START_S, over, path_series, waits_kb

WIFI = 1
"""The number of its path."""


def away_s(result: Result) -> list[Floats]:
    """When Wi-Fi is suspended, and when it is back, in turn, for each seed: its window says nothing
    meanwhile.
    """
    t_s = times_s(result)
    out = np.isnan(path_series(result, "cwnd_segments", WIFI)) & (t_s > START_S)
    return [t_s[1:][change] for change in np.diff(out, axis=1)]


@measure
def suspensions(lab: Laboratory, cell: Cell) -> str:
    """Number, first time and duration of suspensions of Wi-Fi in the excursion, in words."""
    result = lab[cell]
    end_s = result.plan.duration_s
    times = [t for t in away_s(result) if len(t)]
    if not times:
        return "in none of the runs"
    first = np.array([t[0] for t in times])
    long = np.array([float(np.diff([*t, end_s] if len(t) % 2 else t)[::2].sum()) for t in times])
    often = np.mean([np.ceil(len(t) / 2) for t in times])
    return (
        f"in {len(times)} of {len(result.runs)} runs, first at {interval(first)} s, "
        f"{interval(long)} s in all and {often:.1f} times"
    )


@measure
def in_use_at_peak(lab: Laboratory, cell: Cell) -> Floats:
    """1 for each run in which Wi-Fi is in use when the most data waits at the receiver, else 0."""
    windows = path_series(lab[cell], "cwnd_segments", WIFI)
    peaks = waits_kb(lab, cell).argmax(axis=1, keepdims=True)
    return np.asarray(~np.isnan(np.take_along_axis(windows, peaks, axis=1))[:, 0], dtype=float)


@measure
def taken_bytes(lab: Laboratory, cell: Cell, number: int, start_s: float, end_s: float) -> Floats:
    """Payload that a path brings from a time to another."""
    runs = lab[cell].runs
    return np.array([over(run, "taken_bytes", start_s, end_s)[number] for run in runs])
