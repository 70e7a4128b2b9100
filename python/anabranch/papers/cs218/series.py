"""What series over time show: windows that grow, and stretches without an arrival."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...result import Result
from ...statistics import jain
from ..laboratory import Laboratory
from ..library import Cell, Floats, Metric, Users, measure

HOW: dict[str, Callable[..., Floats]] = {
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "median": np.median,
    "spread": np.std,
    "sum": np.sum,
    "jain": jain,
}
"""Ways to one number of several paths."""


def over_time(result: Result, metric: str, users: str) -> Floats:
    """A series of the paths of a class, shape (seeds, samples, paths of all users, a user's
    together).
    """
    found = []
    for run in result.runs:
        classes = np.asarray(run.flows.class_)
        rows = classes[np.asarray(run.paths.flow, dtype=int)] == users
        found.append(np.asarray(run.series.paths.column(metric), dtype=float)[:, rows])
    return np.stack(found)


def times_s(result: Result) -> Floats:
    """When samples were taken, the same in every replication."""
    return np.asarray(result.runs[0].series.t_s, dtype=float)


@measure
def at_end(lab: Laboratory, cell: Cell, users: Users, metric: Metric, how: str = "mean") -> Floats:
    """The last sample of the paths of a class: their mean, min, max, median, or standard deviation
    ("spread").
    """
    return np.asarray(HOW[how](over_time(lab[cell], metric, users)[:, -1], axis=1))


def _shifts(result: Result, users: str, spans_s: Sequence[Sequence[float]]) -> Floats:
    """Mean window of each path in a later span over that in an earlier one, shape (seeds, paths)."""
    windows, t_s = over_time(result, "cwnd_segments", users), times_s(result)
    early, late = (windows[:, (t_s >= a) & (t_s <= b)].mean(axis=1) for a, b in spans_s)
    return np.asarray(late / early)


@measure
def shift(
    lab: Laboratory, cell: Cell, users: Users, spans_s: Sequence[Sequence[float]], how: str
) -> Floats:
    """Mean windows in a later span over those in an earlier one: the largest or the median path."""
    return np.asarray(HOW[how](_shifts(lab[cell], users, spans_s), axis=1))


def dominates(ratios: Floats, grown: float, still: float) -> bool:
    """Whether a path has grown by a factor, and the median of the others by at most another one."""
    return any(
        ratio >= grown and float(np.median(np.delete(ratios, path))) <= still
        for path, ratio in enumerate(ratios)
    )


@measure
def dominated(
    lab: Laboratory,
    cell: Cell,
    users: Users,
    spans_s: Sequence[Sequence[float]],
    grown: float,
    still: float,
) -> Floats:
    """1 for each seed in which one window grows by a factor between two spans and the others do
    not, else 0.
    """
    shifts = _shifts(lab[cell], users, spans_s)
    return np.array([float(dominates(row, grown, still)) for row in shifts])


@measure
def fill_s(lab: Laboratory, cell: Cell, half: float, whole: float) -> Floats:
    """Seconds in which the window of the first path of all grows from `half` to `whole`, in
    segments.

    From the first sample of at least `half` after the warm-up; infinite if it is not reached.
    """
    found = []
    for run in lab[cell].runs:
        t_s = np.asarray(run.series.t_s, dtype=float)
        windows = np.asarray(run.series.paths.cwnd_segments, dtype=float)[:, 0]
        later = t_s >= lab[cell].plan.warmup_s
        begins, ends = (t_s[later & (windows >= w)] for w in (half, whole))
        found.append(round(float(ends[0] - begins[0]), 6) if len(begins) and len(ends) else np.inf)
    return np.array(found)


def gaps_s(arrived: Floats, sample_s: float) -> Floats:
    """Lengths of the stretches of samples, shape (samples,), over which a count did not
    grow, in s.
    """
    still = np.concatenate(([0], (np.diff(arrived) == 0).astype(int), [0]))
    edges = np.flatnonzero(np.diff(still))
    return np.asarray((edges[1::2] - edges[::2]) * sample_s, dtype=float)


def _gaps_s(result: Result, users: str, paths: Sequence[int]) -> list[list[Floats]]:
    """Gaps in the arrivals on some paths of each user after the warm-up, by seed and user."""
    later = times_s(result) >= result.plan.warmup_s
    arrived = over_time(result, "arrived_bytes", users)[:, later]
    (own,) = (c for c in result.plan.classes if c.name == users)
    each = arrived.reshape(*arrived.shape[:2], own.count, -1)[..., list(paths)].sum(axis=-1)
    return [[gaps_s(user, result.plan.sample_s) for user in run.T] for run in each]


@measure
def longest_gap_s(lab: Laboratory, cell: Cell, users: Users, paths: Sequence[int]) -> Floats:
    """The longest time without an arrival on any of some paths in s, mean over the users."""
    found = [
        [float(gaps.max(initial=0)) for gaps in run] for run in _gaps_s(lab[cell], users, paths)
    ]
    return np.asarray(np.mean(found, axis=1))


@measure
def silent(lab: Laboratory, cell: Cell, users: Users, paths: Sequence[int]) -> Floats:
    """The part of the time without an arrival on any of some paths, mean over the users."""
    plan = lab[cell].plan
    seconds = plan.duration_s - plan.warmup_s
    found = [
        [float(gaps.sum()) / seconds for gaps in run] for run in _gaps_s(lab[cell], users, paths)
    ]
    return np.asarray(np.mean(found, axis=1))
