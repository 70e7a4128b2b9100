"""What series over time show: windows that grow, and stretches without an arrival."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...result import Result
from .. import readings
from ..laboratory import Laboratory
from ..library import Cell, Floats, Users, measure


def _shifts(result: Result, users: str, spans_s: Sequence[Sequence[float]]) -> Floats:
    """Mean window of each path in a later span over that in an earlier one, shape (seeds, paths)."""
    windows, t_s = readings.series(result, users, "cwnd_segments"), readings.times_s(result)
    early, late = (windows[:, (t_s >= a) & (t_s <= b)].mean(axis=1) for a, b in spans_s)
    return np.asarray(late / early)


@measure
def shift(
    lab: Laboratory, cell: Cell, users: Users, spans_s: Sequence[Sequence[float]], how: str
) -> Floats:
    """Mean windows in a later span over those in an earlier one: the largest or the median path."""
    return np.asarray(readings.by_seed(_shifts(lab[cell], users, spans_s), how))


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


def _of_gaps(
    lab: Laboratory, cell: str, users: str, paths: Sequence[int], of: Callable[[Floats], float]
) -> Floats:
    """A number of the gaps in the arrivals on some paths of a user after the warm-up, mean over the
    users, shape (seeds,).
    """
    result = lab[cell]
    (own,) = (c for c in result.plan.classes if c.name == users)
    later = readings.times_s(result) >= result.plan.warmup_s
    arrived = readings.series(result, users, "arrived_bytes")[:, later]
    each = arrived.reshape(*arrived.shape[:2], own.count, -1)[..., list(paths)].sum(axis=-1)
    found = [[of(gaps_s(user, result.plan.sample_s)) for user in run.T] for run in each]
    return np.asarray(np.mean(found, axis=1))


@measure
def longest_gap_s(lab: Laboratory, cell: Cell, users: Users, paths: Sequence[int]) -> Floats:
    """The longest time without an arrival on any of some paths in s, mean over the users."""
    return _of_gaps(lab, cell, users, paths, lambda gaps: float(gaps.max(initial=0)))


@measure
def silent(lab: Laboratory, cell: Cell, users: Users, paths: Sequence[int]) -> Floats:
    """The part of the time without an arrival on any of some paths, mean over the users."""
    plan = lab[cell].plan
    seconds = plan.duration_s - plan.warmup_s
    return _of_gaps(lab, cell, users, paths, lambda gaps: float(gaps.sum()) / seconds)
