"""Sweeps: a metric over a parameter, with its interval, a line for each of several groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..statistics import Interval
from . import style
from .inputs import shortened
from .map import LEAST_FOR_TWO, across
from .scale import Scale
from .size import Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 12

Panel = TypeVar("Panel")

Points = Mapping[str, Interval]
"""Interval at each value of the parameter, keyed by the value's text."""


@style.styled
def swept(
    panels: Mapping[str, Mapping[str, Points]],
    *,
    values: Sequence[str],
    labels: tuple[str, str],
    note: str = "",
    order: Sequence[str] = (),
    difference: bool = False,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """A panel for each entry of `panels`, in it a line for each group, with the interval of each
    point where it has one.

    `values` are the values of the parameter, in order; numbers stand to scale. `labels` name the
    parameter and the drawn quantity, with their units; `note` names the settings that all points
    share. `order` gives groups their styles, also those that are not drawn. Axes begin at zero;
    with `difference` they have a line there. Raises ValueError when there is nothing to draw.
    """
    shown, note = first_panels(panels, note)
    if not any(lines and any(points for points in lines.values()) for lines in shown.values()):
        raise ValueError("there is nothing to draw: no run has the metric")
    figure, axes, width_of = laid_out(len(shown), title)
    there = list(dict.fromkeys(name for lines in shown.values() for name in lines))
    groups = list(dict.fromkeys([*order, *there]))
    scale = Scale(values, width_of)
    for ax, (name, lines) in zip(axes, shown.items(), strict=True):
        for group, points in lines.items():
            line(ax, scale, values, points, style.look(groups.index(group)), signed=difference)
        finish(ax, scale, difference)
        if len(shown) > 1:
            style.heading(ax, shortened(name, 40), [], width_of)
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
    entries = [
        style.entry(shortened(group, 40), **style.look(groups.index(group)))
        for group in there[: style.MOST_ENTRIES]
    ]
    style.legend(figure, entries if len(there) > 1 or difference else [], note=note)
    return figure


def first_panels(panels: Mapping[str, Panel], note: str) -> tuple[dict[str, Panel], str]:
    """As many panels as a figure has room for; the note says how many there are, if more."""
    shown = dict(list(panels.items())[:MOST_PANELS])
    return shown, note if len(shown) == len(panels) else f"{note} ({len(shown)} of {len(panels)})"


def laid_out(count: int, title: str | None) -> tuple[Figure, list[Axes], float]:
    """A figure of panels, two in a row if there is room, and the width of a panel in inches."""
    figure, axes = style.panels(1, 3.6, title) if count == 1 else across(count, title)
    beside = min(count, 2) if style.width() > LEAST_FOR_TWO else 1
    return figure, list(axes), style.across_panel(beside)


def line(
    ax: Axes,
    scale: Scale,
    values: Sequence[str],
    points: Points,
    how: dict[str, Any],
    *,
    signed: bool,
) -> None:
    """A line with intervals; unless values are `signed`, those of positive means end at zero. A
    value without a run leaves a gap in its own place.
    """
    known = [
        (place, points[value])
        for place, value in zip(scale.places, values, strict=True)
        if value in points
    ]
    if not known:
        return
    x, found = zip(*known, strict=True)
    halves = [one.half if math.isfinite(one.half) else 0.0 for one in found]
    means = [one.mean for one in found]
    # Most quantities cannot be negative, so their intervals end at zero.
    below = [
        min(half, mean) if mean >= 0 and not signed else half
        for half, mean in zip(halves, means, strict=True)
    ]
    ax.errorbar(
        x, means, yerr=[below, halves], capsize=style.pt(2.5), elinewidth=style.pt(1.0), **how
    )


def finish(ax: Axes, scale: Scale, difference: bool) -> None:
    """The scales of a panel."""
    if scale.log:
        ax.set_xscale("log")
    scale.label(ax.xaxis)
    if difference:
        ax.axhline(0, color=style.INK, linewidth=style.pt(1.0), zorder=1)
    elif np.nanmin(ax.get_ylim()) > 0:
        ax.set_ylim(bottom=0)
    ax.margins(x=0.04)
    ax.grid(axis="y")
