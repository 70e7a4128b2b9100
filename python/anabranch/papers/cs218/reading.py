"""What claims read out of cells: rates, ratios, times; one value for each seed."""

from __future__ import annotations

import numpy as np

from ...result import Result
from ...statistics import Interval
from .paired import Floats

MULTIPATH, TCP = "multipath", "tcp"
"""Classes: the connection with several paths, and the TCP beside it."""


def exact(value: float) -> Interval:
    """A number without spread."""
    return Interval(float(value), 0.0, 1)


def mbps(result: Result, name: str = MULTIPATH) -> Floats:
    """Throughput of a class in Mb/s, on the wire."""
    return result.rate(name) / 1e6


def over_tcp(result: Result) -> Floats:
    """The connection's rate over that of the TCP beside it."""
    return np.asarray(result.rate(MULTIPATH) / result.rate(TCP))


def losses_per_10000(result: Result, name: str) -> Floats:
    """Congestion events of all paths of a class for 10,000 packets sent."""
    (planned,) = (c for c in result.plan["classes"] if c["name"] == name)

    def total(metric: str) -> Floats:
        paths = range(len(planned["paths"]))
        return np.asarray(sum(result.path(name, p, metric).sum(axis=1) for p in paths))

    return np.asarray(1e4 * (total("recoveries") + total("timeouts")) / total("sent_packets"))


def fill_s(result: Result, half: float, whole: float) -> Floats:
    """Seconds in which the window of the connection's first path grows from `half` to `whole`, in segments.

    From the first sample of at least `half` after the warm-up; infinite where it does not get there.
    """
    found = []
    for run in result.runs:
        t_s = np.asarray(run["series"]["t_s"], dtype=float)
        windows = np.asarray(run["series"]["paths"]["cwnd_segments"], dtype=float)[:, 0]
        later = t_s >= result.plan["warmup_s"]
        begins, ends = (t_s[later & (windows >= w)] for w in (half, whole))
        found.append(round(float(ends[0] - begins[0]), 6) if len(begins) and len(ends) else np.inf)
    return np.array(found)
