"""Curves over a parameter with their intervals, and the lines and bands to compare them with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..statistics import Interval
from . import style
from .size import Width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """Measured values over a parameter."""

    label: str
    x: Sequence[float]
    y: Sequence[Interval]


@dataclass(frozen=True)
class Line:
    """A curve from theory or from a definition over a parameter."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Band:
    """The range of accepted values over a parameter."""

    label: str
    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    curves: Sequence[Curve]
    lines: Sequence[Line] = field(default_factory=tuple)
    bands: Sequence[Band] = field(default_factory=tuple)


@style.styled
def curves(
    panels: Sequence[Panel],
    *,
    labels: tuple[str, str],
    log: bool = False,
    ticks: Sequence[float] | None = None,
    bottom: float | None = 0.0,
    note: str = "",
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """A panel for each entry, one above the other with one axis of the parameter, and one legend.

    A label has the same look in every panel. `labels` name the parameter and the drawn quantity,
    with units; `log` makes the parameter's axis logarithmic, and `ticks` are the values named
    there. `note` names the settings that all curves share. Raises ValueError for nothing to draw.
    """
    if not any(panel.curves for panel in panels):
        raise ValueError("there is nothing to draw: no panel has a curve")
    height = 3.6 if len(panels) == 1 else 2.5
    figure, axes = style.panels(len(panels), height, title)
    names = list(dict.fromkeys(curve.label for panel in panels for curve in panel.curves))
    entries: dict[str, Artist] = {}
    for ax, panel in zip(axes, panels, strict=True):
        for band in panel.bands:
            entries[band.label] = _band(ax, band)
        for number, line in enumerate(panel.lines):
            look: dict[str, Any] = {"color": style.INK, "linestyle": style.line(number + 1)}
            look["linewidth"] = style.pt(1.3)
            ax.plot(line.x, line.y, **look)
            entries[line.label] = style.entry(line.label, **look)
        for curve in panel.curves:
            entries[curve.label] = _curve(ax, curve, names.index(curve.label))
        if panel.title:
            style.heading(ax, panel.title, [])
        _scale(ax, log, ticks, bottom)
        ax.set_ylabel(labels[1])
    axes[-1].set_xlabel(labels[0])
    style.legend(figure, [entries[name] for name in _order(panels, names)], note=note)
    return figure


def _order(panels: Sequence[Panel], names: list[str]) -> list[str]:
    """Curves first, then lines and bands."""
    rest = [line.label for panel in panels for line in panel.lines]
    rest += [band.label for panel in panels for band in panel.bands]
    return list(dict.fromkeys([*names, *rest]))


def _curve(ax: Axes, curve: Curve, index: int) -> Artist:
    """A curve with its intervals; its entry in the legend."""
    half = [value.half if math.isfinite(value.half) else 0.0 for value in curve.y]
    look = style.look(index)
    bars: dict[str, Any] = {"capsize": style.pt(3), "elinewidth": style.pt(1)}
    ax.errorbar(curve.x, [value.mean for value in curve.y], half, **bars, **look)
    return style.entry(curve.label, **look)


def _band(ax: Axes, band: Band) -> Artist:
    """The area of a band."""
    from matplotlib.patches import Patch

    ax.fill_between(band.x, band.low, band.high, color="#e3e3e3", linewidth=0, zorder=0)
    return Patch(facecolor="#e3e3e3", edgecolor=style.FAINT, label=band.label)


def _scale(ax: Axes, log: bool, ticks: Sequence[float] | None, bottom: float | None) -> None:
    """The axes' scales and ticks."""
    if log:
        ax.set_xscale("log")
    if ticks is not None:
        ax.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
        ax.set_xticks([], minor=True)
    ax.margins(x=0.03, y=0.06)
    if bottom is not None:
        ax.set_ylim(bottom=bottom)
