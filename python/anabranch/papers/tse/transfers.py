"""A transfer whose path is cut, and the loss that TFRC sees over a long run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from ... import theory
from ..laboratory import Laboratory
from ..library import Cell, Floats, measure, without_runs
from ..readings import series, times_s
from .logs import PathLog, logged
from .reading import ENSEMBLE


@measure
@without_runs
def sent_again(lab: Laboratory, cell: Cell, cut_s: float, hold: float) -> dict[str, float]:
    """Retransmissions of a transfer whose second path is cut, from a log with seed 1.

    `twice` and `twice_later`: packets that were sent again a second time before and after the cut.
    `gap`: the shortest time between two retransmissions of a packet before the cut, in the largest
    smoothed round trip of that moment; `sooner`: how many are shorter than `hold` after the cut.
    `moved`: the part of first retransmissions before the cut on another path. `stall`: the longest
    time without new data, in seconds, as a missing segment blocks later data once the receive
    buffer is full.
    """
    logs = logged(lab.configurations[cell])
    seen = _copies(logs)
    gaps: list[float] = []
    later: list[float] = []
    for times in seen.values():
        for (before, _), (after, _) in pairwise(times[1:]):
            gap = (after - before) / max(log.rtts.at(after, start=0.0) for log in logs)
            (gaps if after < cut_s else later).append(gap)
    moved = [
        times[0][1] != times[1][1]
        for times in seen.values()
        if len(times) > 1 and times[1][0] < cut_s
    ]
    begun = np.sort([times[0][0] for times in seen.values()])
    return {
        "twice": len(gaps),
        "gap": min(gaps, default=float("nan")),
        "twice_later": len(later),
        "sooner": sum(gap < hold for gap in later),
        "moved": float(np.mean(moved)) if moved else float("nan"),
        "stall": float(np.diff(begun).max(initial=0.0)),
    }


def _copies(logs: list[PathLog]) -> dict[float, list[tuple[float, int]]]:
    """Time and path of each copy of a segment, by its data sequence number."""
    every = sorted(
        (float(t), float(offset), p)
        for p, log in enumerate(logs)
        for t, offset in zip(log.sent_s, log.offsets, strict=True)
    )
    seen: dict[float, list[tuple[float, int]]] = {}
    for t, offset, p in every:
        seen.setdefault(offset, []).append((t, p))
    return seen


@measure
def arrived_packets(lab: Laboratory, cell: Cell) -> Floats:
    """Packets of 1500 bytes that arrived on the ensemble's only path."""
    return np.array([arrived[-1] for arrived, _ in _over_time(lab, cell)])


@measure
def loss_seen(lab: Laboratory, cell: Cell, low: float, high: float, imposed: float) -> Floats:
    """The loss event rate at which the response function gives TFRC's rate while so many packets
    have arrived; not a number if too few did. The loss that is `imposed` is added to what arrives.
    """
    t_s, found = times_s(lab[cell]), []
    for arrived, rtt_s in _over_time(lab, cell):
        inside = np.flatnonzero((arrived >= low) & (arrived < high))
        if len(inside) < 2:
            found.append(float("nan"))
            continue
        first, last = inside[0], inside[-1]
        rate = (arrived[last] - arrived[first]) / (t_s[last] - t_s[first]) / (1 - imposed)
        response = partial(theory.tfrc_rate_bps, rtt_s=rtt_s)
        found.append(theory.loss_at_rate(response, float(rate) * 12_000))
    return np.array(found)


def _over_time(lab: Laboratory, cell: str) -> Iterator[tuple[Floats, float]]:
    """For each seed the packets that had arrived at each sample, and the median round trip."""
    result = lab[cell]
    arrived, rtts = (series(result, ENSEMBLE, m)[..., 0] for m in ("arrived_bytes", "srtt_s"))
    yield from zip(arrived / 1500, np.median(rtts, axis=1).tolist(), strict=True)
