"""Positions of the nodes of a result, and the stations that flows use: the common part of maps.

A *site* is a node of the plan, or a station of a medium that is not a node; one site stands for the
stations of a node on all media. Coordinates are metres. Sites without a position stand in rows
below the ground, a row for each medium, or, if no site has a position, on a circle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..plan import Plan
from ..planned_network import Bus, Cell, Medium, Wifi
from ..result import Result
from ..runs import Run

WIDEST, TALLEST = 3.0, 1.1
"""Width over height, and height over width, from which on a ground is stretched to be legible."""
ROW = 0.17
"""Distance between the ground and a row below it, as a part of the ground's width."""
STEM = 0.05
"""Distance between a bus and its stations, likewise."""
CIRCLE_M, FLAT = 100.0, 0.55
"""If no site has a position: width of the picture, and its height as a fraction of the width."""


@dataclass(frozen=True)
class Site:
    """A node, or a station that is not a node."""

    name: str
    group: str
    """The group of nodes that it belongs to; its own name, if none."""
    role: str
    """"node", "access" for an access point, or "base" for a base station."""
    x_m: NDArray[np.float64]
    """Metres to the east at each sample."""
    y_m: NDArray[np.float64]
    """Metres to the north at each sample."""
    placed: bool
    """Whether the position comes from the simulation; otherwise only the drawing has chosen it."""
    moves: bool
    """Whether the site moves during the run."""


@dataclass(frozen=True)
class Row:
    """A row of sites without a place; a line for a bus."""

    name: str
    medium: Medium
    """The medium that its sites share."""
    y_m: float
    """Height of the row; for a bus, of its line."""
    x_m: tuple[float, float]
    """From where to where it goes."""
    sites: tuple[int, ...]
    """For a bus, all sites on it, including those with a position; otherwise the sites of
    the row.
    """


@dataclass(frozen=True)
class Ground:
    """Sites and where they are drawn."""

    sites: list[Site]
    stations: list[list[int]]
    """For each medium of the plan the sites of its stations."""
    media: list[Medium]
    """The media of the plan."""
    area: tuple[float, float, float, float] | None
    """West, south, east and north end of the ground in metres; None where nothing has a place."""
    box: tuple[float, float, float, float]
    """The same of all that is drawn."""
    stretch: float
    """By how much a metre to the north is longer than one to the east."""
    rows: list[Row] = field(default_factory=list)

    def bus(self, medium: int) -> int:
        """Number of the row that draws the bus of a medium; -1 if the medium is not a bus."""
        for number, row in enumerate(self.rows):
            on_it = isinstance(self.media[medium], Bus) and isinstance(row.medium, Bus)
            if on_it and set(self.stations[medium]) == set(row.sites):
                return number
        return -1

    def groups(self) -> list[str]:
        """The groups of sites, each once."""
        return list(dict.fromkeys(site.group for site in self.sites))


def has_ground(plan: Plan) -> bool:
    """Whether a plan has nodes or media, rather than wires only."""
    return bool(plan.media or plan.nodes)


def ground(result: Result, run: Run) -> Ground:
    """The sites of a run with series. Raises ValueError if there are none, or if the run has no
    positions.
    """
    plan = result.plan
    if not has_ground(plan):
        raise ValueError(f"{plan.name} has neither nodes nor media; there is no map of it")
    if not run.series.has("nodes"):
        raise ValueError("the result has no samples of nodes; run it again")
    sites, stations = all_sites(plan, run)
    placed = [number for number, site in enumerate(sites) if site.placed]
    if placed:
        area = around(plan, [sites[number] for number in placed])
        known = Ground(sites, stations, plan.media, area, area, stretch_of(area))
        return in_rows(known, plan, set(placed))
    square = (0.0, 0.0, CIRCLE_M, CIRCLE_M)
    bare = Ground(sites, stations, plan.media, None, square, FLAT)
    on_it, order = on_circle(bare)
    return in_rows(on_it, plan, set(order))


def all_sites(plan: Plan, run: Run) -> tuple[list[Site], list[list[int]]]:
    """Every node and every other station, and for each medium the sites of its stations."""
    series, samples = run.series.nodes, len(run.series.t_s)
    roles = roles_of(plan)
    sites = []
    for number, node in enumerate(plan.nodes):
        x_m, y_m = (axis[:, number] for axis in (series.x_m, series.y_m))
        moves = bool(np.ptp(x_m) > 0 or np.ptp(y_m) > 0)
        name = node.name
        role = roles.get(name, "node")
        sites.append(Site(name, node.group, role, x_m, y_m, True, moves))
    known = {site.name: number for number, site in enumerate(sites)}
    stations = []
    for medium in plan.media:
        radio = None if isinstance(medium, Bus) else medium.radio
        has_places = radio and len({station.place_m for station in medium.stations}) > 1
        for station in medium.stations:
            name = station.name
            x_m, y_m = (np.full(samples, value) for value in station.place_m)
            role = roles.get(name, "node")
            here = Site(name, name, role, x_m, y_m, bool(has_places), False)
            if name not in known:
                known[name] = len(sites)
                sites.append(here)
            elif has_places and not sites[known[name]].placed:
                sites[known[name]] = here
        stations.append([known[station.name] for station in medium.stations])
    return sites, stations


