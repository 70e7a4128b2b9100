"""A map of a network: nodes, their ways, and the routes of packets; wires as pipes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..planned_network import Bus
from ..runs import Run
from . import style
from .flows import Flowing, draw_flows, inches, measured, queue_key, sampled
from .ground import Ground, Row, Site, ground, has_ground
from .inputs import Results, number_of, replication, shortened, single, with_seed
from .labels import joined, name_of, over_time
from .names import Names
from .pipes import has_pipes
from .pipewords import write_flows
from .size import Width
from .streams import LATELY_S, Stream, class_colours, colours, dashes, routes, streams

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

GROUPS = (
    "#99DDFF",
    "#EE8866",
    "#EEDD88",
    "#FFAABB",
    "#44BB99",
    "#BBCC33",
    "#DDDDDD",
    "#77AADD",
)
"""Colours of groups of nodes: light ones after Paul Tol, because lines of flows are dark."""
SHAPES = {"node": "o", "access": "^", "base": "*"}
SIZES = {"node": 1.0, "access": 1.35, "base": 2.0}
"""Relative to the size of a plain node's marker."""
WORDS = {"access": "access point", "base": "base station"}
WIDEST_PT, THINNEST_PT = 5.0, 0.8
"""Widths of routes in points; the area of the width grows with the packets."""
BESIDE_PT = 2.6
"""Distance of the lines of streams that take the same hop."""
JUMP = 0.4
"""A node that moves so far between two samples, as a part of the ground, has left it and come in
elsewhere.
"""
MOST_ENTRIES = 24
"""Largest number of entries in the legend."""
PALE = "#d4d8dc"
"""Colour of flows of classes that are not chosen."""


@dataclass(frozen=True)
class Hop:
    """Traffic of streams from one site to another."""

    stream: int
    medium: int
    ends: tuple[int, int]
    packets: float
    """Packets since the start."""
    lately: bool
    """Whether the route is in use at the time of the picture."""
    colour: str
    dash: int
    """How many earlier streams have the same colour."""
    above: bool
    """Whether it is drawn above others, as routes of a class with several paths are."""


