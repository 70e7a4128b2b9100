"""The shipped laws for single windows, and the formulas of TFRC."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import _core, theory
from ..library import Floats, Values, measure

RTT_S, LOSS = 0.1, 0.01
"""Those of every path; the laws of the thesis do not depend on them where they are equal."""


def _state(windows: Sequence[float] | Floats) -> tuple[Floats, Floats, Floats]:
    w = np.asarray(windows, dtype=float)
    return w, np.full(len(w), RTT_S), np.full(len(w), LOSS)


@measure
def grows(law: str, windows: Sequence[float]) -> Floats:
    """What a round trip without a loss adds to each window under a law, in segments."""
    w, rtt, loss = _state(windows)
    return np.asarray(_core.growth(law, w, rtt, loss) * w)


@measure
def left(law: str, windows: Sequence[float]) -> Floats:
    """What a loss leaves of each window under a law, in segments."""
    return np.asarray(_core.backoff(law, *_state(windows)))


@measure
def halvings(law: str, window: float) -> int:
    """How many losses take a window to one segment."""
    count = 0
    while window > 1:
        window = float(left(law, [window])[0])
        count += 1
    return count


@measure
def random_windows(number: int) -> Floats:
    """Windows from 2 to 60 segments."""
    return np.random.default_rng(number).uniform(2, 60, number)


@measure
def tfrc_rate(loss: Values, rtt_s: Values, packet_bytes: float = 1500) -> Values:
    """The response function of TFRC (eq. 2.1 as it is meant), in Mb/s."""
    rates = np.vectorize(theory.tfrc_rate_bps)(loss, rtt_s, packet_bytes=packet_bytes) / 1e6
    return rates if np.ndim(rates) else float(rates)


@measure
def mean_interval(intervals: Sequence[float], weights: Sequence[float]) -> float:
    """Eq. 3.2 over the open loss interval and those before it, newest first: the open one counts
    only if it makes the mean longer.
    """
    many = len(weights)
    closed = np.dot(intervals[1 : many + 1], weights) / sum(weights)
    opened = np.dot(intervals[:many], weights) / sum(weights)
    return float(max(closed, opened))
