"""Maps: a quantity over a grid of two parameters, or lines over one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import style
from .heat import LEVELS, coloured, range_of
from .inputs import shortened
from .scale import Floats, Scale
from .size import Width, height_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 4

LEAST_FOR_TWO = 5.0
"""Width in inches from which a figure has two maps side by side."""

HEIGHT_INCHES = (4.2, 3.0)
"""Heights of the axes of maps on a page: with one and with two in a row."""


@style.styled
def heat_map(
    panels: Mapping[str, Floats],
    *,
    columns: Sequence[str],
    rows: Sequence[str] | None = None,
    labels: tuple[str, str],
    quantity: str,
    note: str = "",
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """A panel for each entry of `panels`, each with its own scale of colours, and labelled
    contours.

    Arrays have shape (columns, rows). Without `rows` the shape is (columns,), and the arrays are
    drawn as lines in one panel. `columns` and `rows` are the values of the parameters as text;
    numbers stand to scale, on a logarithmic axis where the largest is far above the smallest, and
    other values at equal distances. `labels` name the parameters, `quantity` names the values, with
    their unit, and `note` the settings that all cells share. NaN stays white.

    Raises ValueError when there is nothing to draw or shapes do not fit.
    """
    shape = (len(columns),) if rows is None else (len(columns), len(rows))
    for name, values in panels.items():
        if np.shape(values) != shape:
            raise ValueError(f"the panel {name!r} has shape {np.shape(values)}, not {shape}")
    shown = dict(list(panels.items())[: style.MOST_ENTRIES if rows is None else MOST_PANELS])
    if not any(np.isfinite(values).any() for values in shown.values()):
        raise ValueError("there is nothing to draw: no cell has a number")
    if len(shown) < len(panels):
        note += f" ({len(shown)} of {len(panels)})"
    if rows is None:
        return lines(shown, columns, (labels[0], quantity), note, title)
    figure, grid = across(len(shown), title)
    scales = Scale(columns, style.across_panel(min(len(shown), 2)) * 0.75), Scale(rows)
    for ax, (name, values) in zip(grid, shown.items(), strict=True):
        span = range_of([values], LEVELS, False)
        bar = figure.colorbar(coloured(ax, values, scales, span), ax=ax)
        bar.set_label(quantity)
        bar.outline.set_visible(False)
        scales[0].label(ax.xaxis)
        scales[1].label(ax.yaxis)
        style.heading(ax, shortened(name, 40), [], style.across_panel(min(len(shown), 2)))
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
    style.legend(figure, [], note=note)
    return figure


def across(count: int, title: str | None) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels, two in a row if there is room, with a title over all if given."""
    in_a_row = min(count, 2) if style.width() > LEAST_FOR_TWO else 1
    rows = math.ceil(count / in_a_row)
    figure = style.blank(title)
    grid = figure.subplots(rows, in_a_row, squeeze=False)
    flat = list(grid.ravel())
    for ax in flat[count:]:
        ax.remove()
    total = rows * height_of(HEIGHT_INCHES[in_a_row > 1], style.width())
    style.LAYOUTS[figure] = style.Layout([row[0] for row in grid], lambda: total)
    return figure, flat[:count]


def lines(
    shown: Mapping[str, Floats],
    columns: Sequence[str],
    labels: tuple[str, str],
    note: str,
    title: str | None,
) -> Figure:
    """A line for each array over one parameter."""
    figure, (ax,) = style.panels(1, 3.6, title)
    scale = Scale(columns, style.across_panel())
    looks = [style.look(index) for index in range(len(shown))]
    for values, look in zip(shown.values(), looks, strict=True):
        ax.plot(scale.places, values, **look)
    if scale.log:
        ax.set_xscale("log")
    scale.label(ax.xaxis)
    ax.set_ylim(bottom=0)
    ax.margins(x=0.04)
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    entries = [style.entry(shortened(n, 40), **look) for n, look in zip(shown, looks, strict=True)]
    style.legend(figure, entries, note=note)
    return figure
