"""Maps: a quantity over a grid of two parameters, or lines over one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import style
from .inputs import shortened
from .size import Width, height_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

COLOURS = "cividis"
"""Even in lightness, and the same to eyes that do not tell red from green."""

LEVELS = 6
"""Approximate number of contours."""

MOST_TICKS = 12
MOST_PANELS = 4

FAR = 20.0
"""From this ratio of the largest to the smallest value on, an axis is logarithmic."""

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
        bar = figure.colorbar(panel(ax, values, scales), ax=ax)
        bar.set_label(quantity)
        bar.outline.set_visible(False)
        scales[0].label(ax.xaxis)
        scales[1].label(ax.yaxis)
        style.heading(ax, shortened(name, 40), [], style.across_panel(min(len(shown), 2)))
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
    style.legend(figure, [], note=note)
    return figure


class Scale:
    """Positions of the values of a parameter on an axis."""

    def __init__(self, values: Sequence[str], room: float = math.inf) -> None:
        """`room` is the length of the axis in inches."""
        self.bare, _ = split_unit(values)
        self.room = room
        known = numbers(self.bare)
        self.known = known is not None and len(known) > 1 and rising(known)
        """Whether the values are numbers that stand to scale."""
        self.places = np.array(known if self.known and known else range(len(values)), dtype=float)
        low, high = self.places[0], self.places[-1]
        self.log = bool(self.known and low > 0 and high > FAR * low)

    @property
    def edges(self) -> Floats:
        """Edges of cells: halfway between values, and symmetric about the first and the
        last value.
        """
        at = np.log(self.places) if self.log else self.places
        if len(at) == 1:
            return np.array([at[0] - 0.5, at[0] + 0.5])
        middle = (at[1:] + at[:-1]) / 2
        ends = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
        return np.exp(ends) if self.log else ends

    def label(self, axis: Any) -> None:
        """The values themselves on an axis, some of them where they are many or close."""
        from matplotlib.ticker import NullLocator

        shown = list(range(0, len(self.bare), math.ceil(len(self.bare) / MOST_TICKS)))
        axis.set_ticks([self.places[n] for n in shown], [self.bare[n] for n in shown])
        axis.set_minor_locator(NullLocator())
        font = style.size("xtick.labelsize")
        wide = sum(style.inches(self.bare[n] + "0", size=font) for n in shown)
        if axis.axis_name == "x" and wide > self.room:
            for label in axis.get_ticklabels():  # each ends below its tick
                label.set(rotation=45, ha="right", rotation_mode="anchor")


def rising(values: Sequence[float]) -> bool:
    """Whether the values are strictly increasing."""
    return all(after > before for before, after in pairwise(values))


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


def panel(ax: Axes, values: Floats, scales: tuple[Scale, Scale]) -> Any:
    """Colours and contours of one array; what the colour bar belongs to."""
    from matplotlib.ticker import MaxNLocator

    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    flat = high - low <= 1e-9 * max(abs(high), abs(low))
    if flat:  # a scale of no length has no colours
        low, high = low - 0.05 * abs(low or 1.0), high + 0.05 * abs(high or 1.0)
    x, y = scales
    shown = np.ma.masked_invalid(values.T)
    image = ax.pcolormesh(x.edges, y.edges, shown, cmap=COLOURS, vmin=low, vmax=high)
    image.set_edgecolor("face")  # no seams between cells in PDF
    ax.set_xscale("log" if x.log else "linear")
    ax.set_yscale("log" if y.log else "linear")
    ax.set_xlim(x.edges[0], x.edges[-1])
    ax.set_ylim(y.edges[0], y.edges[-1])
    if flat or min(values.shape) < 2 or not (x.known and y.known):
        return image
    levels = MaxNLocator(LEVELS).tick_values(low, high)
    inside = [level for level in levels if low < level < high]
    if inside:
        middle = (low + high) / 2.0
        colours = ["white" if level < middle else "black" for level in inside]
        thin = style.pt(1.0)
        contours = ax.contour(x.places, y.places, shown, inside, colors=colours, linewidths=thin)
        font = style.size("legend.fontsize")
        ax.clabel(contours, fmt=lambda level: f"{level:g}", fontsize=font)
    return image


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
    looks: list[dict[str, Any]] = [
        {
            "color": style.colour(index),
            "linestyle": style.line(index),
            "marker": style.marker(index),
            **style.hollow(),
        }
        for index in range(len(shown))
    ]
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


def numbers(bare: Sequence[str]) -> list[float] | None:
    """Values as numbers; None if a value is not a number."""
    try:
        return [float(value) for value in bare]
    except ValueError:
        return None


def split_unit(values: Sequence[str]) -> tuple[list[str], str]:
    """Values without the unit that all of them have, and that unit; values as they are where units
    differ.
    """
    parts = [value.split(" ", 1) for value in values]
    units = {part[1] if len(part) == 2 else "" for part in parts}
    if len(units) != 1:
        return list(values), ""
    return [part[0] for part in parts], units.pop()
