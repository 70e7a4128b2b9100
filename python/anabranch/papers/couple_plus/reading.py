"""Quantities that claims read from configurations: rates of the competition period, shares, series;
one value for each seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...result import Result
from ...runs import Run
from ...statistics import Interval, interval
from ..laboratory import Laboratory
from .configurations import LASTING, POINTS, point

Floats = NDArray[np.float64]

START_S = 1.0
"""Both have started by then: the competition period begins."""
SUB0, SUB1, TCP = 0, 1, 2
"""Columns of paths: two of the multipath flow, then the TCP."""
FLOW_PATHS = (("multipath", 0), ("multipath", 1), ("tcp", 0))


def exact(value: float) -> Interval:
    """A number without spread."""
    return Interval(float(value), 0.0, 1)


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


def competition(lab: Laboratory, configuration: str) -> Floats:
    """Subflow 0, subflow 1 and the TCP in kb/s, shape (seeds, 3); in the long run after the
    warm-up.
    """
    result = lab[configuration]
    if any(configuration.startswith(f"{name}, ") for name in LASTING) or configuration.startswith(
        "uncoded-"
    ):
        return np.stack(
            [result.path(name, path, "goodput_bps")[:, 0] / 1e3 for name, path in FLOW_PATHS],
            axis=1,
        )
    return np.array([rates_kbps(run) for run in result.runs])


def sub1_over_tcp(lab: Laboratory, configuration: str) -> Floats:
    """Rate of subflow 1 over that of the competing TCP."""
    rates = competition(lab, configuration)
    return np.asarray(rates[:, SUB1] / rates[:, TCP])


def over_points(
    lab: Laboratory, controller: str, p: float, of: Callable[[Floats], Floats]
) -> Floats:
    """The mean over redundancies of something made of the three rates, for each seed."""
    found = [of(competition(lab, point(controller, p, r))) for r in POINTS[p]]
    return np.asarray(np.mean(found, axis=0))


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


def total(lab: Laboratory, configuration: str, path: tuple[str, int], metric: str) -> Floats:
    """A metric of a path."""
    return np.asarray(lab[configuration].path(*path, metric)[:, 0])


def rank_correlation(values: Sequence[float]) -> float:
    """Spearman's, of values with their places."""
    ranks = np.argsort(np.argsort(values))
    return float(np.corrcoef(np.arange(len(values)), ranks)[0, 1])


def listed(rows: Mapping[str, Any], unit: str = "") -> str:
    """Values by name in words."""
    return ", ".join(
        f"{name} {v if isinstance(v, Interval) else interval(v)}{unit}" for name, v in rows.items()
    )


def three(lab: Laboratory, configuration: str) -> str:
    """The three rates of a configuration in words."""
    rates = competition(lab, configuration)
    return f"{interval(rates[:, SUB0])} / {interval(rates[:, SUB1])} / {interval(rates[:, TCP])}"
