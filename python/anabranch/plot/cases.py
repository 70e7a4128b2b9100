"""Plot of a measure in several cases: one value for each contender, against a goal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..statistics import Interval
from . import style
from .size import Width, height_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GOAL = "#dcefe0"
"""The area of values that meet the goal."""
SPREAD = 0.62
"""Height that the dots of a case take; cases are 1 apart."""
ROW_INCHES = 0.42
LABELS = 0.36
"""Part of the width that names of cases take at most; longer ones are broken."""
LOGARITHMIC = 30.0
"""Values that span more than this factor have a logarithmic axis."""


@dataclass(frozen=True)
class Dots:
    """A case: a value for each contender that has one, and the ends of the goal."""

    name: str
    values: Mapping[str, Interval]
    low: float = -math.inf
    high: float = math.inf


@style.styled
def cases(
    rows: Sequence[Dots],
    contenders: Sequence[str],
    *,
    label: str,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """A line of dots for each case, with intervals over replications, and the goal as an area.

    `contenders` are the keys of values in the order of the legend; the first one is drawn large.
    `label` names the measure with its unit. Raises ValueError when no contender has a value.
    """
    known = [value for row in rows for value in row.values.values() if math.isfinite(value.mean)]
    if not known:
        raise ValueError("there is nothing to draw: no case has a value")
    names = [style.wrapped(row.name, LABELS * style.width(), size=_labels()) for row in rows]
    entries = _entries(contenders, rows)
    figure, ax = _laid_out(names, entries, title)
    logarithmic = _is_wide(known)
    if logarithmic:
        ax.set_xscale("log")
        style.plain_ticks(ax.xaxis)
    step = SPREAD / max(len(contenders) - 1, 1)
    for index, name in enumerate(contenders):
        places = [place - SPREAD / 2 + step * index for place in range(len(rows))]
        _dots(ax, [row.values.get(name) for row in rows], places, _look(index))
    ax.margins(x=0.04)
    left, right = ax.get_xlim()
    if not logarithmic and left > 0 and left < 0.3 * right:
        left = 0.0
    for place, row in enumerate(rows):
        low, high = max(row.low, left), min(row.high, right)
        if low < high:
            ax.fill_betweenx(
                [place - 0.5, place + 0.5], low, high, color=GOAL, zorder=0, linewidth=0
            )
    ax.set_xlim(left, right)
    ax.set_yticks(range(len(rows)), names)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(label)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x")
    return figure


def _labels() -> float:
    """The size of the letters of case names, in points."""
    return style.size("ytick.labelsize")


def _laid_out(
    names: Sequence[str], entries: Sequence[Artist], title: str | None
) -> tuple[Figure, Axes]:
    """A figure with its axes, its legend and its title in their places.

    They are computed: a layout that Matplotlib solves takes half a second, and a dossier has a
    figure for each of dozens of criteria.
    """
    from matplotlib.figure import Figure

    columns, shown = style.arranged(entries, style.across_figure())
    legend = 1.75 * style.size("legend.fontsize") / 72 * math.ceil(len(shown) / columns)
    letter = style.size("font.size") / 72
    left = max(style.inches(line, size=_labels()) for name in names for line in name.split("\n"))
    left += 1.1 * letter
    heading = ""
    if title:
        heading = style.wrapped(title, style.across_figure(), size=style.size("figure.titlesize"))
    top = 0.5 * letter + 1.9 * letter * len(heading.splitlines())
    bottom = 3.9 * letter + legend
    rows = height_of(ROW_INCHES * len(names), style.width())
    width, height = style.width(), top + rows + bottom
    figure = Figure(figsize=(width, height))
    ax = figure.add_axes(
        (left / width, bottom / height, (width - left - letter) / width, rows / height)
    )
    if heading:
        figure.suptitle(heading, x=0.01, y=1 - 0.4 * letter / height, ha="left", va="top")
    if shown:
        figure.legend(handles=shown, loc="lower center", bbox_to_anchor=(0.5, 0.0), ncols=columns)
    return figure, ax


def _is_wide(values: Sequence[Interval]) -> bool:
    """Whether values need a logarithmic axis."""
    means = [value.mean for value in values]
    return min(means) > 0 and max(means) / min(means) > LOGARITHMIC


def _look(index: int) -> dict[str, Any]:
    """Colour and marker of a contender; those that are compared with are hollow."""
    size = style.pt(8.0 if index == 0 else 5.0)
    return {
        "color": style.colour(index),
        "marker": style.marker(index),
        "markersize": size,
        "markerfacecolor": style.colour(index) if index == 0 else "white",
        "markeredgewidth": style.pt(1.1),
        "linestyle": "none",
    }


def _dots(
    ax: Axes, values: Sequence[Interval | None], places: Sequence[float], look: dict[str, Any]
) -> None:
    """The values of a contender, and the intervals of those that have one."""
    known = [
        (value, place)
        for value, place in zip(values, places, strict=True)
        if value is not None and math.isfinite(value.mean)
    ]
    wide = [(value, place) for value, place in known if 0 < value.half < math.inf]
    if wide:
        ax.hlines(
            [place for _, place in wide],
            [value.low for value, _ in wide],
            [value.high for value, _ in wide],
            color=look["color"],
            linewidth=style.pt(1.4),
        )
    if known:
        ax.plot([value.mean for value, _ in known], [place for _, place in known], **look)


def _entries(contenders: Sequence[str], rows: Sequence[Dots]) -> list[Artist]:
    """The legend: contenders that are drawn, and the area of the goal."""
    from matplotlib.patches import Patch

    drawn = {name for row in rows for name in row.values}
    entries: list[Artist] = [
        style.entry(name, **_look(index)) for index, name in enumerate(contenders) if name in drawn
    ]
    if any(math.isfinite(row.low) or math.isfinite(row.high) for row in rows):
        entries.append(Patch(facecolor=GOAL, label="meets the goal"))
    return entries
