"""The subflows of one user in four panels: windows, packets, round-trip times and timeouts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..runs import Run
from . import style
from .inputs import (
    Results,
    number_of,
    of_paths,
    path_columns,
    path_groups,
    present,
    replication,
    several,
    shortened,
    span,
)
from .labels import joined, named, over_time
from .size import Width, height_of
from .streams import look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

HEIGHT_INCHES = 2.3
"""Height of a row of panels on a page."""
LEAST_INCHES = 2.5
"""Least width of a column of panels; without a given width, figures of many results are wider."""
NARROWEST_INCHES = 0.6
"""Least width of a column of panels when the width is given."""
MOST_NUMBERS = 12
"""Bars per panel up to which there is room for their values."""


@dataclass(frozen=True)
class Who:
    """The user whose subflows are drawn."""

    flow: str | None
    """The class; None for the first with several paths."""
    user: int
    seed: int | None


@dataclass(frozen=True)
class View:
    """The drawn data of one result."""

    label: str
    warmup_s: float
    run: Run
    samples: slice
    columns: NDArray[np.intp]
    """Columns of the user's paths in the series, in the order of the paths."""
    in_use: NDArray[np.bool_]
    """When each path is in use, shape (samples, paths)."""

    @property
    def t_s(self) -> NDArray[np.float64]:
        """The times of the samples."""
        times: NDArray[np.float64] = self.run.series.t_s[self.samples]
        return times

    def series(self, name: str) -> NDArray[np.float64]:
        """A series of the paths, NaN where a path is not in use, shape (samples, paths)."""
        values = self.run.series.paths.column(name)[self.samples][:, self.columns]
        return np.where(self.in_use, values, np.nan)

    def packets(self) -> NDArray[np.float64]:
        """Data packets sent on each path from the first to the last sample."""
        sent = self.run.series.paths.sent_packets[self.samples][:, self.columns]
        before = sent[0] if self.samples.start else 0.0  # some leave at the very start
        total: NDArray[np.float64] = sent[-1] - before
        return total