@style.styled
def topology(
    results: Results,
    *,
    at_s: float | None = None,
    seed: int | None = None,
    classes: Sequence[str] | None = None,
    trails: bool = True,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Nodes on their ground, and links as pipes, with their flows.

    A scenario with nodes or media has the ground in metres at `at_s` seconds, by default at the
    end: nodes, trails, routes of data packets. The width of a route grows with the square root of
    its packets in the whole run. A route appears with its first packet, and is pale if no packet
    took it in the last second. `trails` show the motion of nodes in the whole run. `classes`
    chooses the classes whose routes are drawn. Stations without a position, such as those of a bus,
    stand in rows below the ground, or on a circle if no site has a position. Names that would
    overlap are left out; names of the flows' ends have priority.

    Wires are drawn as pipes from users to receivers, below the ground if there is one. Heights of
    pipes and flows are their rates, levels are queues. They show means over the time after the
    warm-up and over replications, and need no series. With `seed` they show one replication, and
    with `at_s` the second before that time. `names` has a name for the result.

    Raises ValueError for an unknown seed or class, and for a time that is not in the run; for the
    ground and for a time also without series.
    """
    result = single(results, "topology")
    if not has_ground(result.plan):
        return network(result, (at_s, seed, classes), name_of(result, names), title)
    run = replication(result, seed)
    of = ground(result, run)
    sample = sample_at(run.series.t_s, at_s)
    every = streams(result.plan)
    known = chosen(every, result.classes, classes)
    hops = hops_until(result, run, of, sample)
    hops = [hop for hop in hops if known[hop.stream] is not None]
    wires = now_flowing(result, every, at_s, seed) if has_pipes(result.plan) else None
    below = inches(result, every, wires[0]) if wires else 0.0
    figure, ax, more = canvas(of, title, below)
    if trails and of.area:
        draw_trails(ax, of)
    for row in of.rows:
        draw_row(ax, of, row, sample)
    widths = draw_hops(ax, of, hops, sample)
    draw_sites(ax, of, sample)
    entries = [*stream_entries(known, hops, widths), *group_entries(of)]
    if trails and any(site.moves for site in of.sites):
        entries.append(style.entry("trail", color=style.FAINT, linewidth=style.pt(0.7)))
    if wires and more:
        now, when = wires
        tones = colours(every)
        draw_flows(more, result, every, now, paler(tones, known))
        font: dict[str, Any] = {"size": style.size("axes.titlesize"), "weight": "bold"}
        heading = style.wrapped(f"Links and paths, {when}", style.across_panel(), **font)
        more.set_title(heading, pad=style.pt(14))
        labels = [one.label for one in every]
        look: dict[str, Any] = {"linewidth": style.pt(3)}
        lines = [style.entry(one, color=t, **look) for one, t in zip(labels, tones, strict=True)]
        others = [entry for entry in entries if entry.get_label() not in labels]
        entries = [*lines, *others, *queue_key(result.plan)]
    seeds = joined(moment(run, sample), f"seed {run.seed}")
    note = over_time([result], seeds, name_of(result, names))
    style.legend(figure, entries, MOST_ENTRIES, note=note)
    style.settle(figure)  # words are placed for the final size
    name_sites(figure, ax, of, sample, hops)
    if wires and more:
        write_flows(more, result, every, wires[0], paler(colours(every), known))
    return figure


def network(
    result: Result,
    what: tuple[float | None, int | None, Sequence[str] | None],
    name: str | None,
    title: str | None,
) -> Figure:
    """A scenario of wires alone, links as pipes; `what` are time, seed and classes."""
    at_s, seed, classes = what
    every = streams(result.plan)
    known = chosen(every, result.classes, classes)
    now, when = now_flowing(result, every, at_s, seed)
    tones = class_colours(every)
    high = inches(result, every, now)
    figure = style.blank(title)
    ax = figure.subplots()
    style.LAYOUTS[figure] = style.Layout([ax], lambda: high)
    draw_flows(ax, result, every, now, paler(tones, known))
    lines = [
        style.entry(one.label, color=tone, linewidth=style.pt(5))
        for one, tone in zip(every, tones, strict=True)
    ]
    note = over_time([result], when, name)
    style.legend(figure, [*lines, *queue_key(result.plan)], MOST_ENTRIES, note=note)
    style.settle(figure)  # words are placed for the final size
    write_flows(ax, result, every, now, paler(tones, known))
    return figure


def now_flowing(
    result: Result, every: Sequence[Stream], at_s: float | None, seed: int | None
) -> tuple[Flowing, str]:
    """Rates and queues at a time, or means over the measured time; and that time in words."""
    if at_s is not None:
        run = replication(result, seed)
        sample = sample_at(run.series.t_s, at_s)
        when = f"at {run.series.t_s[sample]:.4g} s, rates of the second before, seed {run.seed}"
        return sampled(result, run, every, sample), when
    if result.world == "theory":
        return measured(result, result.runs, every), "the fixed point of theory"
    runs = result.runs if seed is None else [with_seed(result, seed)]
    span = f"means from {result.plan.warmup_s:g} s to {result.plan.duration_s:g} s"
    several = f"{len(runs)} replications" if len(runs) > 1 else f"seed {runs[0].seed}"
    return measured(result, runs, every), f"{span}, {several}"


def paler(tones: Sequence[str], known: Sequence[Stream | None]) -> list[str]:
    """The colours, pale for streams that are not among the chosen ones."""
    return [t if one is not None else PALE for t, one in zip(tones, known, strict=True)]


def sample_at(t_s: NDArray[np.float64], at_s: float | None) -> int:
    """The sample nearest to a time, by default the last. Raises ValueError when it is not in the
    run.
    """
    if at_s is None:
        return len(t_s) - 1
    if not t_s[0] <= at_s <= t_s[-1]:
        raise ValueError(f"{at_s:g} s is not in the run, from {t_s[0]:g} s to {t_s[-1]:g} s")
    return int(np.abs(t_s - at_s).argmin())


def moment(run: Run, sample: int) -> str:
    """When it is, for the note."""
    return f"at {run.series.t_s[sample]:.4g} s"


def chosen(
    known: Sequence[Stream], names: Sequence[str], classes: Sequence[str] | None
) -> list[Stream | None]:
    """The streams, with None for those of classes that are not chosen. Raises ValueError for an
    unknown class.
    """
    if classes is None:
        return list(known)
    wanted = {names[number_of(name, names, "class")] for name in classes}
    return [one if one.name in wanted else None for one in known]


def hops_until(result: Result, run: Run, of: Ground, sample: int) -> list[Hop]:
    """The hops of data packets of routes taken until a sample, each once for a stream, with all
    their packets.
    """
    at_s = float(run.series.t_s[sample])
    sums: dict[tuple[int, int, tuple[int, int]], Hop] = {}
    known = streams(result.plan)
    tones = colours(known)
    repeated = dashes(known, tones)
    for route in routes(result, run, of, known):
        if route.stream < 0 or not route.forward or route.first_s > at_s:
            continue
        lately = route.last_s >= at_s - LATELY_S
        for ends in zip(route.sites, route.sites[1:], strict=False):
            key = (route.stream, of.bus(route.medium), ends)
            tone, dash = tones[route.stream], repeated[route.stream]
            above = known[route.stream].multipath
            empty = Hop(route.stream, route.medium, ends, 0, False, tone, dash, above)
            hop = sums.setdefault(key, empty)
            packets = hop.packets + route.packets
            sums[key] = replace(hop, packets=packets, lately=hop.lately or lately)
    return list(sums.values())


def canvas(of: Ground, title: str | None, below: float) -> tuple[Figure, Axes, Axes | None]:
    """A figure as high as the ground needs, with axes in metres where there is one; and on request
    axes of `below` inches below it.
    """
    from matplotlib.patheffects import withStroke

    west, south, east, north = of.box
    ratio = (north - south) * of.stretch / (east - west)
    figure = style.blank(title)
    across = 0.9 * style.width()
    if below:
        ax, more = figure.subplots(2, 1, height_ratios=(across * ratio, below))
    else:
        ax, more = figure.subplots(), None

    def inches() -> float:
        wide = ax.get_position(original=True).width * figure.get_figwidth()
        return float(wide * ratio + below)

    style.LAYOUTS[figure] = style.Layout([ax] if more is None else [ax, more], inches)
    ax.set_aspect(of.stretch)
    margin = 0.03 * (east - west)
    ax.set_xlim(west - margin, east + margin)
    ax.set_ylim(south - margin / of.stretch, north + margin / of.stretch)
    ax.set_xlabel("East (m)")
    ax.set_ylabel("North (m)")
    if of.area:
        frame(ax, of.area)
    else:
        ax.set(
            xticks=[], yticks=[], xlabel="Stations on a circle, as they have no places", ylabel=""
        )
    ax.spines[:].set_visible(False)
    ax.xaxis.set_zorder(7)  # routes down to a bus cross it
    for text in (ax.xaxis.label, *ax.get_xticklabels()):
        text.set_path_effects([withStroke(linewidth=style.pt(3), foreground="white")])
    return figure, ax, more


def frame(ax: Axes, area: tuple[float, float, float, float]) -> None:
    """The edge of the ground; below it there are no metres."""
    from matplotlib.patches import Rectangle

    west, south, east, north = area
    look: dict[str, Any] = {"facecolor": "#fafafa", "edgecolor": "#cccccc", "linewidth": 0.8}
    ax.add_patch(Rectangle((west, south), east - west, north - south, zorder=0, **look))
    ax.spines["bottom"].set_position(("data", south))
    ax.locator_params(axis="y", nbins=8, steps=[1, 2, 5, 10])
    ticks = [tick for tick in ax.get_yticks() if south <= tick <= north]
    ax.set_yticks(ticks)


def draw_trails(ax: Axes, of: Ground) -> None:
    """Draws the trails of nodes; a node that leaves the ground and re-enters elsewhere jumps."""
    assert of.area is not None
    west, south, east, north = of.area
    groups = of.groups()
    for site in (site for site in of.sites if site.moves):
        jump = (np.abs(np.diff(site.x_m)) > JUMP * (east - west)) | (
            np.abs(np.diff(site.y_m)) > JUMP * (north - south)
        )
        after = np.flatnonzero(jump) + 1
        x_m, y_m = (np.insert(values, after, np.nan) for values in (site.x_m, site.y_m))
        tone = style.shade(group_colour(groups.index(site.group)), 0, 3)
        ax.plot(x_m, y_m, color=tone, linewidth=style.pt(0.6), alpha=0.55, zorder=1)


def group_colour(group: int) -> str:
    """The colour of a group of nodes."""
    return GROUPS[group % len(GROUPS)]


def draw_row(ax: Axes, of: Ground, row: Row, sample: int) -> None:
    """A row's name, and of a bus the line with a stem to each station."""
    look: dict[str, Any] = {
        "fontsize": style.pt(9),
        "color": style.INK,
        "ha": "left",
        "va": "bottom",
    }
    lift: dict[str, Any] = {"xytext": (0, 4), "textcoords": "offset points"}
    ax.annotate(f"{row.name} ({row.medium.kind})", (row.x_m[0], row.y_m), **lift, **look)
    if not isinstance(row.medium, Bus):
        return
    ax.plot(row.x_m, (row.y_m, row.y_m), color=style.INK, linewidth=style.pt(3), zorder=2)
    for number in row.sites:
        x_m, y_m = place(of.sites[number], sample)
        foot = min(max(x_m, row.x_m[0]), row.x_m[1])
        line = ":" if of.sites[number].placed else "-"
        ax.plot(
            (foot, x_m), (row.y_m, y_m), color=style.INK, linestyle=line, lw=style.pt(1), zorder=2
        )


def place(site: Site, sample: int) -> tuple[float, float]:
    """Position of a site at a sample, in metres."""
    return float(site.x_m[sample]), float(site.y_m[sample])


def draw_hops(ax: Axes, of: Ground, hops: Sequence[Hop], sample: int) -> float:
    """The lines of routes, side by side where they take the same hop; the packets of the widest."""
    most = max((hop.packets for hop in hops), default=1.0)
    together: dict[frozenset[int], list[int]] = {}
    for hop in hops:
        own = together.setdefault(frozenset(hop.ends), [])
        if hop.stream not in own:
            own.append(hop.stream)
    for hop in hops:
        beside = sorted(together[frozenset(hop.ends)])
        shift = (beside.index(hop.stream) - (len(beside) - 1) / 2) * BESIDE_PT
        narrow = style.pt(min(1.0, 14 / (BESIDE_PT * len(beside))))
        width = style.pt(max(THINNEST_PT, WIDEST_PT * math.sqrt(hop.packets / most)))
        if len(beside) > 1:
            width = min(width, 0.85 * BESIDE_PT * max(narrow, 0.6))
        line = corners(of, hop, sample)
        draw_line(ax, of, line, shift * narrow, width, hop)
    return most


def corners(of: Ground, hop: Hop, sample: int) -> list[tuple[float, float]]:
    """The points of a hop's line: straight, or down to the bus, along it and up."""
    start, end = (place(of.sites[site], sample) for site in hop.ends)
    bus = of.bus(hop.medium)
    if bus < 0:
        return [start, end]
    row = of.rows[bus]
    west, east = row.x_m
    feet = [(min(max(x_m, west), east), row.y_m) for x_m, _ in (start, end)]
    return [start, *feet, end]


def draw_line(
    ax: Axes,
    of: Ground,
    points: list[tuple[float, float]],
    shift_pt: float,
    width_pt: float,
    hop: Hop,
) -> None:
    """A line, shifted to its side by points."""
    from matplotlib.transforms import ScaledTranslation

    dx, dy = aside(of, points, shift_pt / 72)
    figure = ax.get_figure()
    assert figure is not None
    transform = ax.transData + ScaledTranslation(dx, dy, figure.dpi_scale_trans)
    look: dict[str, Any] = {"linewidth": width_pt, "solid_capstyle": "round"}
    look["linestyle"] = style.line(hop.dash)
    fade = 0.9 if hop.lately else 0.22
    x_m, y_m = zip(*points, strict=True)
    above = 4 if hop.above else 3
    ax.plot(x_m, y_m, color=hop.colour, alpha=fade, zorder=above, transform=transform, **look)


def aside(of: Ground, points: list[tuple[float, float]], shift: float) -> tuple[float, float]:
    """Offset of a line to the east and to the north; both directions of a hop are moved to the same
    side.
    """
    if len(points) > 2:
        return shift, shift  # down to a bus, along it and up
    (x0, y0), (x1, y1) = min(points), max(points)
    east, north = x1 - x0, (y1 - y0) * of.stretch
    length = math.hypot(east, north) or 1.0
    return -north / length * shift, east / length * shift


def draw_sites(ax: Axes, of: Ground, sample: int) -> None:
    """The markers of all sites."""
    groups = of.groups()
    for site in of.sites:
        x_m, y_m = place(site, sample)
        look = marker(of, site.role, groups.index(site.group))
        ax.plot([x_m], [y_m], zorder=6 if site.name == site.group else 5, **look)


def marker(of: Ground, role: str, group: int) -> dict[str, Any]:
    """Marker of a site: smaller if there are many sites."""
    size = style.pt(9.0 if len(of.sites) <= 40 else 7.0 if len(of.sites) <= 80 else 4.5)
    return {
        "marker": SHAPES[role],
        "markersize": size * SIZES[role],
        "markerfacecolor": group_colour(group),
        "markeredgecolor": style.INK,
        "markeredgewidth": style.pt(0.8),
        "linestyle": "none",
    }


def group_entries(of: Ground) -> list[Artist]:
    """Groups and roles in the legend; a group of one is named on the map."""
    entries = []
    for number, group in enumerate(of.groups()):
        members = [site for site in of.sites if site.group == group]
        role = members[0].role
        if len(members) == 1 and role == "node":
            continue
        count = f" ({len(members)})" if len(members) > 1 else ""
        what = f", {WORDS[role]}" if role in WORDS else ""
        look = {**marker(of, role, number), "markersize": style.pt(8 * SIZES[role] ** 0.5)}
        entries.append(style.entry(f"{shortened(group, 24)}{count}{what}", **look))
    return entries


def stream_entries(
    known: Sequence[Stream | None], hops: Sequence[Hop], most: float
) -> list[Artist]:
    """Streams in the legend, with the packets that the widest line stands for."""
    used = {hop.stream for hop in hops}
    looks = {hop.stream: (hop.colour, style.line(hop.dash)) for hop in hops}
    entries = [
        style.entry(
            one.label, color=looks[number][0], linestyle=looks[number][1], linewidth=style.pt(3)
        )
        for number, one in enumerate(known)
        if one is not None and number in used
    ]
    if used:
        entries.append(style.entry(f"widest: {most:,.0f} packets", linestyle="none"))
    return entries


def name_sites(figure: Figure, ax: Axes, of: Ground, sample: int, hops: Sequence[Hop]) -> None:
    """Writes the names for which there is room: first ends of flows and sites that do not move."""
    figure.draw_without_rendering()
    ends = {site for hop in hops for site in hop.ends}
    packets = {site: sum(h.packets for h in hops if site in h.ends) for site in ends}
    alone = {site.group for site in of.sites if site.name == site.group}
    order = sorted(
        range(len(of.sites)),
        key=lambda n: (
            of.sites[n].group not in alone and of.sites[n].role == "node",
            -packets.get(n, 0.0),
            n,
        ),
    )
    radii = [marker(of, site.role, 0)["markersize"] / 2 for site in of.sites]
    lines = [corners(of, hop, sample) for hop in hops]
    names = Names(ax, [place(site, sample) for site in of.sites], radii, lines)
    for number in order:
        site = of.sites[number]
        small = len(of.sites) > 80 and site.name != site.group
        bold = site.group in alone or site.role != "node"
        size_pt = style.pt(7.5 if small else 9.0)
        names.add(number, site.name, size_pt, bold=bold, over_points=site.group in alone)
