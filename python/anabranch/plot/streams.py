"""Traffic over media: the streams of a plan, the routes of their packets, and the load of
each hop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..plan import Plan
from ..planned_network import Wifi
from ..result import Result
from ..runs import Run
from . import style
from .ground import Ground
from .inputs import path_columns

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#8C6D00",
    "#56B4E9",
    "#7A3FB0",
    "#B00020",
    "#5A6B00",
    "#444444",
)
"""Colours of subflows, which shades would not separate on a map: the palette, and three more."""
BESIDE = ("#6B7785", "#A08B70", "#8FA36B")
"""Colours of classes with one path when others have several: the background."""
NOBODY = "#8A8A8A"
"""Colour of traffic that belongs to no class."""
LATELY_S = 1.0
"""A route is in use at a time if packets took it in the preceding second."""


@dataclass(frozen=True)
class Stream:
    """A path of a class of users."""

    name: str
    """Name of the class."""
    index: int
    """Number of the class in the plan."""
    path: int
    users: int
    multipath: bool

    @property
    def label(self) -> str:
        """Its name, with the number of the path if there are several."""
        return f"{self.name}, path {self.path}" if self.multipath else self.name


@dataclass(frozen=True)
class Route:
    """A way that packets of a stream took, or ACKs to it."""

    stream: int
    """Number of the stream; -1 if no class uses the link."""
    forward: bool
    """Whether the route carries data, rather than ACKs."""
    user: int
    medium: int
    sites: tuple[int, ...]
    packets: float
    """Packets since the start."""
    first_s: float
    last_s: float


def streams(plan: Plan) -> list[Stream]:
    """Every path of every class; classes with several paths come first."""
    found = [
        Stream(own.name, index, path, own.count, len(own.paths) > 1)
        for index, own in enumerate(plan.classes)
        for path in range(len(own.paths))
    ]
    return sorted(found, key=lambda stream: not stream.multipath)


def colours(known: Sequence[Stream]) -> list[str]:
    """The colour of each stream."""
    several = sum(one.multipath for one in known)
    if several == 0:
        return [COLOURS[number % len(COLOURS)] for number in range(len(known))]
    return [
        COLOURS[number % len(COLOURS)]
        if one.multipath
        else BESIDE[(number - several) % len(BESIDE)]
        for number, one in enumerate(known)
    ]


def class_colours(known: Sequence[Stream]) -> list[str]:
    """The colour of each stream as other figures have them: one for a class, its paths shades."""
    from matplotlib.colors import to_hex

    paths = Counter(one.index for one in known)
    return [
        to_hex(style.shade(style.colour(one.index, one.name), one.path, paths[one.index]))
        for one in known
    ]


def dashes(known: Sequence[Stream], tones: Sequence[str]) -> list[int]:
    """For each stream, how many earlier ones have the same colour: selects its line style."""
    return [tones[:number].count(tones[number]) for number in range(len(known))]


def look_of(path: int, place: int, many: int, points: int) -> dict[str, Any]:
    """Style of the line of a path, the `place`-th of `many` in its panel, with `points` points: it
    has its own colour and marker.
    """
    look = {"color": COLOURS[path % len(COLOURS)], "linewidth": style.pt(1.3)}
    marks = style.marked(place, points, many) | {"marker": style.marker(path)}
    return look | (marks if many > 1 else {})


def users_of_links(plan: Plan, known: Sequence[Stream]) -> dict[int, tuple[int, bool]]:
    """For each link, the first stream that crosses it, and whether it carries data there."""
    uses: dict[int, tuple[int, bool]] = {}
    for forward in (True, False):
        for number, stream in enumerate(known):
            path = plan.classes[stream.index].paths[stream.path]
            for link in path.links if forward else path.back:
                uses.setdefault(link, (number, forward))
    return uses


def routes(result: Result, run: Run, of: Ground, known: Sequence[Stream]) -> list[Route]:
    """The routes that routing found, and the links of media without routing as routes of one hop.

    A link that several streams share counts for the first of them.
    """
    return [*found(result, run, of, known), *direct(result, run, of, known)]


def found(result: Result, run: Run, of: Ground, known: Sequence[Stream]) -> Iterator[Route]:
    """Routes over media with routing."""
    uses = users_of_links(result.plan, known)
    links = [link.name for link in result.plan.links]
    media = [medium.name for medium in result.plan.media]
    if not run.has("routes"):
        return
    ways, rows = run.ways, run.routes
    for row, text in enumerate(rows.nodes):
        way = int(rows.way[row])
        stream, forward = uses.get(links.index(ways.link[way]), (-1, True))
        medium = media.index(ways.medium[way])
        names = [station.name for station in result.plan.media[medium].stations]
        sites = tuple(of.stations[medium][names.index(name)] for name in text.split(" > "))
        numbers = (float(each[row]) for each in (rows.packets, rows.first_s, rows.last_s))
        yield Route(stream, forward, int(ways.user[way]), medium, sites, *numbers)


def direct(result: Result, run: Run, of: Ground, known: Sequence[Stream]) -> Iterator[Route]:
    """One hop for each link over a medium without routing that a stream has on its way."""
    plan = result.plan
    t_s, sent = run.series.t_s, run.series.paths.sent_packets
    for number, stream in enumerate(known):
        planned = plan.classes[stream.index]
        columns = path_columns(result, run, stream.name)
        path = planned.paths[stream.path]
        for link, forward in [(n, True) for n in path.links] + [(n, False) for n in path.back]:
            attachments = plan.links[link].attachments
            medium = plan.media[attachments[0].medium] if attachments else None
            if medium is None or (isinstance(medium, Wifi) and medium.routing):
                continue
            for user in range(planned.count):
                here = attachments[user if len(attachments) > 1 else 0]
                count = sent[:, columns[user, stream.path]]
                if count[-1] == 0:
                    continue
                grown = np.flatnonzero(np.diff(count) > 0)
                at = of.stations[here.medium]
                ends = (at[here.from_[0]], at[here.to[0]])
                times = (
                    (float(t_s[grown[0]]), float(t_s[grown[-1] + 1])) if len(grown) else (0.0, 0.0)
                )
                yield Route(number, forward, user, here.medium, ends, float(count[-1]), *times)