def roles_of(plan: Plan) -> dict[str, str]:
    """Stations that are access points or base stations, by name.

    An access point is any of several ends of a link, and on a medium without routing the one that
    all links share.
    """
    roles = {}
    ends: dict[int, list[set[int]]] = {}
    for link in plan.links:
        for here in link.attachments:
            stations = plan.media[here.medium].stations
            for end in (here.from_, here.to):
                if len(end) > 1:
                    roles.update({stations[one].name: "access" for one in end})
            ends.setdefault(here.medium, []).append({*here.from_, *here.to})
    for number, medium in enumerate(plan.media):
        names = [station.name for station in medium.stations]
        if isinstance(medium, Cell):
            roles[names[0]] = "base"
        elif isinstance(medium, Wifi) and not medium.routing:
            shared = set.intersection(*ends.get(number, [set()]))
            if len(shared) == 1:
                roles.setdefault(names[shared.pop()], "access")
    return roles


def around(plan: Plan, placed: list[Site]) -> tuple[float, float, float, float]:
    """The area of the plan, extended to all positions outside it."""
    west = min(float(site.x_m.min()) for site in placed)
    east = max(float(site.x_m.max()) for site in placed)
    south = min(float(site.y_m.min()) for site in placed)
    north = max(float(site.y_m.max()) for site in placed)
    area = plan.area
    if area:
        west, south = min(west, 0.0), min(south, 0.0)
        return west, south, max(east, area.width_m), max(north, area.height_m)
    margin = 0.1 * max(east - west, north - south, 1.0)
    return west - margin, south - margin, east + margin, north + margin


def stretch_of(area: tuple[float, float, float, float]) -> float:
    """By how much the ground is stretched so that it is neither a line to the east nor one to the
    north.
    """
    west, south, east, north = area
    ratio = (east - west) / max(north - south, 1e-9)
    return max(ratio / WIDEST, 1.0) if ratio >= 1 else min(ratio * TALLEST, 1.0)


def on_circle(of: Ground) -> tuple[Ground, list[int]]:
    """Places sites on a circle, and returns them in order: sites of media except buses, by
    medium.
    """
    turn = [
        site
        for number, stations in enumerate(of.stations)
        if not isinstance(of.media[number], Bus)
        for site in stations
    ]
    sites = list(of.sites)
    order = list(dict.fromkeys(turn))
    for place, site in enumerate(order):
        angle = math.pi * (0.5 - 2 * place / len(order))
        x_m, y_m = (0.5 * CIRCLE_M + 0.42 * CIRCLE_M * f(angle) for f in (math.cos, math.sin))
        sites[site] = moved(sites[site], x_m, y_m)
    return replace(of, sites=sites), order


def moved(site: Site, x_m: float, y_m: float) -> Site:
    """A site that is drawn in one place all the time."""
    still = np.ones(len(site.x_m))
    return replace(site, x_m=x_m * still, y_m=y_m * still, moves=False)


def in_rows(of: Ground, plan: Plan, done: set[int]) -> Ground:
    """Adds a row for each bus, and one for each medium with sites that are not `done`."""
    west, south, east, north = of.box
    unit = (east - west) / of.stretch
    sites, rows, y_m = list(of.sites), [], south
    names = [medium.name.partition("/")[0] for medium in plan.media]
    for number, medium in enumerate(of.stations):
        is_bus = isinstance(of.media[number], Bus)
        new = [site for site in dict.fromkeys(medium) if site not in done]
        if not new and not is_bus:
            continue
        y_m -= ROW * unit
        below = y_m - STEM * unit if is_bus else y_m
        for place, site in enumerate(new):
            x_m = west + (east - west) * (place + 0.5) / len(new)
            sites[site] = moved(sites[site], x_m, below)
        done.update(new)
        shown = tuple(dict.fromkeys(medium)) if is_bus else tuple(new)
        ends = (west + 0.02 * (east - west), east - 0.02 * (east - west))
        rows.append(Row(names[number], of.media[number], y_m, ends, shown))
        y_m = below
    for node in (n for n in range(len(sites)) if n not in done):
        y_m -= ROW * unit  # nodes on no medium at all
        sites[node] = moved(sites[node], 0.5 * (west + east), y_m)
    bottom = y_m - 0.05 * unit if y_m < south else south
    return replace(of, sites=sites, rows=rows, box=(west, bottom, east, north))
