"""Tables of shared media: their stations, and links over media in which positions matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from ..plan import Plan
from ..planned_network import Station
from ..records import Indices, Numbers
from ..result import Result
from ..runs import Run
from ..statistics import COUNT, PERCENT, Quantity, column, interval
from .tables import Table
from .terminal import columns, named

MOST_ROWS = 24
"""Stations that are listed one by one; more are summed up by groups of nodes and media of several
channels.
"""


def group_of(plan: Plan, station: Station) -> str:
    """The group of nodes that a station belongs to, or its own name."""
    node = station.node
    return station.name if node is None else plan.nodes[node].group


def medium_of(name: str) -> str:
    """A medium, or a link over one, without the number of its channel."""
    whole, _, channel = name.rpartition("/")
    return whole if whole and channel.isdigit() else name


def grouped(plan: Plan) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Rows of the table of stations: what each is called, and the stations in it."""
    all_of = [(m, s) for m in plan.media for s in m.stations]
    rows: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for medium, station in all_of:
        own = (medium.name, station.name)
        several = len(all_of) > MOST_ROWS
        key = (medium_of(own[0]), group_of(plan, station)) if several else own
        rows.setdefault(key, []).append(own)
    return rows


def stations(result: Result) -> Table:
    """The stations of media; means of a group's stations."""
    plan = result.plan
    measured = plan.duration_s - plan.warmup_s
    places = grouped(plan)

    def each(metric: str) -> list[Numbers]:
        return [
            np.asarray(np.mean([result.station(*place, metric) for place in own], axis=0))
            for own in places.values()
        ]

    def cells(values: list[Numbers], quantity: Quantity) -> list[str]:
        return column([interval(of_group) for of_group in values], quantity)

    attempts = each("attempts")
    unanswered = [
        of_group / np.maximum(tried, 1e-9)
        for of_group, tried in zip(each("unanswered"), attempts, strict=True)
    ]
    return columns(
        "Stations",
        {
            "medium": [named(medium) for medium, _ in places],
            "station": [named(group) for _, group in places],
            "of": [str(len(own)) if len(own) > 1 else "" for own in places.values()],
            "sent 1/s": cells([tried / measured for tried in attempts], COUNT),
            "unanswered %": cells(unanswered, PERCENT),
            "given up": cells(each("failed_packets"), COUNT),
            "airtime %": cells(each("airtime"), PERCENT),
            "packets in queue": cells(each("queue_packets"), COUNT),
        },
        left=2,
    )


def ways(result: Result) -> Table:
    """Links over media with routing: means over replications of what all users of a link have
    together.
    """
    found = [(link, list(zip(result.runs, where, strict=True))) for link, where in of_links(result)]

    def each(metric: str, how: Any, quantity: Quantity) -> list[str]:
        values = [
            interval([how(run.ways.column(metric)[rows]) for run, rows in runs])
            for _, runs in found
        ]
        return column(values, quantity)

    routes = [travelled(runs) for _, runs in found]
    return columns(
        "Links over media with routing, of all users together",
        {
            "link": [named(link) for link, _ in found],
            "of": [str(len(runs[0][1])) for _, runs in found],
            "in reach %": each("connected", np.mean, PERCENT),
            "no route packets": each("unreachable_packets", np.sum, COUNT),
            "route changes": each("route_changes", np.sum, COUNT),
            "hops": column([hops for hops, _ in routes], COUNT),
            "most used route": [named(route) for _, route in routes],
        },
    )


Rows: TypeAlias = tuple[Run, Indices]
"""A run and some rows of its table `ways`."""


def of_links(result: Result) -> Iterator[tuple[str, list[Indices]]]:
    """Each link of `ways` without its channel, and for each replication its rows there."""
    names = [medium_of(name) for name in result.runs[0].ways.link]
    for link in dict.fromkeys(names):
        rows = [
            np.flatnonzero([medium_of(name) == link for name in run.ways.link])
            for run in result.runs
        ]
        yield link, rows


def travelled(runs: list[Rows]) -> tuple[float, str]:
    """How many hops packets of some ways took, on average; and the route of most of them, if all
    have the same ends.
    """
    used: Counter[str] = Counter()
    for run, ways in runs:
        rows = zip(run.routes.nodes, run.routes.way, run.routes.packets, strict=True)
        for nodes, way, packets in rows:
            if way in ways:
                used[nodes] += int(packets)
    if not used:
        return float("nan"), "–"
    hops = sum(nodes.count(" > ") * packets for nodes, packets in used.items()) / used.total()
    ends = {(nodes.split(" > ")[0], nodes.split(" > ")[-1]) for nodes in used}
    route, packets = used.most_common(1)[0]
    return hops, f"{route} ({100 * packets / used.total():.0f} %)" if len(ends) == 1 else "–"


def unreachable(result: Result) -> Iterator[str]:
    """Warnings on links whose ends never reach each other."""
    for link, where in of_links(result):
        runs = zip(result.runs, where, strict=True)
        connected = np.array([run.ways.connected[rows] for run, rows in runs])
        never = int(np.sum(np.all(connected == 0, axis=0)))
        if never:
            users = connected.shape[1]
            whose = "" if never == users else f", for {never} of its {users} users"
            yield (
                f"`{link}`: its ends never reach each other{whose}: their nodes are too far apart for the rate of data; lower "
                "`rate`, raise `radio.power_dbm`, or bring them nearer"
            )
