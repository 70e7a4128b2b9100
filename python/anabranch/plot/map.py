"""Maps: a quantity over a grid of two parameters, or lines over one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import style
from .inputs import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

COLOURS = "cividis"
"""Even in lightness, and the same to eyes that do not tell red from green."""

LEVELS = 6
"""About as many contours."""

MOST_TICKS = 12
MOST_PANELS = 4


@style.styled
def heat_map(
    panels: Mapping[str, Floats],
    *,
    columns: Sequence[str],
    rows: Sequence[str] | None = None,
    labels: tuple[str, str],
    quantity: str,
    title: str,
) -> Figure:
    """A panel for each entry of `panels`, each with its own scale of colours, and labelled
    contours.

    Arrays are (columns, rows), or (columns,) without `rows`, and are then drawn as lines in one
    panel. `columns` and `rows` are the values of the parameters as text, at equal distances in a
    map; `labels` name the parameters, and `quantity` is what is drawn, with its unit. NaN stays
    white.

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
        title += f" ({len(shown)} of {len(panels)})"
    if rows is None:
        return lines(shown, columns, labels[0], quantity, title)
    figure, grid = across(len(shown), title)
    for number, (ax, (name, values)) in enumerate(zip(grid, shown.items(), strict=True)):
        bar = figure.colorbar(panel(ax, values), ax=ax)
        last = number == len(shown) - 1 or number % 2 == 1
        bar.set_label(quantity if last else "")
        ticks(ax.xaxis, columns)
        ticks(ax.yaxis, rows)
        ax.tick_params(labelsize=10, color=style.FAINT)
        ax.set_title(shortened(name, 40))
        ax.set_xlabel(labels[0])
        ax.set_ylabel("" if number % 2 else labels[1])
    return figure


def across(count: int, title: str) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels beside each other, two in a row, with a title over all."""
    from matplotlib.figure import Figure

    size = style.STYLE["figure.titlesize"]
    in_a_row = min(count, 2)
    rows = math.ceil(count / 2)
    height = 0.8 + (5.0 if count == 1 else 4.0 * rows)
    figure = Figure(figsize=(style.WIDTH_INCHES, height), layout="constrained")
    figure.suptitle(style.wrapped(title, style.ACROSS_FIGURE, size=size), x=0.01, ha="left")
    grid = figure.subplots(rows, in_a_row, squeeze=False).ravel()
    for ax in grid[count:]:
        ax.remove()
    return figure, list(grid[:count])


def panel(ax: Axes, values: Floats) -> Any:
    """Colours and contours of one array; what the colour bar belongs to."""
    from matplotlib.ticker import MaxNLocator

    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    flat = high - low <= 1e-9 * max(abs(high), abs(low))
    if flat:  # a scale of no length has no colours
        low, high = low - 0.05 * abs(low or 1.0), high + 0.05 * abs(high or 1.0)
    across_x = np.arange(values.shape[0])
    up_y = np.arange(values.shape[1])
    image = ax.imshow(values.T, origin="lower", aspect="auto", cmap=COLOURS, vmin=low, vmax=high)
    ax.grid(False)
    if flat or min(values.shape) < 2:
        return image
    levels = MaxNLocator(LEVELS).tick_values(low, high)
    inside = [level for level in levels if low < level < high]
    if inside:
        middle = (low + high) / 2.0
        colours = ["white" if level < middle else "black" for level in inside]
        contours = ax.contour(across_x, up_y, values.T, inside, colors=colours, linewidths=1.0)
        ax.clabel(contours, fmt=lambda level: f"{level:g}", fontsize=9)
    return image


def lines(
    shown: Mapping[str, Floats], columns: Sequence[str], label: str, quantity: str, title: str
) -> Figure:
    """A line for each array over one parameter."""
    figure, (ax,) = style.panels(1, 3.6, title)
    bare, _ = split_unit(columns)
    places = numbers(bare)
    for index, values in enumerate(shown.values()):
        look: dict[str, Any] = {"color": style.colour(index), "marker": "o", "markersize": 4}
        ax.plot(
            np.arange(len(bare)) if places is None else places,
            values,
            linestyle=style.line(index // len(style.PALETTE)),
            **look,
        )
    if places is None:
        ticks(ax.xaxis, columns)
    ax.set_ylim(bottom=0)
    ax.margins(x=0.04)
    ax.set_xlabel(label)
    ax.set_ylabel(quantity)
    style.legend(
        figure,
        [
            style.entry(
                shortened(name, 40),
                color=style.colour(i),
                linestyle=style.line(i // len(style.PALETTE)),
            )
            for i, name in enumerate(shown)
        ],
    )
    return figure


def ticks(axis: Any, values: Sequence[str]) -> None:
    """The values themselves, some of them where they are many; without the unit where all have the
    same.
    """
    every = math.ceil(len(values) / MOST_TICKS)
    bare, _ = split_unit(values)
    letters = sum(len(value) for value in bare[::every])
    axis.set_ticks(range(0, len(values), every), bare[::every])
    if axis.axis_name == "x" and letters > 30:
        axis.set_tick_params(rotation=45)


def numbers(bare: Sequence[str]) -> list[float] | None:
    """Values as numbers, None where one of them is none."""
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
