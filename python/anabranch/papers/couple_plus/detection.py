"""How soon the sender of a path is told of the losses of a full queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from ..logs import logged
from ..readings import times_s
from .logs import of_path
from .reading import path_series

Arrived = Callable[[Floats | float], Floats]
"""Packets that have arrived until a time."""


def _losses(
    lab: Laboratory, cell: str, size: int
) -> Iterator[tuple[Floats, Floats, Arrived, float]]:
    """For each seed, of path 1: times of drops, of recoveries and timeouts, what has arrived in
    packets of `size` bytes, and the end of the run.
    """
    result = logged(lab.configurations[cell], tuple(lab[cell].seeds))
    t_s = times_s(result)
    for run, arrived in zip(result.runs, path_series(result, "arrived_bytes", 1), strict=True):
        events = of_path(run, 0, 1)

        def until(at_s: Floats | float, arrived: Floats = arrived) -> Floats:
            return np.asarray(np.interp(at_s, t_s, arrived) / size)

        yield events.times("drop"), events.times("recovery", "timeout"), until, float(t_s[-1])


@measure
def packets_until_told(lab: Laboratory, cell: Cell, size: int, start_s: float) -> Floats:
    """Mean packets of path 1 from the first drop of an episode to the recovery or timeout that ends
    it, from `start_s` on. A run that is never told counts as told at its end.
    """
    found = []
    for drops, told, arrived, end_s in _losses(lab, cell, size):
        spans, since = [], start_s
        for end in told[told > start_s]:
            own = drops[(drops > since) & (drops < end)]
            since = end
            if len(own):
                spans.append(arrived(end) - arrived(own[0]) + len(own))
        if not spans and len(drops):
            spans.append(arrived(end_s) - arrived(drops[0]))
        found.append(np.mean(spans))
    return np.array(found)


@measure
def lost_at_peak(lab: Laboratory, cell: Cell, size: int, peak_s: float) -> Floats:
    """The part of packets of path 1 that is dropped within `peak_s` of a first drop, which none
    precedes for so long. About a round trip with full queues: losses of a burst fall within it.
    """
    found = []
    for drops, _, arrived, end_s in _losses(lab, cell, size):
        firsts = drops[np.diff(drops, prepend=-peak_s) > peak_s]
        lost = sum(int(((drops >= t) & (drops < t + peak_s)).sum()) for t in firsts)
        came = float((arrived(np.minimum(firsts + peak_s, end_s)) - arrived(firsts)).sum())
        found.append(lost / (lost + came))
    return np.array(found)
