"""The data of an animation, in compact form: whole numbers for positions, three digits for other
values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...plan import Class, Path, Plan
from ...result import Result
from ...runs import Run
from .. import style
from ..ground import Ground, Site, ground, has_ground
from ..inputs import path_columns, present
from ..labels import controllers
from ..pipes import has_pipes, pipes, ways
from ..streams import (
    LATELY_S,
    Route,
    Stream,
    class_colours,
    colours,
    dashes,
    routes,
    streams,
)
from ..topology import GROUPS

STEPS = 4000
"""Resolution of positions: about this many steps over the ground."""
FEW_USERS = 8
"""In classes with more users, routes are drawn only for users with several paths."""
DARK = {
    "#0072B2": "#4FB0EE",
    "#D55E00": "#FF8B47",
    "#009E73": "#2CCB9B",
    "#CC79A7": "#EC9FCB",
    "#8C6D00": "#D4B23C",
    "#56B4E9": "#A5DCFF",
    "#7A3FB0": "#BC93F0",
    "#B00020": "#FF6F7F",
    "#5A6B00": "#AFC343",
    "#444444": "#C4C4C4",
    "#6B7785": "#93A1B0",
    "#A08B70": "#C9B594",
    "#8FA36B": "#B7CC92",
}
"""For each colour of a flow the one on a dark page."""

Pair = tuple[int, int, int]
"""A medium, and the sites at both ends of a hop; -1 for all others."""


def contents(result: Result, run: Run) -> dict[str, Any]:
    """The data of a run, as plain lists. Raises the errors of `ground`."""
    plan, known = result.plan, streams(result.plan)
    has_map = has_ground(plan)
    with_pipes = has_pipes(plan) or not has_map
    tones = colours(known) if has_map else class_colours(known)
    return {
        "name": plan.name,
        "title": plan.title or plan.name,
        "controller": controllers(result),
        "seed": run.seed,
        "warmup": plan.warmup_s,
        "t": [float(f"{value:.6g}") for value in run.series.t_s],
        "streams": [
            stream(result, run, one, (tone, dash))
            for one, tone, dash in zip(known, tones, dashes(known, tones), strict=True)
        ],
        "map": mapped(result, run, known) if has_map else None,
        "pipes": piped(result, run, known) if with_pipes else None,
    }


def mapped(result: Result, run: Run, known: Sequence[Stream]) -> dict[str, Any]:
    """Nodes and stations, the hops between them, and routes. Raises the errors of `ground`."""
    of = ground(result, run)
    all_routes = routes(result, run, of, known)
    sent, arrived = (lately(result, run, known, name) for name in ("sent_packets", "arrived_bytes"))
    hops = Hops(run, of, all_routes, (sent, arrived))
    unit_m = unit(of)
    return {
        "unit": unit_m,
        "area": of.area,
        "box": of.box,
        "stretch": of.stretch,
        "groups": [[name, GROUPS[n % len(GROUPS)]] for n, name in enumerate(of.groups())],
        "sites": [site(one, of.groups(), unit_m) for one in of.sites],
        "rows": [[row.name, row.medium.kind, row.y_m, *row.x_m, row.sites] for row in of.rows],
        "buses": [of.bus(medium) for medium in range(len(of.media))],
        "media": [medium.name for medium in result.plan.media],
        "edges": hops.edges,
        "hops": hops.rows,
        "routes": [
            [route.stream, route.user, route.medium, list(route.sites), times]
            for route in all_routes
            if shown(route, known) and (times := hops.current(route))
        ],
    }


def piped(result: Result, run: Run, known: Sequence[Stream]) -> dict[str, Any]:
    """Links and media as pipes; flows in Mb/s and drops per second are means of the last second."""
    plan, series = result.plan, run.series
    arrived = np.array(
        [
            series.paths.arrived_bytes[:, path_columns(result, run, one.name)[:, one.path]].sum(1)
            for one in known
        ]
    )
    flows = np.array([growth(series.t_s, row, LATELY_S) for row in 8e-6 * arrived])
    of = pipes(plan, known, 1e6 * flows.T)
    dropped = series.links.dropped_packets
    return {
        "height": of.height,
        "per_mbps": of.per_mbps,
        "flows": [rounded(row) for row in flows],
        "classes": [[one.name, one.count, controller_of(one)] for one in plan.classes],
        "pipes": [
            {
                "name": one.name,
                "of": one.rate_text,
                "room": one.room_packets,
                "marks": one.marks_packets,
                "rate": one.rate_bps and one.rate_bps / 1e6,
                "queue": rounded(series.links.queue_packets[:, one.link]) if one.link >= 0 else [],
                "drops": rounded(growth(series.t_s, dropped[:, one.link], LATELY_S))
                if one.link >= 0
                else [],
            }
            for one in of.pipes
        ],
        "slots": [[s.kind, s.number, *s.x, s.y, s.height, s.courses] for s in of.slots],
        "courses": [[course.stream, course.part, course.slots] for course in of.courses],
    }


def growth(
    t_s: NDArray[np.float64], counted: NDArray[np.float64], span_s: float
) -> NDArray[np.float64]:
    """By how much a count has grown per second over the last `span_s`; at the first sample zero."""
    before = np.minimum(np.searchsorted(t_s, t_s - span_s * 1.001), np.arange(len(t_s)))
    before[1:] = np.minimum(before[1:], np.arange(len(t_s) - 1))
    since = t_s - t_s[before]
    grown = counted - counted[before]
    return np.divide(grown, since, out=np.zeros(len(t_s)), where=since > 0)


def controller_of(planned: Class) -> str:
    """The congestion control of a class, or "UDP"."""
    return "UDP" if planned.protocol == "udp" else planned.controller


def unit(of: Ground) -> float:
    """Metres of a step, a power of ten."""
    west, south, east, north = of.box
    size: float = 10.0 ** math.floor(math.log10(max(east - west, north - south, 1e-6) / STEPS))
    return size


def site(one: Site, groups: Sequence[str], unit_m: float) -> list[Any]:
    """Name, group, role, whether it has a place, and steps to the east and north: the first and
    then differences.
    """
    samples = slice(None) if one.moves else slice(1)
    tracks = [np.rint(axis[samples] / unit_m).astype(int) for axis in (one.x_m, one.y_m)]
    east, north = (np.diff(track, prepend=0).tolist() for track in tracks)
    return [one.name, groups.index(one.group), one.role, int(one.placed), east, north]


def stream(result: Result, run: Run, one: Stream, look: tuple[str, int]) -> dict[str, Any]:
    """A path of a class: mean window of its users in segments, and their throughput in all in Mb/s;
    `look` is its colour and how many streams before it have the same.
    """
    tone, dash = look
    series, t_s = run.series, run.series.t_s
    columns = path_columns(result, run, one.name)[:, one.path]
    in_use = present(result, run, one.name)[:, :, one.path]
    count = in_use.sum(axis=1)
    cwnd = np.where(in_use, series.paths.cwnd_segments[:, columns], 0.0).sum(axis=1)
    arrived = series.paths.arrived_bytes[:, columns].sum(axis=1)
    mbps = 8e-6 * np.diff(arrived, prepend=arrived[:1]) / np.diff(t_s, prepend=-1.0)
    planned = result.plan.classes[one.index]
    return {
        "name": one.label,
        "users": one.users,
        "class": one.name,
        "first": one.path == 0,
        "several": one.multipath,
        "windows": planned.protocol != "udp",
        "colours": [tone, DARK.get(tone.upper()) or lighter(tone)],
        "dash": dash,
        "via": way_text(result.plan, planned.paths[one.path]),
        "cwnd": rounded(cwnd / np.maximum(count, 1)),
        "mbps": rounded(mbps),
    }


def lighter(tone: str) -> str:
    """A colour for a dark page: half way to white."""
    from matplotlib.colors import to_hex

    return to_hex(style.shade(tone, 1, 2))


def way_text(plan: Plan, path: Path) -> str:
    """The pipes of a path, and the round trip without queues."""
    names = " › ".join(dict.fromkeys(pipe.name for pipe in ways(plan, path.links)))
    return f"{names or 'nothing but delay'}, {1e3 * path.base_rtt_s:.4g} ms and queues"


def rounded(values: NDArray[np.float64] | Iterable[float]) -> list[float]:
    """Numbers of three digits, whole ones without a point."""
    texts = (float(f"{value:.3g}") for value in values)
    return [int(number) if number == int(number) else number for number in texts]


def shown(route: Route, known: Sequence[Stream]) -> bool:
    """Whether a map shows a route: it carries data, and its class has few users or several
    paths.
    """
    if route.stream < 0 or not route.forward:
        return False
    return known[route.stream].multipath or known[route.stream].users <= FEW_USERS


Counts = dict[tuple[int, int], NDArray[np.float64]]
"""For each stream and user a number at each sample."""


def lately(result: Result, run: Run, known: Sequence[Stream], metric: str) -> Counts:
    """By how much a series of the paths that counts from the start has grown since the sample
    before the last.
    """
    series = run.series.paths.column(metric)
    grown = {}
    for number, one in enumerate(known):
        for user, column in enumerate(path_columns(result, run, one.name)[:, one.path]):
            before = np.concatenate(([0.0, 0.0], series[:-2, column]))
            grown[number, user] = np.asarray(series[:, column] - before, dtype=float)
    return grown


class Hops:
    """Bytes sent from site to site between samples, by stream."""

    def __init__(
        self,
        run: Run,
        of: Ground,
        all_routes: Sequence[Route],
        counts: tuple[Counts, Counts],
    ) -> None:
        """Goes through the samples of hops; `counts` are packets sent and bytes that arrived, both
        lately.
        """
        self.sent, self.arrived = counts
        self.t_s: NDArray[np.float64] = run.series.t_s
        self.edges: list[list[int]] = []
        """Medium, from, to (-1 for all), stream (-1 if unknown)."""
        self.rows: list[list[float]] = [[] for _ in self.t_s]
        """For each sample edge, bytes and messages of each edge in use."""
        self.used: list[set[Pair]] = [set() for _ in self.t_s]
        self.places: dict[tuple[int, int, int, int], int] = {}
        self.owners: dict[Pair, list[Route]] = {}
        for route in all_routes:
            for start, end in zip(route.sites, route.sites[1:], strict=False):
                self.owners.setdefault((route.medium, start, end), []).append(route)
        table = run.series.nodes.hops
        names = ("sample", "medium", "from", "to", "bytes", "messages")
        for row in zip(
            *(np.asarray(table.column(name), dtype=int).tolist() for name in names), strict=True
        ):
            self.add(of, *row)

    def add(
        self, of: Ground, sample: int, medium: int, start: int, end: int, count: int, messages: int
    ) -> None:
        """A row of the table of hops; ends are stations of the medium."""
        sites = of.stations[medium]
        pair = (medium, sites[start], sites[end] if end >= 0 else -1)
        for number, (owner, part) in enumerate(
            self.owners_at(pair, sample) if count else [(-1, 1.0)]
        ):
            key = (*pair, owner)
            if key not in self.places:
                self.places[key] = len(self.edges)
                self.edges.append(list(key))
            self.rows[sample] += [
                self.places[key],
                *rounded([part * count]),
                messages * (not number),
            ]
        if count:
            self.used[sample].add(pair)

    def owners_at(self, pair: Pair, sample: int) -> list[tuple[int, float]]:
        """The streams whose routes use a hop, and the fraction of its bytes attributed to each.

        Streams whose route is in use at that time, or nearest to it, count. Several share in
        proportion to their arrivals at that time.
        """
        own = self.owners.get(pair)
        if not own:
            return [(-1, 1.0)]
        away = [distance(route, float(self.t_s[sample])) for route in own]
        nearest = max(min(away), float(self.t_s[1] - self.t_s[0]))
        got: dict[int, float] = {}
        for route, far in zip(own, away, strict=True):
            if far <= nearest:
                key = (route.stream, route.user)
                arrived = float(self.arrived[key][sample]) if route.stream >= 0 else 0.0
                got[route.stream] = got.get(route.stream, 0.0) + arrived
        total = sum(got.values())
        if len(got) == 1 or total == 0:
            return [(next(iter(got)), 1.0)]
        return [(stream, arrived / total) for stream, arrived in got.items() if arrived > 0]

    def current(self, route: Route) -> list[int]:
        """When a route is in use, as first and last samples in turn: its user sends and every hop
        has bytes.
        """
        t_s, sent = self.t_s, self.sent[route.stream, route.user]
        step = float(t_s[1] - t_s[0])
        first, last = np.searchsorted(t_s, [route.first_s - step, route.last_s + step])
        hops = [(route.medium, *ends) for ends in zip(route.sites, route.sites[1:], strict=False)]
        times: list[int] = []
        for sample in range(int(first), min(int(last) + 1, len(t_s))):
            if not sent[sample] or not all(hop in self.used[sample] for hop in hops):
                continue
            if times and times[-1] >= sample - 2:  # a pause of one sample does not count
                times[-1] = sample
            else:
                times += [sample, sample]
        return times


def distance(route: Route, at_s: float) -> float:
    """Time in seconds between `at_s` and the use of a route; 0 while it is in use."""
    return max(route.first_s - at_s, at_s - route.last_s, 0.0)
