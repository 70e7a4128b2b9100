"""Quantities that claims read from configurations: rates, shares, windows over time; one value for
each seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...result import Result
from ...statistics import Interval, interval, ratio_of_means
from ..findings import Check, within
from ..laboratory import Laboratory

Floats = NDArray[np.float64]

MULTIPATH = "multipath"
PARALLEL = ("parallel-1", "parallel-2")
FLOWS = ((MULTIPATH, 0), (MULTIPATH, 1), (PARALLEL[0], 0), (PARALLEL[1], 0))
"""Class and path of the four flows: one of each kind in each network."""
CALLED = ("subflow 1", "subflow 2", "parallel flow 1", "parallel flow 2")
NETWORKS = (("first", 1), ("second", 2))
"""A medium, and the number in the names of its flows and hosts."""
PACKET_BYTES = 1500


def exact(value: float) -> Interval:
    """A number without spread."""
    return Interval(float(value), 0.0, 1)


def change(after: Floats, before: Floats) -> Interval:
    """The ratio of two means over runs with the same seeds, less 1."""
    ratio = ratio_of_means(after, before)
    return Interval(ratio.mean - 1, ratio.half, ratio.n)


def flow(lab: Laboratory, configuration: str, index: int, metric: str = "throughput_bps") -> Floats:
    """A metric of one of the four flows."""
    name, path = FLOWS[index]
    return np.asarray(lab[configuration].path(name, path, metric)[:, 0])


def mbps(lab: Laboratory, configuration: str, index: int) -> Floats:
    """Rate of one of the four flows, in Mb/s."""
    return flow(lab, configuration, index) / 1e6


def multipath(lab: Laboratory, configuration: str) -> Floats:
    """Rate of the multipath client in both networks, in Mb/s."""
    return mbps(lab, configuration, 0) + mbps(lab, configuration, 1)


def parallel(lab: Laboratory, configuration: str) -> Floats:
    """The mean of the parallel flows, in Mb/s."""
    return (mbps(lab, configuration, 2) + mbps(lab, configuration, 3)) / 2


def total(lab: Laboratory, configuration: str) -> Floats:
    """Rate of all four flows, in Mb/s."""
    return multipath(lab, configuration) + 2 * parallel(lab, configuration)


def share(lab: Laboratory, configuration: str) -> Floats:
    """The multipath client's part of that."""
    return multipath(lab, configuration) / total(lab, configuration)


def beside(lab: Laboratory, configuration: str) -> Floats:
    """Each subflow over the parallel flow of its network, shape (seeds, 2)."""
    return np.stack(
        [mbps(lab, configuration, p) / mbps(lab, configuration, p + 2) for p in (0, 1)], axis=1
    )


def series(result: Result, metric: str, name: str, path: int = 0) -> list[Floats]:
    """A path's series after the warm-up for each seed."""
    found = []
    for run in result.runs:
        classes = np.asarray(run.flows.class_)[run.paths.flow]
        own = (classes == name) & (np.asarray(run.paths.path) == path)
        (column,) = np.flatnonzero(own)
        found.append(np.asarray(run.series.paths.column(metric))[warm(result) :, column])
    return found


def warm(result: Result) -> int:
    """The first sample that counts."""
    samples: int = round(result.plan.warmup_s / result.plan.sample_s)
    return samples


def windows_bytes(lab: Laboratory, configuration: str, index: int) -> list[Floats]:
    """The window of one of the four flows over time, in bytes on the wire."""
    name, path = FLOWS[index]
    return [w * PACKET_BYTES for w in series(lab[configuration], "cwnd_segments", name, path)]


def of_windows(
    lab: Laboratory, configuration: str, index: int, reduce: Callable[[Floats], float]
) -> Floats:
    """A number of each seed's window over time."""
    return np.array([reduce(w) for w in windows_bytes(lab, configuration, index)])


def samples_mbps(result: Result, name: str, path: int, seconds: float = 1.0) -> list[Floats]:
    """Throughput in pieces of so many seconds, for each seed."""
    step = round(seconds / result.plan.sample_s)
    return [
        np.diff(arrived[::step]) * 8e-6 / seconds
        for arrived in series(result, "arrived_bytes", name, path)
    ]


def medians(
    lab: Laboratory, configuration: str, flows: Sequence[tuple[str, int]] = FLOWS[:2]
) -> Floats:
    """The median of 1 s pieces of a flow's throughput, mean of the subflows or of other flows."""
    found = [
        [np.median(rates) for rates in samples_mbps(lab[configuration], *flow)] for flow in flows
    ]
    return np.asarray(np.mean(found, axis=0), dtype=float)


def interfaces(lab: Laboratory, configuration: str, metric: str) -> Floats:
    """A metric of the interfaces of the four flows, shape (seeds, 4), in their order."""
    names = [("first", "client"), ("second", "client"), ("first", "other-1"), ("second", "other-2")]
    return np.stack([lab[configuration].station(m, s, metric) for m, s in names], axis=1)


def rtt_ms(lab: Laboratory, configuration: str, name: str, metric: str = "rtt_mean_s") -> Floats:
    """A round-trip time of a class."""
    index = lab[configuration].classes.index(name)
    return np.array([1e3 * run.classes.column(metric)[index] for run in lab[configuration].runs])


def loss_places(lab: Laboratory, configuration: str, way: str) -> tuple[Floats, Floats, Floats]:
    """Packets of the multipath client that the queue before the air dropped, that the air took, and
    that the wire dropped; `way` is "up" or "down"."""
    result = lab[configuration]
    wires = "wire" if way == "up" else "wire-back"

    def over(prefix: str, metric: str) -> Floats:
        return np.asarray(sum(result.link(f"{prefix}-{i}", metric) for i in (1, 2)))

    return over(way, "dropped_packets"), over(way, "lost_packets"), over(wires, "dropped_packets")


def within_band(values: Floats, band: tuple[float | None, float | None]) -> NDArray[np.bool_]:
    """For each seed, whether its value is in a band."""
    low, high = (
        end if end is not None else sign * np.inf for end, sign in zip(band, (-1, 1), strict=True)
    )
    return np.asarray((values >= low) & (values <= high))


def most(name: str, published: Any, holding: NDArray[np.bool_], least: float) -> Check:
    """Checks that something holds in at least a fraction of the seeds."""
    part = exact(float(np.mean(holding)))
    return within(f"{name} (part of the seeds)", published, part, least, None)


def listed(points: Mapping[str, Floats], unit: str = "") -> str:
    """Values by name in words."""
    return ", ".join(f"{where} {interval(values)}{unit}" for where, values in points.items())


def each_flow(of: Callable[[int], Floats], unit: str = "") -> str:
    """Values of the four flows in words."""
    return listed({name: of(index) for index, name in enumerate(CALLED)}, unit)


def columns(values: Floats) -> Callable[[int], Floats]:
    """Selects the values of one flow from those of all four, shape (seeds, 4)."""
    return lambda index: values[:, index]
