"""A terminal that leaves Wi-Fi and comes back: rates in seconds, and how soon windows react."""

from __future__ import annotations

import numpy as np

from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from .reading import FLOW_PATHS, bins_kbps, path_series


@measure
def bin_kbps(lab: Laboratory, cell: Cell, number: int, start_s: int, end_s: int) -> Floats:
    """Rate of a path from a second to another, in kb/s."""
    bins = bins_kbps(lab[cell], FLOW_PATHS[number])
    return np.asarray(bins[:, start_s:end_s].mean(axis=1))


@measure
def least_bin_kbps(lab: Laboratory, cell: Cell, number: int, start_s: int, end_s: int) -> Floats:
    """The least rate of a path in a second of these, in kb/s."""
    bins = bins_kbps(lab[cell], FLOW_PATHS[number])
    return np.asarray(bins[:, start_s:end_s].min(axis=1))


@measure
def first_new_s(lab: Laboratory, cell: Cell, number: int, start_s: float) -> Floats:
    """When a path first brings new payload after a time; the run's end if it does not."""
    found = []
    for t_s, taken in path_series(lab[cell], "taken_bytes", FLOW_PATHS[number]):
        later = t_s[(t_s > start_s) & (taken > np.interp(start_s, t_s, taken))]
        found.append(later[0] if len(later) else t_s[-1])
    return np.array(found)


def _windows(lab: Laboratory, cell: Cell, number: int) -> list[tuple[Floats, Floats]]:
    return path_series(lab[cell], "cwnd_segments", FLOW_PATHS[number])


@measure
def window(lab: Laboratory, cell: Cell, number: int, start_s: float, end_s: float) -> Floats:
    """Mean window of a path from a time to another, in segments."""
    return np.array(
        [w[(t_s >= start_s) & (t_s < end_s)].mean() for t_s, w in _windows(lab, cell, number)]
    )


@measure
def stays_at_most_s(
    lab: Laboratory, cell: Cell, number: int, limits: Floats, start_s: float, end_s: float
) -> Floats:
    """Time from `start_s` until a window is at most its limit and stays so until `end_s`; all of it
    if never. `limits` in segments has shape (seeds,).

    A window that falls below the limit for a moment in its own sawtooth has not reacted.
    """
    found = []
    for (t_s, w), limit in zip(_windows(lab, cell, number), limits, strict=True):
        large = t_s[(t_s >= start_s) & (t_s < end_s) & (w > limit)]
        later = t_s[t_s > large[-1]] if len(large) else [start_s]
        found.append(min(later[0], end_s) - start_s)
    return np.array(found)


@measure
def first_at_most_s(
    lab: Laboratory, cell: Cell, number: int, limits: Floats, start_s: float, end_s: float
) -> Floats:
    """Time from `start_s` until a window is first at most its limit; until `end_s` if never."""
    found = []
    for (t_s, w), limit in zip(_windows(lab, cell, number), limits, strict=True):
        small = t_s[(t_s >= start_s) & (t_s < end_s) & (w <= limit)]
        found.append((small[0] if len(small) else end_s) - start_s)
    return np.array(found)
