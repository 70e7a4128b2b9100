"""Maps of a sweep: a metric over two parameters, a map for each of several groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import style
from .heat import LEVELS, coloured, range_of
from .inputs import shortened
from .map import LEAST_FOR_TWO
from .scale import MOST_TICKS, Floats, Scale
from .size import Width, height_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEWER_LEVELS = 4
"""Approximate number of contours of small maps."""

MOST_MAPS = 12

MOST_BESIDE = 3
"""Maps in a row."""

HEIGHT_INCHES = (4.2, 3.0, 2.3)
"""Heights of a map's axes on a page, with one, two and three of them in a row."""

BAR = 0.9
"""Fraction of a row that maps take; the colour bar takes the rest."""


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
