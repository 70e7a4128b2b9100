"""The report's figures redrawn, and further ones: subflows over time, throughputs, routes,
a car.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plot
from ...plot import style
from ...report import Figure, Section
from ...result import Result
from ...statistics import Interval, interval
from ..laboratory import Laboratory
from .beside import PUBLISHED, here
from .configurations import CALLED, CS218, FOUR, under
from .dual import CARS
from .manet import BOTH
from .networks import MESH, MIXED, VANET
from .paired import Floats
from .reading import mbps, over_time, times_s
from .topologies import connections, parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WORDS = {"mobile": "moving", "static": "static"}


def halves(values: list[Interval]) -> list[float]:
    """Half-widths of intervals; 0 for a single replication."""
    return [value.half if np.isfinite(value.half) else 0.0 for value in values]


def over_all(lab: Laboratory) -> list[Figure]:
    """The four panels of either variant, a column for each algorithm."""
    found = []
    for network in BOTH:
        names = here(lab, network, FOUR)
        if not names:
            continue
        caption = f"{WORDS[network].capitalize()} nodes, the first replication."
        if network == "mobile":
            caption += (
                " The report has, under CS218_ALGO, one window that goes on growing after 6 s while "
                "the others fall and settle."
            )
        results = [lab[under(network, c)] for c in names]
        drawing = plot.subflows(
            results, flow="multipath", seed=results[0].seeds[0], names=[CALLED[c] for c in names]
        )
        found.append(Figure(caption, drawing))
    return found


@style.styled
def intervals(lab: Laboratory, networks: list[str]) -> Drawing:
    """Throughput of each algorithm with its interval, and the published one, a panel for each
    variant.
    """
    title = "Throughput of the connection over 10 s: whole packets, 95 % intervals, and the report's tables"
    figure, axes = style.panels(len(networks), 2.6, title)
    for ax, network in zip(axes, networks, strict=True):
        values = [interval(mbps(lab[under(network, c)])) for c in FOUR]
        x = np.arange(len(FOUR))
        means = [v.mean for v in values]
        ax.errorbar(x, means, halves(values), fmt="o", color=style.colour(0), capsize=4)
        ax.plot(x, [PUBLISHED[network][c] for c in FOUR], **MARK)
        ax.set_title(f"{WORDS[network].capitalize()} MANET")
        ax.margins(x=0.15, y=0.15)
        ax.set_ylabel("Throughput (Mb/s)")
        ax.set_xticks(x, [CALLED[c] for c in FOUR])
    entries = [
        style.entry("here", color=style.colour(0), marker="o", linestyle="none"),
        style.entry("published, ten runs, no spread", **MARK),
    ]
    style.legend(figure, entries)
    return figure


MARK: dict[str, Any] = {
    "color": style.colour(1),
    "marker": "D",
    "linestyle": "none",
    "markersize": 7,
}


def throughputs(lab: Laboratory) -> list[Figure]:
    """The two tables."""
    networks = [network for network, sweep in BOTH.items() if sweep.have(lab)]
    caption = "The report's differences are larger than all that moves here."
    return [Figure(caption, intervals(lab, networks))] if networks else []


@style.styled
def shares(lab: Laboratory, network: str) -> Drawing:
    """The part of its packets that each connection sends on each of its paths, a panel for each
    algorithm.
    """
    figure, axes = style.panels(len(FOUR), 1.5, f"Packets by path: {network}")
    names = connections(lab[under(network, CS218)])
    for ax, c in zip(axes, FOUR, strict=True):
        at, ticks = 0.0, []
        for number, name in enumerate(names):
            columns = [interval(100 * part) for part in parts(lab[under(network, c)], name).T]
            x = at + np.arange(len(columns))
            means = [value.mean for value in columns]
            ax.bar(x, means, 0.8, color=style.tint(style.colour(number)))
            ax.errorbar(x, means, halves(columns), fmt="none", ecolor=style.INK, capsize=2)
            ticks.append((float(x.mean()), name))
            at = float(x[-1]) + 2
        ax.set_title(CALLED[c])
        ax.set_ylim(bottom=0)
        ax.set_ylabel("%")
        ax.set_xticks([place for place, _ in ticks], [name for _, name in ticks])
    axes[-1].set_xlabel("Connection, a bar for each path")
    return figure


def by_route(lab: Laboratory) -> list[Figure]:
    """Paths of the mixed network and of the full mesh."""
    captions = {
        MIXED: "A client on Wi-Fi over eight channels and one on the bus with eight subflows, which end slow start unlike.",
        MESH: "A client on Wi-Fi has a path over either access point.",
    }
    return [
        Figure(caption, shares(lab, network))
        for network, caption in captions.items()
        if len(here(lab, network, FOUR)) == len(FOUR)
    ]


def places_m(result: Result, name: str) -> tuple[Floats, Floats]:
    """Positions of the nodes of a group in the first replication: east and north, shape (samples,
    nodes) each.
    """
    own = [node.group == name for node in result.plan.nodes]
    nodes = result.runs[0].series.nodes
    east, north = (np.asarray(nodes.column(key), dtype=float)[:, own] for key in ("x_m", "y_m"))
    return east, north


def nearest(result: Result) -> tuple[Floats, Floats]:
    """Distance of the first car to the access point next to it in m, and which one that is, over
    time.
    """
    cars, points = (places_m(result, name) for name in ("car", "roadside"))
    away = np.hypot(cars[0][:, :1] - points[0], cars[1][:, :1] - points[1])
    return away.min(axis=1), away.argmin(axis=1)


def _rates(ax: Axes, t_s: Floats, arrived: Floats, column: int, number: int) -> None:
    """Mb/s in pieces of 0.5 s of a path of the first car."""
    step = 5
    rates = 8e-6 * np.diff(arrived[::step, column]) / np.diff(t_s[::step])
    ax.step(t_s[::step][1:], rates, color=style.colour(number), linewidth=1.2)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("Mb/s")


@style.styled
def drive(result: Result, controller: str) -> Drawing:
    """A car over time: throughput over each network, and the distance to the next access point."""
    title = f"The first car of the platoon under {CALLED[controller]}, seed {result.seeds[0]}"
    figure, axes = style.panels(3, 1.9, title)
    t_s, arrived = times_s(result), over_time(result, "arrived_bytes", CARS)[0]
    away, which = nearest(result)
    for number, (ax, heading) in enumerate(zip(axes, ("Roadside", "Cellular"), strict=False)):
        _rates(ax, t_s, arrived, number, number)
        ax.set_title(heading)
    silent = np.flatnonzero(np.diff(arrived[:, 0]) == 0)
    for ax in axes[:2]:
        for sample in silent:
            ax.axvspan(t_s[sample], t_s[sample + 1], color="#e3e3e3", zorder=0, linewidth=0)
    axes[2].plot(t_s, away, color=style.INK, linewidth=1.2)
    axes[2].set_title("Distance to the next access point")
    axes[2].set_ylabel("m")
    axes[2].set_ylim(bottom=0)
    for sample in np.flatnonzero(np.diff(which)):
        for ax in axes:
            ax.axvline(t_s[sample + 1], color=style.FAINT, linestyle=":", linewidth=1)
    axes[-1].set_xlabel("Time (s)")
    entries = [
        style.entry("nothing arrives over the roadside", color="#e3e3e3", linewidth=8),
        style.entry("another access point is next", color=style.FAINT, linestyle=":"),
    ]
    style.legend(figure, entries)
    return figure


def on_the_road(lab: Laboratory) -> list[Figure]:
    """A car under each algorithm."""
    caption = "Between two access points nobody on the roadside is heard; the connection goes on over the cellular network."
    return [Figure(caption, drive(lab[under(VANET, c)], c)) for c in here(lab, VANET, FOUR)]


def sections(lab: Laboratory) -> list[Section]:
    """Figures of the configurations that have been run."""
    found = [
        Section("Throughput", "", (), throughputs(lab)),
        Section("Subflows over time", "", (), over_all(lab)),
        Section("Mixed network and full mesh: use of each path", "", (), by_route(lab)),
        Section("A car over time", "", (), on_the_road(lab)),
    ]
    return [section for section in found if section.figures]
