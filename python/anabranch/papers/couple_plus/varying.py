"""Paths that fail, and loss that varies: what the authors wish for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...result import Result
from ...statistics import interval
from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from .reading import FLOW_PATHS, START_S, over, path_series

WIFI = FLOW_PATHS[1]


def away_s(result: Result) -> list[Floats]:
    """When Wi-Fi is suspended, and when it is back, in turn, for each seed: its window says nothing
    meanwhile.
    """
    found = []
    for t_s, window in path_series(result, "cwnd_segments", WIFI):
        out = np.isnan(window) & (t_s > START_S)
        found.append(t_s[np.flatnonzero(np.diff(out.astype(int))) + 1])
    return found


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
def peak_kb(lab: Laboratory, cell: Cell, start_s: float, end_s: float) -> Floats:
    """The most that waits at the receiver within a time, by samples."""
    found = []
    for run in lab[cell].runs:
        t_s = np.asarray(run.series.t_s)
        held = np.asarray(run.series.flows.held_bytes)[:, 0]
        found.append(held[(t_s >= start_s) & (t_s < end_s)].max() / 1e3)
    return np.array(found)


@measure
def in_use_at_peak(lab: Laboratory, cell: Cell) -> Floats:
    """1 for each run in which Wi-Fi is in use when the most data waits at the receiver, else 0."""
    result = lab[cell]
    series = path_series(result, "cwnd_segments", WIFI)
    found = [
        not np.isnan(window[int(np.asarray(run.series.flows.held_bytes)[:, 0].argmax())])
        for run, (_, window) in zip(result.runs, series, strict=True)
    ]
    return np.array(found, dtype=float)


@measure
def while_losing(
    lab: Laboratory, cell: Cell, losses: Sequence[float], lasts_s: float, loss: float, column: int
) -> Floats:
    """The rate of subflow 0, subflow 1 or the TCP in kb/s while the air loses so much of successive
    `losses` that last so long each.
    """
    spans = [
        (max(n * lasts_s, START_S), (n + 1) * lasts_s)
        for n, one in enumerate(losses)
        if one == loss
    ]
    taken = [
        sum(over(run, "taken_bytes", *span)[column] for span in spans) for run in lab[cell].runs
    ]
    return np.array(taken) * 8e-3 / sum(end - start for start, end in spans)
