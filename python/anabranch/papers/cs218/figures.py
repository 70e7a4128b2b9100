"""Drawings of the report that are no curves: throughputs, windows, packets by path, and a car."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plot
from ...plot import style
from ...result import Result
from ...statistics import Interval, interval
from .. import readings
from ..laboratory import Laboratory, NotRun
from ..library import Cell, Floats, measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARK: dict[str, Any] = {
    "color": style.colour(1),
    "marker": "D",
    "linestyle": "none",
    "markersize": 7,
}
QUIET = "#e3e3e3"
PIECE = 5
"""Samples of a piece of the car's rates."""


def halves(values: Sequence[Interval]) -> list[float]:
    """Half-widths of intervals; 0 for a single replication."""
    return [value.half if np.isfinite(value.half) else 0.0 for value in values]


@measure
def subflows(lab: Laboratory, cells: Sequence[Cell], names: Mapping[str, str]) -> Figure:
    """Four panels of the connection's subflows in the first replication, a column for each cell;
    `names` are those of controllers.
    """
    results = [lab[cell] for cell in cells]
    words = [names[lab.configurations[cell].controller or ""] for cell in cells]
    return plot.subflows(results, flow="multipath", seed=results[0].seeds[0], names=words)


@measure
@style.styled
def throughputs(
    lab: Laboratory, points: Mapping[str, Mapping[str, Floats]], published: Mapping[str, Any]
) -> Figure:
    """Throughput of each algorithm with its interval, and the published one, a panel for each
    network of `points`; these and `published` are by network and algorithm.
    """
    if not points:
        raise NotRun("no network has been run under each algorithm")
    title = (
        "Throughput of the connection over 10 s: whole packets, 95 % intervals, and the report's "
        "tables"
    )
    figure, axes = style.panels(len(points), 2.6, title)
    for ax, (network, by) in zip(axes, points.items(), strict=True):
        values = [interval(one) for one in by.values()]
        x = np.arange(len(by))
        means = [value.mean for value in values]
        ax.errorbar(x, means, halves(values), fmt="o", color=style.colour(0), capsize=4)
        ax.plot(x, [published[network][name] for name in by], **MARK)
        ax.set_title(network)
        ax.margins(x=0.15, y=0.15)
        ax.set_ylabel("Throughput (Mb/s)")
        ax.set_xticks(x, list(by))
    here = style.entry("here", color=style.colour(0), marker="o", linestyle="none")
    style.legend(figure, [here, style.entry("published, ten runs, no spread", **MARK)])
    return figure


@measure
@style.styled
def packets_by_path(
    lab: Laboratory, network: str, points: Mapping[str, Mapping[str, Sequence[Floats]]]
) -> Figure:
    """The part of its packets that each connection sends on each of its paths, a panel for each
    algorithm; `points` has the parts by algorithm and connection.
    """
    figure, axes = style.panels(len(points), 1.5, f"Packets by path: {network}")
    for ax, (heading, by) in zip(axes, points.items(), strict=True):
        at, ticks = 0.0, []
        for number, (name, parts) in enumerate(by.items()):
            columns = [interval(100 * part) for part in parts]
            x = at + np.arange(len(columns))
            means = [value.mean for value in columns]
            ax.bar(x, means, 0.8, color=style.tint(style.colour(number)))
            ax.errorbar(x, means, halves(columns), fmt="none", ecolor=style.INK, capsize=2)
            ticks.append((float(x.mean()), name))
            at = float(x[-1]) + 2
        ax.set_title(heading)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("%")
        ax.set_xticks([place for place, _ in ticks], [name for _, name in ticks])
    axes[-1].set_xlabel("Connection, a bar for each path")
    return figure


def _nearest(result: Result) -> tuple[Floats, Floats]:
    """Distance of the first car to the access point next to it in m, and which one that is, over
    time, in the first replication.
    """
    nodes, groups = result.runs[0].series.nodes, [node.group for node in result.plan.nodes]
    east, north = (np.asarray(nodes.column(key), dtype=float) for key in ("x_m", "y_m"))
    car, points = groups.index("car"), [group == "roadside" for group in groups]
    away = np.hypot(*(x[:, [car]] - x[:, points] for x in (east, north)))
    return away.min(axis=1), away.argmin(axis=1)


def _rates(ax: Axes, t_s: Floats, arrived: Floats, number: int) -> None:
    """Mb/s in pieces of a path of the first car."""
    rates = 8e-6 * np.diff(arrived[::PIECE, number]) / np.diff(t_s[::PIECE])
    ax.step(t_s[::PIECE][1:], rates, color=style.colour(number), linewidth=1.2)


@measure
@style.styled
def car_over_time(lab: Laboratory, cell: Cell, controller: str) -> Figure:
    """A car over time: throughput over each network, and the distance to the next access point."""
    result = lab[cell]
    title = f"The first car of the platoon under {controller}, seed {result.seeds[0]}"
    figure, axes = style.panels(3, 1.9, title)
    t_s, arrived = readings.times_s(result), readings.series(result, "cars", "arrived_bytes")[0]
    away, which = _nearest(result)
    for number in (0, 1):
        _rates(axes[number], t_s, arrived, number)
        for sample in np.flatnonzero(np.diff(arrived[:, 0]) == 0):
            axes[number].axvspan(*t_s[sample : sample + 2], color=QUIET, zorder=0, linewidth=0)
    axes[2].plot(t_s, away, color=style.INK, linewidth=1.2)
    headings = ("Roadside", "Cellular", "Distance to the next access point")
    for ax, heading, unit in zip(axes, headings, ("Mb/s", "Mb/s", "m"), strict=True):
        ax.set_title(heading)
        ax.set_ylabel(unit)
        ax.set_ylim(bottom=0)
        for sample in np.flatnonzero(np.diff(which)):
            ax.axvline(t_s[sample + 1], color=style.FAINT, linestyle=":", linewidth=1)
    axes[-1].set_xlabel("Time (s)")
    entries = [
        style.entry("nothing arrives over the roadside", color=QUIET, linewidth=8),
        style.entry("another access point is next", color=style.FAINT, linestyle=":"),
    ]
    style.legend(figure, entries)
    return figure
