"""Maps of a sweep: a metric over two parameters, a map for each of several groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import style
from .inputs import shortened
from .map import COLOURS, LEAST_FOR_TWO, LEVELS, MOST_TICKS, Floats, Scale
from .size import Width, height_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AROUND_ZERO = "PuOr"
"""Two colours that no eyes confuse, with white between them."""

DARK = 0.8
"""The part of their way to the ends from which on these colours are dark."""

FEWER_LEVELS = 4
"""Approximate number of contours of small maps."""

MOST_MAPS = 12

MOST_BESIDE = 3
"""Maps in a row."""

HEIGHT_INCHES = (4.2, 3.0, 2.3)
"""Heights of a map's axes on a page, with one, two and three of them in a row."""

BAR = 0.9
"""Fraction of a row that maps take; the colour bar takes the rest."""


@dataclass(frozen=True)
class Range:
    """The numbers that colours stand for, and at which contours are."""

    low: float
    high: float
    colours: str
    levels: Sequence[float]

    def ink(self, level: float) -> str:
        """The colour of a contour that is visible on the map."""
        if self.colours == COLOURS:
            return "white" if level < (self.low + self.high) / 2 else "black"
        return "white" if abs(level) > DARK * self.high else "black"


@style.styled
def swept_map(
    panels: Mapping[str, Mapping[str, Floats]],
    *,
    columns: Sequence[str],
    rows: Sequence[str],
    labels: tuple[str, str],
    quantity: str,
    note: str = "",
    difference: bool = False,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """A map for each group of each entry of `panels`, with labelled contours; those of an entry
    have one scale of colours, so that groups can be compared.

    Arrays are (columns, rows), NaN where there is nothing. `columns` and `rows` are the values of
    the parameters as text, which `labels` name; numbers stand to scale. `quantity` names the
    values, with their unit, and `note` the settings that all cells share. With `difference`, white
    is zero. Raises ValueError when there is nothing to draw.
    """
    all_ = [(name, group) for name, groups in panels.items() for group in groups]
    kept = set(all_[:MOST_MAPS])
    shown = {
        name: {group: values for group, values in groups.items() if (name, group) in kept}
        for name, groups in panels.items()
    }
    shown = {name: groups for name, groups in shown.items() if groups}
    if not any(np.isfinite(one).any() for groups in shown.values() for one in groups.values()):
        raise ValueError("there is nothing to draw: no cell has a number")
    if len(kept) < len(all_):
        note += f" ({len(kept)} of {len(all_)} maps)"
    figure, blocks, beside = arranged([len(groups) for groups in shown.values()], title)
    labelled = style.BESIDE_PANEL * style.size("font.size") / 72
    room = (BAR * style.across_figure() - labelled) / beside
    scales = Scale(columns, room), Scale(rows)
    for block, (name, groups) in zip(blocks, shown.items(), strict=True):
        levels = LEVELS if beside < MOST_BESIDE else FEWER_LEVELS
        span = range_of(list(groups.values()), levels, difference)
        for place, (ax, (group, values)) in enumerate(zip(block, groups.items(), strict=True)):
            image = coloured(ax, values, scales, span)
            words = (name, group) if len(shown) > 1 and len(groups) > 1 else (group,)
            heading = style.SEPARATOR.join(words) if len(groups) > 1 else name or group
            style.heading(ax, shortened(heading, 40), [], room)
            ticked(ax.xaxis, scales[0])
            scales[1].label(ax.yaxis)
            lowest = place + beside >= len(groups)
            ax.tick_params(labelbottom=lowest, labelleft=place % beside == 0)
            ax.set_xlabel(labels[0] if lowest else "")
            ax.set_ylabel(labels[1] if place % beside == 0 else "")
        bar = figure.colorbar(image, ax=block)
        bar.set_label(quantity)
        bar.outline.set_visible(False)
    style.legend(figure, [], note=note)
    return figure


def arranged(counts: Sequence[int], title: str | None) -> tuple[Figure, list[list[Axes]], int]:
    """A figure with one block of maps for each count, their axes, and the number of maps
    in a row.
    """
    most = MOST_BESIDE if style.width() > LEAST_FOR_TWO else 1
    lines = math.ceil(max(counts) / most)
    beside = math.ceil(max(counts) / lines)
    heights = [math.ceil(count / beside) for count in counts]
    figure = style.blank(title)
    grid = figure.subplots(sum(heights), beside, squeeze=False)
    blocks, first = [], 0
    for count, height in zip(counts, heights, strict=True):
        flat = list(grid[first : first + height].ravel())
        for ax in flat[count:]:
            ax.remove()
        blocks.append(flat[:count])
        first += height
    total = sum(heights) * height_of(HEIGHT_INCHES[beside - 1], style.width())
    style.LAYOUTS[figure] = style.Layout([row[0] for row in grid], lambda: total)
    return figure, blocks, beside


def ticked(axis: Any, scale: Scale) -> None:
    """Labels the values of a parameter on an axis; of numbers, as many as fit."""
    scale.label(axis)
    if not scale.known:
        return
    font = style.size("xtick.labelsize")
    wide = sum(style.inches(f"{value}00", size=font) for value in scale.bare)
    every = max(math.ceil(wide / scale.room), math.ceil(len(scale.bare) / MOST_TICKS))
    places, texts = scale.places[::every], scale.bare[::every]
    axis.set_ticks(list(places), texts, rotation=0, ha="center", rotation_mode="default")


def range_of(arrays: Sequence[Floats], levels: int, difference: bool) -> Range:
    """The range of the colours of several maps, and the levels of their contours."""
    from matplotlib.ticker import MaxNLocator

    finite = np.concatenate([one[np.isfinite(one)] for one in arrays])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    flat = high - low <= 1e-9 * max(abs(high), abs(low))
    found = [] if flat else MaxNLocator(levels).tick_values(low, high)
    ticks = [float(level) for level in found]
    if difference:
        most = max(abs(low), abs(high)) or 1.0
        return Range(-most, most, AROUND_ZERO, ticks)
    if flat:  # a scale of no length has no colours
        low, high = low - 0.05 * abs(low or 1.0), high + 0.05 * abs(high or 1.0)
    return Range(low, high, COLOURS, ticks)


def coloured(ax: Axes, values: Floats, scales: tuple[Scale, Scale], span: Range) -> Any:
    """Colours and contours of one array; what the colour bar belongs to."""
    x, y = scales
    shown = np.ma.masked_invalid(values.T)
    image = ax.pcolormesh(x.edges, y.edges, shown, cmap=span.colours, vmin=span.low, vmax=span.high)
    image.set_edgecolor("face")  # no seams between cells in PDF
    ax.set_xscale("log" if x.log else "linear")
    ax.set_yscale("log" if y.log else "linear")
    ax.set_xlim(x.edges[0], x.edges[-1])
    ax.set_ylim(y.edges[0], y.edges[-1])
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    inside = [level for level in span.levels if low < level < high]
    if inside and min(values.shape) > 1 and x.known and y.known:
        contours = ax.contour(
            x.places,
            y.places,
            shown,
            inside,
            colors=[span.ink(level) for level in inside],
            linewidths=style.pt(1.0),
            linestyles="solid",
        )
        font = style.size("legend.fontsize")
        ax.clabel(contours, fmt=lambda level: f"{level:g}".replace("-", "−"), fontsize=font)
    return image
