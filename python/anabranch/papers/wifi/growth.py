"""How fast linked increases let the multipath client's windows grow, relative to New Reno."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..laboratory import Laboratory
from ..library import Cell, Floats, Metric, Users, measure
from .flows import samples

PACKET_BYTES = 1500


def _both(lab: Laboratory, cell: Cell, *metrics: str) -> Iterator[Floats]:
    """Metrics over time of both subflows, each of shape (2, seeds, samples)."""
    for metric in metrics:
        yield np.stack(
            [samples(lab, cell, Users("multipath"), path, Metric(metric)) for path in (0, 1)]
        )


@measure
def increase(lab: Laboratory, cell: Cell, by_time: bool = False) -> Floats:
    """Growth for each ACK by RFC 6356, Section 3, at the sampled windows, over New Reno's 1/w_r.

    It is the mean over packets that arrived, or over time and both subflows.
    """
    w, rtt, arrived = _both(lab, cell, "cwnd_segments", "srtt_s", "arrived_bytes")
    rtt = np.where(rtt > 0, rtt, np.inf)
    linked = (w / rtt**2).max(axis=0) / (w / rtt).sum(axis=0) ** 2
    ratio = np.minimum(linked * w, 1.0)[..., :-1]
    packets = np.ones_like(ratio) if by_time else np.diff(arrived)
    known = np.isfinite(ratio)
    weighted, weight = (
        np.where(known, x, 0.0).sum(axis=(0, 2)) for x in (ratio * packets, packets)
    )
    return np.asarray(weighted / weight)


@measure
def seen_increase(lab: Laboratory, cell: Cell) -> Floats:
    """The same as the windows grew in fact: between samples without a reduction, above ssthresh."""
    w, ssthresh, arrived = _both(lab, cell, "cwnd_segments", "ssthresh_segments", "arrived_bytes")
    grown, packets, before = np.diff(w), np.diff(arrived) / PACKET_BYTES, w[..., :-1]
    counted = (grown > 0) & (before > ssthresh[..., :-1]) & (packets > 0)
    growth, weight = (np.where(counted, x, 0.0).sum(axis=(0, 2)) for x in (grown * before, packets))
    return np.asarray(growth / np.maximum(weight, 1.0))
