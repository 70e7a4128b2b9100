"""How all plots look: size, colours that colour-blind readers can tell apart, lines and legends.

A class has one colour everywhere; the paths of a class are shades of it. Figures are 8 inches wide,
which is 800 pixels on a screen.
"""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#56B4E9", "#444444")
"""After Okabe and Ito, the yellows darkened to be seen on white."""

LINES = ("-", "--", ":", "-.")
INK = "#222222"
FAINT = "#8a8a8a"
WIDTH_INCHES = 8.0
ACROSS_FIGURE = 7.8
"""Inches of a line from the left edge."""
ACROSS_PANEL = 7.2
"""Inches of a line from the left end of a panel, where the y axis takes the rest."""
BESIDE_ENTRY = 0.57
"""Inches that the line of a legend's entry takes with the gaps around it: 4.1 times its size."""
MOST_ENTRIES = 12
"""Legends with more entries are cut."""

STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 11,
    "figure.dpi": 100,
    "figure.titlesize": 13,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 11,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.xmargin": 0.01,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.8,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.5,
    "legend.borderaxespad": 0.2,
    "lines.linewidth": 1.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "anabranch",
}


def context() -> AbstractContextManager[None]:
    """The style alone, whatever the user's settings are, so that the same input looks the same."""
    from matplotlib import style

    return style.context(["default", STYLE])


def styled(function: Callable[P, Figure]) -> Callable[P, Figure]:
    """A plot function that draws in the style."""

    @functools.wraps(function)
    def inside(*args: P.args, **options: P.kwargs) -> Figure:
        with context():
            return function(*args, **options)

    return inside


def inches(text: str, **font: Any) -> float:
    """The width of a line of text, `font` as for `matplotlib.font_manager.FontProperties`."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    points, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(**font), False)
    return float(points) / 72


def wrapped(title: str, width: float, **font: Any) -> str:
    """A title over as few lines as are at most `width` inches wide."""
    for letters in range(len(title), 1, -1):
        lines = textwrap.wrap(title, letters)
        if all(inches(text, **font) <= width for text in lines):
            return "\n".join(lines)
    return title


def panels(
    count: int, height: float, title: str, ratios: Sequence[float] = (1,)
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels one above the other, sharing the x axis, on average `height`
    inches high.

    Their heights are as `ratios`, which are repeated.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_INCHES, 0.8 + height * count), layout="constrained")
    size = STYLE["figure.titlesize"]
    figure.suptitle(wrapped(title, ACROSS_FIGURE, size=size), x=0.01, ha="left")
    heights = [ratios[row % len(ratios)] for row in range(count)]
    rows = figure.subplots(count, 1, sharex=True, squeeze=False, height_ratios=heights)
    axes = [row[0] for row in rows]
    for ax in axes:
        ax.grid(axis="y")
        ax.tick_params(labelsize=10, color=FAINT)
    return figure, axes


def colour(index: int) -> str:
    """The colour of a class, by its place in the scenario."""
    return PALETTE[index % len(PALETTE)]


def line(index: int) -> str:
    """A line style, by number."""
    return LINES[index % len(LINES)]


def shade(base: str, index: int, count: int) -> tuple[float, float, float]:
    """The colour of one of `count` paths: from darker than the class's to lighter."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(base)
    if count == 1:
        return red, green, blue
    step = -0.4 + 0.9 * index / (count - 1)
    return mixed(red, step), mixed(green, step), mixed(blue, step)


def tint(base: str) -> tuple[float, float, float]:
    """A light version of a colour, for areas."""
    return shade(base, 1, 2)


def mixed(channel: float, step: float) -> float:
    """A colour channel moved towards black (step -1) or white (step 1)."""
    return channel * (1 + step) if step < 0 else channel + (1 - channel) * step


def entry(label: str, **look: Any) -> Artist:
    """A line for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def heading(ax: Axes, title: str, entries: Sequence[Artist], across: float = ACROSS_PANEL) -> None:
    """A panel's title, and below it the legend, above the data, both at most `across` inches wide."""
    columns, shown = arranged(entries, across)
    rows = math.ceil(len(shown) / columns) if shown else 0
    font = {"size": STYLE["axes.titlesize"], "weight": STYLE["axes.titleweight"]}
    ax.set_title(wrapped(title, across, **font), pad=8 + 17 * rows)
    if shown:
        anchor = (-0.01, 1.01)
        ax.legend(handles=shown, loc="lower left", bbox_to_anchor=anchor, ncols=columns)


def legend(figure: Figure, entries: Sequence[Artist], most: int = MOST_ENTRIES) -> None:
    """A legend for the whole figure, below the data, of at most so many entries."""
    columns, shown = arranged(entries, ACROSS_FIGURE, most)
    figure.legend(handles=shown, loc="outside lower center", ncols=columns)


def arranged(
    entries: Sequence[Artist], width: float, most: int = MOST_ENTRIES
) -> tuple[int, list[Artist]]:
    """A legend in as few rows as fit: the number of columns, and the entries as they fill them.

    Rows are read in the order of `entries` and are of about equal length; too many are cut.
    """
    shown = list(entries)
    if len(shown) > most:
        more = len(shown) - most + 1
        shown = [*shown[: most - 1], entry(f"and {more} more", linestyle="none")]
    size = STYLE["legend.fontsize"]
    widths = [inches(str(artist.get_label()), size=size) + BESIDE_ENTRY for artist in shown]
    columns = 1
    for rows in range(1, len(shown)):
        wanted = math.ceil(len(shown) / rows)
        if sum(max(widths[i::wanted]) for i in range(wanted)) <= width:
            columns = wanted
            break
    return columns, [artist for i in range(columns) for artist in shown[i::columns]]


def warmup(ax: Axes, warmup_s: float) -> list[Artist]:
    """Shades the time that no metric counts; what the legend says of it."""
    left, right = ax.get_xlim()
    if warmup_s <= left:
        return []
    area = ax.axvspan(left, min(warmup_s, right), color="#eeeeee", zorder=0, linewidth=0)
    area.set_label("warm-up")
    return [area]
