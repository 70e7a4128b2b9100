"""What runs say of the three paths: their rates in the competition period, and their series."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...result import Result
from ...runs import Run
from ...statistics import Interval, difference, interval
from ..laboratory import Laboratory
from ..library import Cell, Floats, Metric, measure
from ..readings import series, times_s

START_S = 1.0
"""Both have started by then: the competition period begins."""
FLOW_PATHS = (("multipath", 0), ("multipath", 1), ("tcp", 0))
"""The paths by their numbers here: two of the multipath flow, then the TCP's."""


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


def path_series(result: Result, metric: str, number: int) -> Floats:
    """A series of a path, shape (seeds, samples)."""
    users, path = FLOW_PATHS[number]
    return series(result, users, metric)[..., path]


def bins_kbps(result: Result, number: int) -> Floats:
    """Rate of arrivals on a path in each second, in kb/s, shape (seeds, seconds)."""
    edges, t_s = np.arange(0, result.plan.duration_s + 1e-9), times_s(result)
    taken = path_series(result, "taken_bytes", number)
    return np.array([np.diff(np.interp(edges, t_s, one)) * 8e-3 for one in taken])


def waiting_kb(run: Run) -> Floats:
    """Data that waits at the receiver of the multipath flow over time, in kB, shape (samples,)."""
    return np.asarray(run.series.flows.held_bytes)[:, 0] / 1e3


@measure
def waits_kb(lab: Laboratory, cell: Cell) -> Floats:
    """The same for each seed, shape (seeds, samples)."""
    return np.stack([waiting_kb(run) for run in lab[cell].runs])


@measure
def difference_of(first: ArrayLike, second: ArrayLike) -> Interval:
    """The first mean less the second, as of independent replications."""
    return difference(interval(first), interval(second))
