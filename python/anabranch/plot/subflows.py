"""The subflows of one user in four panels: windows, packets, round-trip times and timeouts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..runs import Run
from . import style
from .inputs import Results, labels, path_columns, present, replication, several, shortened, span
from .streams import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

HEIGHT_INCHES = 2.3
"""Of a row of panels."""
LEAST_INCHES = 2.5
"""Of a column of panels; a figure of many results is wider than others."""
MOST_NUMBERS = 12
"""With more bars in a panel there is no room for their values."""
LINE_PT = 1.3


@dataclass(frozen=True)
class Who:
    """Whose subflows are drawn."""

    flow: str | None
    """The class; None for the first with several paths."""
    user: int
    seed: int | None


@dataclass(frozen=True)
class View:
    """What is drawn of one result."""

    label: str
    narrow: bool
    """Whether others stand beside it."""
    run: Run
    samples: slice
    columns: NDArray[np.intp]
    """Of the user's paths in the series, in the order of the paths."""
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
) -> Figure:
    """Four panels of the paths of one user of the class `flow`: congestion windows over time in
    segments, data packets sent, smoothed round-trip times and retransmission timeouts over time in
    ms.

    By default the class is the first with several paths. Several results, such as one for each
    controller, are columns with a common scale in each row, called `names` (by default what tells
    them apart); one result has its panels two by two. Timeouts are without backing off.

    Raises ValueError without series, for an unknown class, user or seed, and when `names` does not
    have one for each result.
    """
    given = several(results)
    texts = labels(given) if names is None else list(names)
    if len(texts) != len(given):
        raise ValueError(f"there are {len(given)} results but {len(texts)} names for them")
    who, when = Who(flow, user, seed), (start_s, end_s)
    pairs = zip(given, texts, strict=True)
    views = [view(one, text, who, when, len(given) > 1) for one, text in pairs]
    scenarios = " and ".join(dict.fromkeys(result.plan.name for result in given))
    title = f"{scenarios}: subflows of {of_whom(given[0], who)}, seed {views[0].run.seed}"
    figure, rows = grid(len(given), title)
    tones = [COLOURS[n % len(COLOURS)] for n in range(max(len(v.columns) for v in views))]
    for axes, (draw, label) in zip(rows, PANELS, strict=True):
        for ax, seen in zip(axes, views, strict=True):
            draw(ax, seen, tones)
        for ax in axes:
            ax.set_ylim(bottom=0)  # once all are drawn: it ends a row's common scaling
        axes[0].set_ylabel(label)
    if len(given) > 1:
        for ax, seen in zip(rows[0], views, strict=True):
            ax.set_title(seen.label)
    entries = [style.entry(f"path {n}", color=tone, linewidth=3) for n, tone in enumerate(tones)]
    style.legend(figure, entries)
    return figure


def class_of(result: Result, flow: str | None) -> int:
    """Number of the class. Raises ValueError when there is none of that name."""
    if flow is not None:
        if flow not in result.classes:
            raise ValueError(f"there is no class {flow!r}; there is {', '.join(result.classes)}")
        return result.classes.index(flow)
    paths = [len(planned.paths) for planned in result.plan.classes]
    return next((n for n, count in enumerate(paths) if count > 1), 0)


def of_whom(result: Result, who: Who) -> str:
    """The user, for the title."""
    planned = result.plan.classes[class_of(result, who.flow)]
    name = shortened(planned.name, 40)
    return name if planned.count == 1 else f"{name}, user {who.user} of {planned.count}"


def view(
    result: Result, label: str, who: Who, bounds: tuple[float, float | None], narrow: bool
) -> View:
    """What is drawn of one result."""
    run = replication(result, who.seed)
    planned = result.plan.classes[class_of(result, who.flow)]
    if not 0 <= who.user < planned.count:
        last = planned.count - 1
        raise ValueError(f"there is no user {who.user}; {planned.name} has users 0 to {last}")
    samples = span(run.series.t_s, *bounds)
    columns = path_columns(result, run, planned.name)[who.user]
    in_use = present(result, run, planned.name)[samples, who.user]
    return View(label, narrow, run, samples, columns, in_use)


def grid(count: int, title: str) -> tuple[Figure, list[list[Axes]]]:
    """A figure, and for each of the four rows its panels, one for each result."""
    from matplotlib.figure import Figure

    columns, lines = (2, 2) if count == 1 else (count, len(PANELS))
    width = max(style.WIDTH_INCHES, LEAST_INCHES * columns)
    height = HEIGHT_INCHES * lines + 1.0 + (0.6 if count == 1 else 0)
    figure = Figure(figsize=(width, height), layout="constrained")
    size = style.STYLE["figure.titlesize"]
    text = style.wrapped(title, style.ACROSS_FIGURE, size=size)
    figure.suptitle(text, x=0.01, ha="left")
    axes = figure.subplots(lines, columns, sharey="none" if count == 1 else "row", squeeze=False)
    for ax in axes.flat:
        ax.grid(axis="y")
        ax.tick_params(labelsize=10, color=style.FAINT)
    if count == 1:
        return figure, [[ax] for ax in axes.flat]
    return figure, [list(row) for row in axes]


def over_time(name: str, scale: float) -> Callable[[Axes, View, list[str]], None]:
    """Draws a series of all paths over time."""

    def draw(ax: Axes, seen: View, tones: list[str]) -> None:
        values = seen.series(name) * scale
        if name == "srtt_s":
            values = np.where(values > 0, values, np.nan)  # no sample yet
        values = np.where(np.isfinite(values), values, np.nan)
        for path in range(values.shape[1]):
            ax.plot(seen.t_s, values[:, path], color=tones[path], linewidth=LINE_PT)
        ax.set_xlim(seen.t_s[0], seen.t_s[-1])
        ax.set_xlabel("Time (s)")

    return draw


def bars(ax: Axes, seen: View, tones: list[str]) -> None:
    """Packets of each path as bars with their values."""
    counts = seen.packets()
    places = range(len(counts))
    ax.bar(places, counts, 0.75, color=tones[: len(counts)])
    turned = seen.narrow and len(counts) > 4
    size = 9 if len(counts) <= 6 or turned else 7
    for place, count in zip(places, counts, strict=True):
        if len(counts) <= MOST_NUMBERS:
            text = f"{count:,.0f}" if count < 1e5 else f"{count * 1e-3:,.0f}k"
            ax.text(
                place,
                count,
                f" {text}" if turned else text,
                ha="center",
                va="bottom",
                fontsize=size,
                rotation=90 * turned,
            )
    ax.set_xticks(places[:: max(1, math.ceil(len(counts) / MOST_NUMBERS))])
    ax.tick_params(axis="x", length=0)
    ax.margins(y=0.4 if turned else 0.12)
    ax.set_xlabel("Path")


PANELS: tuple[tuple[Callable[[Axes, View, list[str]], None], str], ...] = (
    (over_time("cwnd_segments", 1.0), "Window (segments)"),
    (bars, "Sent (packets)"),
    (over_time("srtt_s", 1e3), "Smoothed RTT (ms)"),
    (over_time("rto_s", 1e3), "RTO (ms)"),
)
"""How each panel is drawn, and the label of its y axis."""