@style.styled
def subflows(
    results: Results,
    *,
    flow: str | None = None,
    user: int = 0,
    seed: int | None = None,
    names: Sequence[str] | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Four panels of the paths of one user of the class `flow`: congestion windows over time in
    segments, data packets sent, smoothed round-trip times and retransmission timeouts (RTO) over
    time in ms.

    By default the class is the first with several paths. Several results, such as one for each
    controller, are columns with a common scale in each row, labelled by `names` (by default the
    settings that differ); a single result has its panels two by two. Packets are counted over the
    whole drawn span. The RTO is shown without exponential back-off, from the first sample of the
    round-trip time on.

    Raises ValueError without series, for an unknown class, user or seed, when `names` does not
    have one for each result, and when the results do not fit into `width`.
    """
    given = several(results)
    texts = named(given, names)
    who, when = Who(flow, user, seed), (start_s, end_s)
    views = [view(*one, who, when) for one in zip(given, texts, strict=True)]
    figure, cells = grid(views, width is not None, title)
    for row in cells:
        for cell in row:
            cell.draw(cell)
        for cell in row:
            cell.ax.set_ylim(bottom=0)  # once all are drawn: it ends a row's common scaling
        row[0].ax.set_ylabel(row[0].label)
    for cell in cells[0]:
        if cell.heading:
            font = style.size("axes.titlesize")
            cell.ax.set_title(style.wrapped(cell.heading, cell.room, size=font, weight="bold"))
    paths = max(len(seen.columns) for seen in views)
    entries = [style.entry(f"path {n}", **look_of(n, n, paths, 1)) for n in range(paths)]
    entries += style.warmup_entry(seen.warmup_s > seen.t_s[0] for seen in views)
    seeds = joined(of_whom(given[0], who), f"seed {views[0].run.seed}")
    style.legend(figure, entries, note=over_time(given, seeds, names=names))
    return figure


@dataclass(frozen=True)
class Cell:
    """A panel, its data, and the function that draws it."""

    ax: Axes
    draw: Callable[[Cell], None]
    seen: View
    paths: range
    label: str
    heading: str
    room: float
    """Inches across it."""


def class_of(result: Result, flow: str | None) -> int:
    """Number of the class. Raises ValueError for an unknown name."""
    if flow is not None:
        return number_of(flow, result.classes, "class")
    paths = [len(planned.paths) for planned in result.plan.classes]
    return next((n for n, count in enumerate(paths) if count > 1), 0)


def of_whom(result: Result, who: Who) -> str:
    """The user, for the title."""
    planned = result.plan.classes[class_of(result, who.flow)]
    name = shortened(planned.name, 40)
    return name if planned.count == 1 else f"{name}, user {who.user} of {planned.count}"


def view(result: Result, label: str, who: Who, bounds: tuple[float, float | None]) -> View:
    """The drawn data of one result."""
    run = replication(result, who.seed)
    planned = result.plan.classes[class_of(result, who.flow)]
    if not 0 <= who.user < planned.count:
        last = planned.count - 1
        raise ValueError(f"there is no user {who.user}; {planned.name} has users 0 to {last}")
    samples = span(run.series.t_s, *bounds)
    columns = path_columns(result, run, planned.name)[who.user]
    in_use = present(result, run, planned.name)[samples, who.user]
    return View(label, result.plan.warmup_s, run, samples, columns, in_use)


def grid(views: Sequence[View], fixed: bool, title: str | None) -> tuple[Figure, list[list[Cell]]]:
    """A figure, and rows of panels with a common scale; as wide as the style says if `fixed`, else
    wider for many columns.

    Several results stand side by side. So do the paths of one result that do not fit into one
    panel; with several results such paths have their own rows.
    """
    whole = range(max(len(seen.columns) for seen in views))
    groups = path_groups(len(whole))
    if len(views) == 1:
        columns = [(views[0], paths, of_paths(paths, len(whole))) for paths in groups]
        rows: list[tuple[Callable[[Cell], None], str, range | None]] = [
            (draw, label, None) for draw, label in PANELS
        ]
    else:
        columns = [(seen, whole, seen.label) for seen in views]
        rows = [
            (draw, label + of_paths(paths, len(whole)), paths)
            for draw, label in PANELS
            for paths in ([whole] if draw is bars else groups)
        ]
    square = len(columns) == 1
    across, down = (2, 2) if square else (len(columns), len(rows))
    room = style.across_panel() / across
    if fixed and room < NARROWEST_INCHES:
        raise ValueError(
            f"{len(views)} results do not fit side by side into a width of {style.width():g}in; "
            "draw fewer, or a wider figure"
        )
    figure = style.blank(title)
    if not fixed:
        figure.set_figwidth(max(style.width(), LEAST_INCHES * across))
    axes = figure.subplots(down, across, sharey="none" if square else "row", squeeze=False)
    for ax in axes.flat:
        ax.grid(axis="y")
    total = down * style.AXES_PART * height_of(HEIGHT_INCHES, style.width())
    style.LAYOUTS[figure] = style.Layout([row[0] for row in axes], lambda: total)
    by_row = [[ax] for ax in axes.flat] if square else [list(row) for row in axes]
    cells = [
        [
            Cell(ax, draw, seen, paths if own is None else own, label, heading.strip(", "), room)
            for ax, (seen, paths, heading) in zip(row, columns, strict=True)
        ]
        for row, (draw, label, own) in zip(by_row, rows, strict=True)
    ]
    return figure, cells


def over_samples(name: str, scale: float) -> Callable[[Cell], None]:
    """Draws a series of paths over time; values that mean "no sample yet" are left out."""

    def draw(cell: Cell) -> None:
        ax, seen = cell.ax, cell.seen
        values = seen.series(name) * scale
        values = np.where(np.isfinite(values) & (values > 0), values, np.nan)
        for place, path in enumerate(cell.paths):
            if path < values.shape[1]:
                look = look_of(path, place, len(cell.paths), len(seen.t_s))
                ax.plot(seen.t_s, values[:, path], **look)
        ax.set_xlim(seen.t_s[0], seen.t_s[-1])
        style.warmup(ax, seen.warmup_s)
        ax.locator_params(axis="x", nbins=max(2, min(7, int(2.5 * cell.room))))
        ax.set_xlabel("Time (s)")

    return draw


def bars(cell: Cell) -> None:
    """Packets of each path as bars with their values."""
    ax, seen = cell.ax, cell.seen
    places = [path for path in cell.paths if path < len(seen.columns)]
    counts = seen.packets()[places]
    tones = [look_of(path, 0, 1, 1)["color"] for path in places]
    hatches = [style.hatch(path) for path in places]
    light = [style.tint(tone) for tone in tones]
    ax.bar(places, counts, 0.75, color=light, edgecolor=tones, hatch=hatches)
    font = style.size("legend.fontsize")
    texts = [f"{count:,.0f}" if count < 1e5 else f"{count * 1e-3:,.0f}k" for count in counts]
    turned = max(style.inches(text, size=font) for text in texts) > cell.room / len(counts)
    if len(counts) <= MOST_NUMBERS:
        look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": font}
        look["rotation"] = 90 * turned
        for place, count, text in zip(places, counts, texts, strict=True):
            ax.text(place, count, f" {text}" if turned else text, **look)
    ax.set_xticks(places[:: max(1, math.ceil(len(counts) / MOST_NUMBERS))])
    ax.tick_params(axis="x", length=0)
    ax.margins(y=0.45 if turned else 0.14)
    text = f"Path ({seen.t_s[0]:g} to {seen.t_s[-1]:g} s)"
    fits = style.inches(text, size=style.size("axes.labelsize")) < 1.2 * cell.room
    ax.set_xlabel(text if fits else "Path")


PANELS: tuple[tuple[Callable[[Cell], None], str], ...] = (
    (over_samples("cwnd_segments", 1.0), "Window (segments)"),
    (bars, "Sent (packets)"),
    (over_samples("srtt_s", 1e3), "Smoothed RTT (ms)"),
    (over_samples("rto_s", 1e3), "RTO (ms)"),
)
"""For each panel, the function that draws it and the label of its y axis."""
