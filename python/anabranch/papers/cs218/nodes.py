"""What nodes are, how they move, and what their stations count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...plan import Plan
from ...runs import Run
from ..laboratory import Laboratory
from ..library import Cell, Floats, measure, plan_of, without_runs


def heads(plan: Plan, link: int) -> set[str]:
    """The receiving stations of a link over media."""
    return {
        plan.media[way.medium].stations[station].name
        for way in plan.links[link].attachments
        for station in way.to
    }


def roles_in(plan: Plan) -> dict[str, int]:
    """Number of nodes in each of the report's roles, by the ends of the flows."""
    ends: dict[str, set[str]] = {"MPTCP server": set(), "UDP server": set()}
    clients = {"MPTCP clients": 0, "UDP clients": 0}
    for c in plan.classes:
        kind = "UDP" if c.protocol == "udp" else "MPTCP"
        clients[f"{kind} clients"] += c.count
        for path in c.paths:
            ends[f"{kind} server"] |= heads(plan, path.links[-1])
    return {**{role: len(nodes) for role, nodes in ends.items()}, **clients}


@measure
@without_runs
def roles(lab: Laboratory, cell: Cell) -> dict[str, int]:
    """Number of nodes in each of the report's roles."""
    return roles_in(plan_of(lab.configurations[cell]))


@measure
@without_runs
def stations_on(lab: Laboratory, cell: Cell, users: str) -> list[list[str]]:
    """The stations that the paths of a class reach one after the other, each route once, sorted."""
    plan = plan_of(lab.configurations[cell])
    (own,) = (c for c in plan.classes if c.name == users)
    found = [[" or ".join(sorted(heads(plan, n))) for n in path.links] for path in own.paths]
    return sorted(route for number, route in enumerate(found) if route not in found[:number])


@measure
def travelled(lab: Laboratory, cell: Cell) -> Floats:
    """Largest distance of a node from its start in m, mean over the nodes."""
    tables = [run.series.nodes for run in lab[cell].runs]
    places = [np.stack([nodes.column(k) for k in ("x_m", "y_m")]) for nodes in tables]
    return np.array([np.hypot(*(p - p[:, :1])).max(axis=0).mean() for p in places])


@measure
def least_connected(lab: Laboratory, cell: Cell) -> float:
    """The least part of the time in which the ends of a way were connected, over all runs."""
    return min(float(min(run.ways.connected)) for run in lab[cell].runs)


@measure
def changed(lab: Laboratory, cells: Sequence[Cell], counter: str) -> dict[str, int]:
    """By how much a counter of all stations differs between two cells, by medium, over all
    seeds.
    """
    found: dict[str, int] = {}
    first, second = (lab[cell].runs for cell in cells)
    for one, other in zip(first, second, strict=True):
        rows = (np.asarray(run.stations.column(counter), dtype=int) for run in (one, other))
        for medium, a, b in zip(one.stations.medium, *rows, strict=True):
            found[medium] = found.get(medium, 0) + abs(int(a) - int(b))
    return found


@measure
def handovers(lab: Laboratory, cell: Cell, medium: str, prefix: str) -> Floats:
    """Changes of the access point of the stations whose names begin so, mean over these."""
    found = []
    for run in lab[cell].runs:
        media, names = run.stations.medium, run.stations.name
        own = [m == medium and n.startswith(prefix) for m, n in zip(media, names, strict=True)]
        found.append(float(np.mean(np.asarray(run.stations.handovers)[own])))
    return np.array(found)


def _ways(run: Run, link: str) -> list[int]:
    names = [str(one).split("/")[0] for one in run.ways.link]
    return [number for number, name in enumerate(names) if name == link]


@measure
def of_ways(lab: Laboratory, cell: Cell, link: str, column: str) -> Floats:
    """A column of the ways of a link, mean over its channels."""
    runs = lab[cell].runs
    return np.array([np.asarray(r.ways.column(column), float)[_ways(r, link)].mean() for r in runs])


@measure
def routes_used(lab: Laboratory, cell: Cell, link: str) -> Floats:
    """How many routes the packets of a link took, mean over its channels."""
    runs = lab[cell].runs
    return np.array(
        [np.mean([np.sum(np.asarray(r.routes.way) == way) for way in _ways(r, link)]) for r in runs]
    )


@measure
def hops(lab: Laboratory, cell: Cell, link: str) -> Floats:
    """Hops of a packet of a link, mean over those of its channels that had a route; runs without a
    route are left out.
    """
    found = []
    for run in lab[cell].runs:
        way = np.asarray(run.routes.way, dtype=int)
        packets = np.asarray(run.routes.packets, dtype=float)
        each = np.array([route.count(" > ") for route in run.routes.nodes], dtype=float)
        own = [way == number for number in _ways(run, link) if (way == number).any()]
        if own:
            found.append(np.mean([packets[w] @ each[w] / packets[w].sum() for w in own]))
    return np.array(found)
