"""A terminal that leaves Wi-Fi and comes back: rates in seconds, and how soon windows react."""

from __future__ import annotations

import numpy as np

from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from ..readings import times_s
from .reading import bins_kbps, path_series


@measure
def bins(lab: Laboratory, cell: Cell, number: int) -> Floats:
    """Rate of a path in each second, in kb/s, shape (seeds, seconds)."""
    return bins_kbps(lab[cell], number)


@measure
def first_new_s(lab: Laboratory, cell: Cell, number: int, start_s: float) -> Floats:
    """When a path first brings new payload after a time; the run's end if it does not."""
    t_s, found = times_s(lab[cell]), []
    for taken in path_series(lab[cell], "taken_bytes", number):
        later = t_s[(t_s > start_s) & (taken > np.interp(start_s, t_s, taken))]
        found.append(later[0] if len(later) else t_s[-1])
    return np.array(found)


@measure
def windows(lab: Laboratory, cell: Cell, number: int) -> Floats:
    """The window of a path over time, in segments, shape (seeds, samples)."""
    return path_series(lab[cell], "cwnd_segments", number)


@measure
def stays_at_most_s(
    lab: Laboratory, cell: Cell, number: int, limits: Floats, start_s: float, end_s: float
) -> Floats:
    """Time from `start_s` until a window is at most its limit and stays so until `end_s`; all of it
    if never. `limits` in segments has shape (seeds,).

    A window that falls below the limit for a moment in its own sawtooth has not reacted.
    """
    t_s, found = times_s(lab[cell]), []
    for w, limit in zip(windows(lab, cell, number), limits, strict=True):
        large = t_s[(t_s >= start_s) & (t_s < end_s) & (w > limit)]
        later = t_s[t_s > large[-1]] if len(large) else [start_s]
        found.append(min(later[0], end_s) - start_s)
    return np.array(found)


@measure
def first_at_most_s(
    lab: Laboratory, cell: Cell, number: int, limits: Floats, start_s: float, end_s: float
) -> Floats:
    """Time from `start_s` until a window is first at most its limit; until `end_s` if never."""
    t_s, found = times_s(lab[cell]), []
    for w, limit in zip(windows(lab, cell, number), limits, strict=True):
        small = t_s[(t_s >= start_s) & (t_s < end_s) & (w <= limit)]
        found.append((small[0] if len(small) else end_s) - start_s)
    return np.array(found)
