"""Drawings of the report that are no curves: rates over the excursion, and losses in cycles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...plot import style
from ...statistics import interval
from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from .episodes import cycles
from .reading import bins_kbps

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

NAMES = ("(a) subflow 0 over 4G", "(b) subflow 1 over Wi-Fi", "(c) TCP")
AWAY, OUTAGE = "#eeeeee", "#cccccc"


def _ends(columns: Floats) -> tuple[Floats, Floats]:
    """Means over seeds and halves of their intervals; values have shape (seeds, points)."""
    values = [interval(column) for column in columns.T]
    half = np.array([value.half if np.isfinite(value.half) else 0.0 for value in values])
    return np.array([value.mean for value in values]), half


@measure
@style.styled
def instantaneous(
    lab: Laboratory, cell: Cell, title: str, away_s: Sequence[float], outage_s: Sequence[float]
) -> Drawing:
    """Both subflows and the TCP in pieces of 1 s: mean over replications with its interval, and one
    of them.
    """
    result = lab[cell]
    figure, axes = style.panels(3, 2.2, title)
    for number, (ax, name) in enumerate(zip(axes, NAMES, strict=True)):
        bins = bins_kbps(result, number)
        t_s = np.arange(bins.shape[1]) + 0.5
        mean, half = _ends(bins)
        colour = style.colour(number)
        ax.axvspan(*away_s, color=AWAY, zorder=0, linewidth=0)
        ax.axvspan(*outage_s, color=OUTAGE, zorder=0, linewidth=0)
        ax.plot(t_s, bins[0], color=style.FAINT, linewidth=0.9)
        ax.plot(t_s, mean, color=colour, linewidth=1.8)
        ax.fill_between(t_s, mean - half, mean + half, color=colour, alpha=0.25, linewidth=0)
        ax.set_title(name)
        ax.set_ylim(0, max(1050.0, 1.05 * float(mean.max())))
        ax.set_ylabel("Rate (kb/s)")
    axes[-1].set_xlabel("Time (s)")
    entries = [
        style.entry("mean and 95 % interval", color=style.INK, linewidth=1.8),
        style.entry(f"seed {result.seeds[0]}", color=style.FAINT, linewidth=0.9),
        style.entry("away", color=AWAY, linewidth=8),
        style.entry("no Wi-Fi at all", color=OUTAGE, linewidth=8),
    ]
    style.legend(figure, entries)
    return figure


@measure
@style.styled
def losses_drawing(
    lab: Laboratory, cells: Sequence[Cell], names: Sequence[str], cycle: int, title: str
) -> Drawing:
    """Part of the cycles by the number of packets lost in them, on a logarithmic scale."""
    figure, (ax,) = style.panels(1, 3.4, title)
    width = 0.26
    for place, cell in enumerate(cells):
        counts = cycles(lab, cell, cycle)
        heights, halves = _ends(counts[:, :6] / counts.sum(axis=1, keepdims=True))
        x = np.arange(6) + (place - 1) * width
        bars = np.stack([np.minimum(halves, heights * 0.9), halves])
        ax.bar(x, heights, width * 0.9, color=style.colour(place))
        ax.errorbar(x, heights, bars, fmt="none", ecolor=style.INK, elinewidth=1, capsize=2)
    ax.set_yscale("log")
    ax.set_ylim(1e-5, 1.5)
    ax.set_ylabel("Part of the cycles")
    ax.set_xlabel(f"Lost packets in a cycle of {cycle}")
    ax.set_xticks(range(6))
    entries = [
        style.entry(name, color=style.colour(place), linewidth=7)
        for place, name in enumerate(names)
    ]
    style.legend(figure, entries)
    return figure
