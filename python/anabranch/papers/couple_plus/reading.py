"""What runs say of the three paths: their rates in the competition period, and their series."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...result import Result
from ...runs import Run
from ...statistics import Interval, difference, interval
from ..laboratory import Laboratory
from ..library import Cell, Floats, Metric, measure

START_S = 1.0
"""Both have started by then: the competition period begins."""
FLOW_PATHS = (("multipath", 0), ("multipath", 1), ("tcp", 0))
"""The paths by their numbers here: two of the multipath flow, then the TCP's."""


def columns(run: Run) -> dict[tuple[str, int], int]:
    """The column of each path of a run, by class and number."""
    classes = np.asarray(run.flows.class_)[np.asarray(run.paths.flow)]
    return {
        (str(name), int(path)): index
        for index, (name, path) in enumerate(zip(classes, run.paths.path, strict=True))
    }


def end_of(run: Run) -> float:
    """When the first transfer was complete; the run's end if none was."""
    done = np.asarray(run.flows.completed_s, dtype=float)
    done = done[np.isfinite(done)]
    return float(done.min()) if len(done) else float(run.series.t_s[-1])


def over(run: Run, metric: str, start_s: float, end_s: float) -> Floats:
    """By how much a counter of each path grows within a time."""
    t_s = np.asarray(run.series.t_s, dtype=float)
    counter = np.asarray(run.series.paths.column(metric), dtype=float)
    return np.array(
        [np.interp(end_s, t_s, column) - np.interp(start_s, t_s, column) for column in counter.T]
    )


def rates_kbps(run: Run) -> Floats:
    """Payload taken in by each path in the competition period, in kb/s; redundancy does
    not count.
    """
    end_s = end_of(run)
    return over(run, "taken_bytes", START_S, end_s) * 8e-3 / (end_s - START_S)


def competition(result: Result) -> Floats:
    """Rates of all paths in kb/s, shape (seeds, paths); after the warm-up where there is one."""
    if result.plan.warmup_s:
        return np.stack(
            [result.path(name, path, "goodput_bps")[:, 0] / 1e3 for name, path in FLOW_PATHS],
            axis=1,
        )
    return np.array([rates_kbps(run) for run in result.runs])


@measure
def kbps(lab: Laboratory, cell: Cell, number: int) -> Floats:
    """Rate of a path in the competition period: subflow 0, subflow 1, and 2 for the TCP."""
    return competition(lab[cell])[:, number]


@measure
def volume_mb(lab: Laboratory, cell: Cell, number: int) -> Floats:
    """What a path has brought when the first transfer is complete, in MB."""
    runs = lab[cell].runs
    return (
        np.array([over(run, "taken_bytes", 0.0, end_of(run) + 1.0)[number] for run in runs]) / 1e6
    )


@measure
def held_kb(lab: Laboratory, cell: Cell) -> Floats:
    """Mean data that waits at the receiver in the competition period, in kB."""
    found = []
    for run in lab[cell].runs:
        t_s = np.asarray(run.series.t_s)
        inside = (t_s >= START_S) & (t_s <= end_of(run))
        found.append(float(np.asarray(run.series.flows.held_bytes)[inside, 0].mean()) / 1e3)
    return np.array(found)


@measure
def of_coding(lab: Laboratory, cell: Cell, number: int, metric: Metric) -> Floats:
    """A metric of a coded path of the multipath flow."""
    return lab[cell].coding("multipath", number, metric)[:, 0]


def path_series(result: Result, metric: str, path: tuple[str, int]) -> list[tuple[Floats, Floats]]:
    """Times and values of a path's series for each seed."""
    found = []
    for run in result.runs:
        column = columns(run)[path]
        values = np.asarray(run.series.paths.column(metric), dtype=float)[:, column]
        found.append((np.asarray(run.series.t_s, dtype=float), values))
    return found


def bins_kbps(result: Result, path: tuple[str, int], seconds: float = 1.0) -> Floats:
    """Rate of arrivals on a path in intervals of `seconds`, in kb/s, shape (seeds, intervals)."""
    edges = np.arange(0, result.plan.duration_s + 1e-9, seconds)
    return np.array(
        [
            np.diff(np.interp(edges, t_s, taken)) * 8e-3 / seconds
            for t_s, taken in path_series(result, "taken_bytes", path)
        ]
    )


@measure
def rank_correlation(values: Sequence[Floats]) -> float:
    """Spearman's of the means of some values with their places."""
    means = [float(np.mean(one)) for one in values]
    ranks = np.argsort(np.argsort(means))
    return float(np.corrcoef(np.arange(len(means)), ranks)[0, 1])


@measure
def difference_of(first: ArrayLike, second: ArrayLike) -> Interval:
    """The first mean less the second, as of independent replications."""
    return difference(interval(first), interval(second))
