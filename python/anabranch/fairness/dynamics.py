"""Flapping and settling, from series."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def dominance(windows: Floats, share: float = 0.9) -> float:
    """Fraction of samples in which one path has more than `share` of the total window.

    `windows` has shape (samples, paths), in segments.
    """
    return float(np.mean(windows.max(axis=1) > share * windows.sum(axis=1)))


def swaps(windows: Floats, share: float = 0.9) -> int:
    """How often dominance moves from one path to another over the samples."""
    dominant = windows.max(axis=1) > share * windows.sum(axis=1)
    leader = windows.argmax(axis=1)[dominant]
    return int(np.count_nonzero(np.diff(leader)))


def settling_time(
    t_s: Floats,
    arrived_bytes: Floats,
    event_s: float,
    until_s: float,
    steady_bps: float,
    *,
    level: float = 0.8,
    smooth_s: float = 2.0,
) -> float:
    """Seconds from `event_s` until a path's rate first reaches `level` times its new steady rate.

    The rate is that of the last `smooth_s` seconds, from the cumulative `arrived_bytes` sampled at
    the evenly spaced `t_s`. `steady_bps` is the new steady rate of the path. It must come from
    elsewhere (theory, or the capacity), because the samples of a path that does not settle show no
    steady rate. Infinite if the level is not reached by `until_s`.
    """
    step = t_s[1] - t_s[0]
    width = max(1, round(smooth_s / step))
    rate = 8.0 * (arrived_bytes[width:] - arrived_bytes[:-width]) / (width * step)
    at = t_s[width:]
    reached = (at >= event_s) & (at <= until_s) & (rate >= level * steady_bps)
    return float(at[reached][0] - event_s) if reached.any() else float("inf")
