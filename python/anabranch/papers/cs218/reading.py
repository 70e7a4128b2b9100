"""Quantities that claims read from configurations: rates, ratios, times; one value for
each seed.
"""

from __future__ import annotations

import numpy as np

from ...result import Result
from ...statistics import Interval
from .paired import Floats

MULTIPATH, TCP = "multipath", "tcp"
"""Classes: the connection with several paths, and the competing TCP."""


def exact(value: float) -> Interval:
    """A number without spread."""
    return Interval(float(value), 0.0, 1)


def mbps(result: Result, name: str = MULTIPATH) -> Floats:
    """Throughput of a class in Mb/s, on the wire."""
    return result.rate(name) / 1e6


def over_tcp(result: Result) -> Floats:
    """The connection's rate over that of the competing TCP."""
    return np.asarray(result.rate(MULTIPATH) / result.rate(TCP))


def losses_per_10000(result: Result, name: str) -> Floats:
    """Congestion events of all paths of a class for 10,000 packets sent."""
    (planned,) = (c for c in result.plan.classes if c.name == name)

    def total(metric: str) -> Floats:
        paths = range(len(planned.paths))
        return np.asarray(sum(result.path(name, p, metric).sum(axis=1) for p in paths))

    return np.asarray(1e4 * (total("recoveries") + total("timeouts")) / total("sent_packets"))


def fill_s(result: Result, half: float, whole: float) -> Floats:
    """Seconds in which the window of the connection's first path grows from `half` to `whole`, in
    segments.

    From the first sample of at least `half` after the warm-up; infinite if it is not reached.
    """
    found = []
    for run in result.runs:
        t_s = np.asarray(run.series.t_s, dtype=float)
        windows = np.asarray(run.series.paths.cwnd_segments, dtype=float)[:, 0]
        later = t_s >= result.plan.warmup_s
        begins, ends = (t_s[later & (windows >= w)] for w in (half, whole))
        found.append(round(float(ends[0] - begins[0]), 6) if len(begins) and len(ends) else np.inf)
    return np.array(found)


def per_path(result: Result, metric: str, name: str = MULTIPATH) -> Floats:
    """A path metric of a class, shape (seeds, users, paths)."""
    (planned,) = (c for c in result.plan.classes if c.name == name)
    columns = [result.path(name, p, metric) for p in range(len(planned.paths))]
    return np.stack(columns, axis=-1)


def over_time(result: Result, metric: str, name: str = MULTIPATH) -> Floats:
    """A series of the paths of a class, shape (seeds, samples, paths of all users, a user's
    together).
    """
    found = []
    for run in result.runs:
        classes = np.asarray(run.flows.class_)
        rows = classes[np.asarray(run.paths.flow, dtype=int)] == name
        found.append(np.asarray(run.series.paths.column(metric), dtype=float)[:, rows])
    return np.stack(found)


def times_s(result: Result) -> Floats:
    """When samples were taken, the same in every replication."""
    return np.asarray(result.runs[0].series.t_s, dtype=float)


def goodput(result: Result, name: str = MULTIPATH) -> Floats:
    """Payload delivered in order, in Mb/s."""
    return result.rate(name, "goodput_bps") / 1e6


def rtt_ms(result: Result) -> Floats:
    """Smoothed round trip in ms, mean over the subflows of the connection and over time."""
    return np.asarray(1e3 * per_path(result, "srtt_s").mean(axis=(1, 2)))


def rto_ms(result: Result) -> Floats:
    """Retransmission timeout in ms, mean over the subflows of the connection and over time."""
    return np.asarray(1e3 * per_path(result, "rto_s").mean(axis=(1, 2)))


def sent(result: Result) -> Floats:
    """Packets that the connection sent."""
    return np.asarray(per_path(result, "sent_packets").sum(axis=(1, 2)))


def lost(result: Result) -> Floats:
    """Packets of the connection that were lost, of each that it sent."""
    return np.asarray(per_path(result, "lost_packets").sum(axis=(1, 2)) / sent(result))


def echoed(result: Result, name: str = "udp") -> Floats:
    """The part of a class's packets that came back."""
    back, out = (per_path(result, metric, name) for metric in ("echoed_packets", "sent_packets"))
    return np.asarray(back.sum(axis=(1, 2)) / out.sum(axis=(1, 2)))


def class_rtt_ms(result: Result, name: str) -> Floats:
    """Round trip of a class in ms: mean over users and samples of the newest one."""
    index = result.classes.index(name)
    return np.array([1e3 * run.classes.rtt_mean_s[index] for run in result.runs])


def gaps_s(arrived: Floats, sample_s: float) -> Floats:
    """Lengths of the stretches of samples, shape (samples,), over which a count did not
    grow, in s.
    """
    still = np.concatenate(([0], (np.diff(arrived) == 0).astype(int), [0]))
    edges = np.flatnonzero(np.diff(still))
    return np.asarray((edges[1::2] - edges[::2]) * sample_s, dtype=float)
