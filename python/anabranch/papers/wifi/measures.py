"""What the chapter's ledger measures beyond the basic measures: flows over time, interfaces, and
the plan of its networks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...plan import Plan, Wifi
from ..laboratory import Laboratory
from ..library import Cell, Floats, Metric, Users, measure, plan_of, without_runs
from . import figures, flows, growth, logs  # noqa: F401
from .flows import warm

GHZ = {"a": "5", "b": "2.4", "g": "2.4"}
"""Bands of the amendments of 802.11 that the networks use."""

# Classes, stations.


@measure
def of_class(lab: Laboratory, cell: Cell, users: Users, metric: Metric) -> Floats:
    """A metric of a class as a whole."""
    index = lab[cell].classes.index(users)
    return np.array([run.classes.column(metric)[index] for run in lab[cell].runs], dtype=float)


@measure
def station(lab: Laboratory, cell: Cell, medium: str, name: str, metric: Metric) -> Floats:
    """A metric of a station of a medium."""
    return lab[cell].station(medium, name, metric)


@measure
def longest_queue(lab: Laboratory, cell: Cell, host: str = "") -> Floats:
    """The longest queue of a host's interfaces in any sample after the warm-up, in packets. Without
    a host it is that of all stations in any sample.
    """
    found = []
    for run in lab[cell].runs:
        queues = np.asarray(run.series.stations.queue_packets)
        if host:
            queues = queues[warm(lab, cell) :, np.asarray(run.stations.name) == host]
        found.append(float(queues.max()))
    return np.array(found)


@measure
def together(many: Sequence[ArrayLike]) -> Floats:
    """Rates of several users side by side, shape (seeds, users)."""
    return np.stack([np.asarray(one) for one in many], axis=1)


# What has been run.


@measure
def those_run(lab: Laboratory, cells: Sequence[str]) -> list[str]:
    """Those of some cells that have been run. An explanation that names cells in this way alone
    does not need them.
    """
    return [cell for cell in cells if cell in lab.results]


# The plan.


def _plan(lab: Laboratory, cell: str) -> Plan:
    plan: Plan = plan_of(lab.configurations[cell])
    return plan


@measure
@without_runs
def stations(lab: Laboratory, cell: Cell) -> dict[str, list[str]]:
    """The stations of each medium of the cell."""
    return {m.name: [s.name for s in m.stations] for m in _plan(lab, cell).media}


@measure
@without_runs
def routes(lab: Laboratory, cell: Cell) -> dict[str, list[list[str]]]:
    """The links of each path of each class of the cell."""
    plan = _plan(lab, cell)
    return {c.name: [[plan.links[i].name for i in p.links] for p in c.paths] for c in plan.classes}


@measure
@without_runs
def bands(lab: Laboratory, cell: Cell) -> list[str]:
    """The bands of the cell's networks in GHz."""
    return sorted({GHZ[m.standard] for m in _plan(lab, cell).media if isinstance(m, Wifi)})


@measure
@without_runs
def air_mbps(lab: Laboratory, cell: Cell) -> list[float]:
    """The rates at which the cell's networks send data, in Mb/s."""
    return [m.rate_bps / 1e6 for m in _plan(lab, cell).media if isinstance(m, Wifi)]


@measure
@without_runs
def line(lab: Laboratory, cell: Cell, link: str) -> list[float]:
    """The rate of a link of the cell in Mb/s, and the capacity of its queue in packets."""
    (one,) = (one for one in _plan(lab, cell).links if one.name == link)
    return [(one.rate_bps or 0) / 1e6, (one.queue and one.queue.limit_packets) or 0]
