"""How all plots look: size, colours that colour-blind readers can tell apart, lines and legends.

A class has one colour in all plots, and a line style, a marker and a hatch, which distinguish
classes in print without colour. A path of a user has these too. Sizes follow the width of the
figure, which `context` sets.
"""

from __future__ import annotations

import functools
import math
import textwrap
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from .size import PAGE_PT, Width, height_of, inches_of, letters_pt

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

NAMED = {"blue": "#0072B2", "red": "#B3202A", "green": "#009E73", "orange": "#D55E00"}
"""Colours of classes with these names: a red class drawn in orange would mislead."""
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D00", "#56B4E9", "#444444")
"""After Okabe and Ito, the yellows darkened to be seen on white."""

LINES = ("-", "--", ":", "-.", (0, (7, 2)), (0, (4, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "oo", "----")
INK = "#222222"
FAINT = "#8a8a8a"
WARMUP = "#e8e8e8"
SEPARATOR = " · "
"""Between the parts of a note."""
MARGIN = 0.2
"""Inches at both edges of a figure together that lines of text leave free."""
BESIDE_PANEL = 6.0
"""Widths of a label's letter that the y axis with its numbers and its label takes."""
BESIDE_ENTRY = 4.1
"""The line of a legend's entry with the gaps around it, in sizes of its letters."""
MOST_ENTRIES = 12
"""Legends with more entries are cut."""
FEWEST_MARKERS = 8
"""On a line with many points."""
AXES_PART = 0.75
"""The part of a panel's height that is its axes'; the rest is for labels."""

STYLE: dict[str, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "figure.dpi": 100,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.xmargin": 0.01,
    "grid.color": "#dddddd",
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.5,
    "legend.borderaxespad": 0.2,
    "legend.borderpad": 0.2,
    "pdf.fonttype": 42,  # TrueType; publishers refuse Type 3, which is Matplotlib's default
    "svg.fonttype": "none",  # text that can be searched and edited
    "svg.hashsalt": "anabranch",
}
SIZES = {
    "font.size": 1.0,
    "figure.titlesize": 1.2,
    "axes.titlesize": 1.0,
    "axes.labelsize": 1.0,
    "xtick.labelsize": 0.9,
    "ytick.labelsize": 0.9,
    "legend.fontsize": 0.9,
    "legend.title_fontsize": 0.85,
}
"""Font sizes relative to that of labels."""
LENGTHS_PT = {
    "lines.linewidth": 1.5,
    "lines.markersize": 5.0,
    "grid.linewidth": 0.8,
    "axes.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "patch.linewidth": 1.0,
    "xtick.major.width": 0.8,
    "ytick.major.width": 0.8,
    "xtick.major.size": 3.5,
    "ytick.major.size": 3.5,
}
"""On a page; smaller where letters are."""


@dataclass(frozen=True)
class Layout:
    """Rows of axes in a figure, and their heights."""

    rows: Sequence[Axes]
    """One of each row."""
    inches: Callable[[], float]
    """The height of all rows together."""


LAYOUTS: weakref.WeakKeyDictionary[Figure, Layout] = weakref.WeakKeyDictionary()
"""Figures whose height `settle` adapts to their content."""

RECIPES: weakref.WeakKeyDictionary[Figure, Callable[..., Figure]] = weakref.WeakKeyDictionary()
"""For each figure, the function that draws it at a given width."""


def context(width: Width | None = None) -> AbstractContextManager[None]:
    """The package's style without the user's settings, so that the same input looks the same.

    Raises ValueError for an invalid width.
    """
    from matplotlib import style

    inches = inches_of(width)
    size = letters_pt(inches)
    sizes: dict[str, Any] = {name: size * part for name, part in SIZES.items()}
    lengths = {name: pt * size / PAGE_PT for name, pt in LENGTHS_PT.items()}
    figsize: dict[str, Any] = {"figure.figsize": (inches, inches)}
    return style.context(["default", STYLE | sizes | lengths | figsize])


def styled(function: Callable[P, Figure]) -> Callable[P, Figure]:
    """A plot function that draws in the style, at the width of its option `width` if it has one."""

    @functools.wraps(function)
    def inside(*args: P.args, **options: P.kwargs) -> Figure:
        width = cast("Width | None", options.get("width"))
        with context(width):
            figure = function(*args, **options)
            settle(figure)
        again = functools.partial(inside, *args, **options)
        RECIPES[figure] = cast("Callable[..., Figure]", again)
        return figure

    return inside


def width() -> float:
    """The width of figures in the style that holds, in inches."""
    import matplotlib

    return float(matplotlib.rcParams["figure.figsize"][0])


def pt(on_a_page: float) -> float:
    """A length in points, smaller where letters are."""
    return on_a_page * size("font.size") / PAGE_PT


def size(name: str) -> float:
    """A size of letters in points, such as "legend.fontsize"."""
    import matplotlib

    return float(cast("dict[str, Any]", matplotlib.rcParams)[name])


def across_figure() -> float:
    """Inches of a line from edge to edge of a figure."""
    return width() - MARGIN


def across_panel(columns: int = 1) -> float:
    """Length in inches of a line from the left end of a panel, for `columns` panels side
    by side.
    """
    return across_figure() / columns - BESIDE_PANEL * size("font.size") / 72


def inches(text: str, **font: Any) -> float:
    """The width of a line of text, `font` as for `matplotlib.font_manager.FontProperties`."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    points, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(**font), False)
    return float(points) / 72


def wrapped(title: str, width: float, **font: Any) -> str:
    """A title over as few lines as are at most `width` inches wide, or as its longest word."""
    width = max([width, *(inches(word, **font) for word in title.split())])
    for letters in range(len(title), 1, -1):
        lines = textwrap.wrap(title, letters, break_long_words=False, break_on_hyphens=False)
        if all(inches(text, **font) <= width for text in lines):
            return "\n".join(lines)
    return title


def panels(
    count: int, height: float, title: str | None = None, ratios: Sequence[float] = (1,)
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels one above the other, sharing the x axis, on average `height`
    inches high on a page, with their labels.

    Their heights are as `ratios`, which are repeated.
    """
    heights = [ratios[row % len(ratios)] for row in range(count)]
    figure = blank(title)
    rows = figure.subplots(count, 1, sharex=True, squeeze=False, height_ratios=heights)
    axes = [row[0] for row in rows]
    for ax in axes:
        ax.grid(axis="y")
    total = count * AXES_PART * height_of(height, width())
    LAYOUTS[figure] = Layout(axes, lambda: total)
    return figure, axes


def blank(title: str | None = None) -> Figure:
    """An empty figure of the style's width and of excessive height, with a title if given."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width(), 40.0), layout="constrained")
    if title:
        text = wrapped(title, across_figure(), size=size("figure.titlesize"))
        figure.suptitle(text, x=0.01, ha="left")
    return figure


def settle(figure: Figure) -> None:
    """Makes a figure as high as its axes and everything around them need, and breaks labels of
    y axes that are longer than these.
    """
    layout = LAYOUTS.get(figure)
    if layout is None:
        return
    for _ in range(2):  # labels in several lines take more room
        for _ in range(4):
            figure.draw_without_rendering()
            boxes = [ax.get_position(original=True) for ax in layout.rows]
            high = figure.get_figheight()
            change = layout.inches() - high * sum(box.height for box in boxes)
            if abs(change) < 0.005:
                break
            figure.set_figheight(high + change)
        break_labels(figure)


def break_labels(figure: Figure) -> None:
    """Breaks labels of y axes that are longer than their axes are high."""
    high = figure.get_figheight()
    font = size("axes.labelsize")
    for ax in figure.axes:
        text = ax.get_ylabel().replace("\n", " ")
        room = ax.get_position(original=True).height * high
        if inches(text, size=font) > room:
            ax.set_ylabel(wrapped(text, room, size=font))


def colour(index: int, name: str = "") -> str:
    """The colour of a class, by its place in the scenario; one that is called after a colour has
    that.
    """
    return NAMED.get(name.lower()) or PALETTE[index % len(PALETTE)]


def line(index: int) -> Any:
    """A line style, by number."""
    return LINES[index % len(LINES)]


def marker(index: int) -> str:
    """A marker, by number."""
    return MARKERS[index % len(MARKERS)]


def hatch(index: int) -> str:
    """A hatch, by number."""
    return HATCHES[index % len(HATCHES)]


def marked(index: int, points: int, many: int = 1) -> dict[str, Any]:
    """Markers for the line `index` of `many` with `points` points: few, and offset from the markers
    of other lines.
    """
    every = max(1, points // FEWEST_MARKERS)
    first = (index * every) // max(many, 1)
    return {"marker": marker(index), "markevery": (first, every), **hollow()}


def hollow() -> dict[str, Any]:
    """Markers that let lines be seen."""
    return {"markersize": pt(4.5), "markerfacecolor": "white", "markeredgewidth": pt(1.1)}


def look(index: int) -> dict[str, Any]:
    """Colour, line and hollow marker of a curve with few points, by number."""
    return {
        "color": colour(index),
        "linestyle": line(index),
        "marker": marker(index),
        **hollow(),
    }


def tint(base: str) -> tuple[float, float, float]:
    """A light version of a colour, for areas."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(base)
    return 0.5 + 0.5 * red, 0.5 + 0.5 * green, 0.5 + 0.5 * blue


def shade(base: str, index: int, count: int) -> tuple[float, float, float]:
    """The colour of one of `count` variants: from darker than `base` to lighter."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(base)
    if count == 1:
        return red, green, blue
    step = -0.4 + 0.9 * index / (count - 1)
    return mixed(red, step), mixed(green, step), mixed(blue, step)


def mixed(channel: float, step: float) -> float:
    """A colour channel moved towards black (step -1) or white (step 1)."""
    return channel * (1 + step) if step < 0 else channel + (1 - channel) * step


def entry(label: str, **look: Any) -> Artist:
    """A line for a legend."""
    from matplotlib.lines import Line2D

    look.pop("markevery", None)
    return Line2D([], [], label=label, **look)


def swatch(index: int, name: str, label: str) -> Artist:
    """A class in a legend of bars."""
    from matplotlib.patches import Patch

    return Patch(label=label, **bar(index, name))


def bar(index: int, name: str) -> dict[str, Any]:
    """Style of the bars of a class."""
    tone = colour(index, name)
    return {"facecolor": tint(tone), "edgecolor": tone, "hatch": hatch(index)}


def heading(ax: Axes, title: str, entries: Sequence[Artist], across: float | None = None) -> None:
    """A panel's title, and below it the legend, above the data, both at most `across`
    inches wide.
    """
    across = across_panel() if across is None else across
    columns, shown = arranged(entries, across)
    rows = math.ceil(len(shown) / columns) if shown else 0
    font = {"size": size("axes.titlesize"), "weight": "bold"}
    ax.set_title(wrapped(title, across, **font), pad=pt(7) + 1.75 * size("legend.fontsize") * rows)
    if shown:
        anchor = (-0.01, 1.01)
        ax.legend(handles=shown, loc="lower left", bbox_to_anchor=anchor, ncols=columns)


def legend(
    figure: Figure, entries: Sequence[Artist], most: int = MOST_ENTRIES, note: str = ""
) -> None:
    """A legend for the whole figure, below the data, with at most this many entries, and above it a
    note: controller, span, replications.
    """
    columns, shown = arranged(entries, across_figure(), most)
    if not shown and not note:
        return
    text = filled(note) if note else None
    made = figure.legend(handles=shown, loc="outside lower center", ncols=columns, title=text)
    made.get_title().set_color(INK)
    made.get_title().set_multialignment("center")


def filled(note: str) -> str:
    """A note over as few lines as fit, broken between its parts."""
    lines: list[str] = []
    for part in note.split(SEPARATOR):
        longer = SEPARATOR.join([*lines[-1:], part])
        if lines and inches(longer, size=size("legend.title_fontsize")) <= across_figure():
            lines[-1] = longer
        else:
            lines.append(part)
    return "\n".join(lines)


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
    font = size("legend.fontsize")
    beside = BESIDE_ENTRY * font / 72
    widths = [inches(str(artist.get_label()), size=font) + beside for artist in shown]
    columns = 1
    for rows in range(1, len(shown)):
        wanted = math.ceil(len(shown) / rows)
        if sum(max(widths[i::wanted]) for i in range(wanted)) <= width:
            columns = wanted
            break
    return columns, [artist for i in range(columns) for artist in shown[i::columns]]


def plain_ticks(axis: Any) -> None:
    """Numbers such as 0.1 and 20 on a logarithmic axis, in place of powers of ten."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def warmup(ax: Axes, warmup_s: float) -> list[Artist]:
    """Shades the time that no metric counts; what the legend says of it."""
    left, right = ax.get_xlim()
    if warmup_s <= left:
        return []
    ax.axvspan(left, min(warmup_s, right), color=WARMUP, zorder=0, linewidth=0)
    return warmup_entry([True])


def warmup_entry(drawn: Iterable[bool]) -> list[Artist]:
    """The warm-up in a legend, where it is drawn in any panel."""
    from matplotlib.patches import Patch

    return [Patch(facecolor=WARMUP, edgecolor=FAINT, label="warm-up")] if any(drawn) else []
