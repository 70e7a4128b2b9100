"""Throughput over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..runs import Run
from . import style
from .inputs import Results, apart, class_names, path_columns, several, span, with_series
from .labels import named, over_time
from .size import Width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

MOST_BINS = 120


@style.styled
def throughput(
    results: Results,
    *,
    bin_s: float | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Mean throughput per user of each class in Mb/s, averaged in bins of `bin_s` seconds.

    It counts IP bytes that arrived; users of the class that have not started count as zero. Lines
    are means over replications, bands go from the lowest replication to the highest. Several
    results stand one below the other on one scale, labelled by `names`. Classes whose rates are
    more than ten times apart have panels of their own. By default bins are 1 s, longer in long
    runs.

    Raises ValueError without series, and for bins that are not longer than the samples' spacing.
    """
    given = several(results)
    classes, texts = class_names(given), named(given, names)
    drawn = [binned(result, (start_s, end_s, bin_s)) for result in given]
    tops = [max(float(one.rates[c].mean()) for one in drawn if c in one.rates) for c in classes]
    parts = apart(tops)
    count = len(given) * len(parts)
    figure, axes = style.panels(count, 2.5 if count > 1 else 3.6, title)
    entries: list[Artist] = []
    for number, part in enumerate(parts):
        shown = axes[number :: len(parts)]
        for one, label, ax in zip(drawn, texts, shown, strict=True):
            entries = panel(ax, one, [classes[index] for index in part], classes)
            ax.set_ylabel("Throughput per user (Mb/s)")
            if len(given) > 1:
                ax.set_title(label)
        drawn_here = [
            one.rates[name] for one in drawn for name in one.rates if classes.index(name) in part
        ]
        top = 1.06 * max(float(rates.max()) for rates in drawn_here)
        for ax in shown:
            ax.set_ylim(0, top or 1.0)
    lines = [style.entry(name, **look(index, name)) for index, name in enumerate(classes)]
    axes[-1].set_xlabel("Time (s)")
    style.legend(figure, [*lines, *entries], note=over_time(given, names=names))
    return figure


@dataclass(frozen=True)
class Binned:
    """Throughput of a result over time."""

    result: Result
    edges_s: NDArray[np.float64]
    rates: dict[str, NDArray[np.float64]]
    """Mb/s per user of each class, shape (replications, bins)."""


def binned(result: Result, bounds: tuple[float, float | None, float | None]) -> Binned:
    """Throughput of a result in bins: first and last time, length of a bin."""
    runs = with_series(result)
    start_s, end_s, bin_s = bounds
    t_s = runs[0].series.t_s
    samples = span(t_s, start_s, end_s)
    edges = samples.start + bin_edges(t_s[samples], bin_s)
    rates = {
        name: np.array([binned_mbps(result, run, name, edges) for run in runs])
        for name in result.classes
    }
    return Binned(result, t_s[edges], rates)


def look(index: int, name: str) -> dict[str, Any]:
    """Style of the line of a class."""
    return {"color": style.colour(index, name), "linestyle": style.line(index)}


def panel(ax: Axes, one: Binned, shown: Sequence[str], classes: list[str]) -> list[Artist]:
    """Some classes of one result; what else the legend has to say."""
    runs = len(one.result.runs)
    for name in (name for name in shown if name in one.rates):
        rates, index = one.rates[name], classes.index(name)
        line: dict[str, Any] = {**look(index, name), "linewidth": style.pt(1.6), "baseline": None}
        ax.stairs(rates.mean(axis=0), one.edges_s, **line)
        if runs > 1:
            low, high = rates.min(axis=0), rates.max(axis=0)
            area: dict[str, Any] = {"fill": True, "color": style.colour(index, name), "alpha": 0.2}
            ax.stairs(high, one.edges_s, baseline=low, **area)
    ax.set_xlim(one.edges_s[0], one.edges_s[-1])
    entries = style.warmup(ax, one.result.plan.warmup_s)
    if runs > 1:
        from matplotlib.patches import Patch

        entries.append(Patch(color=style.FAINT, alpha=0.3, label=f"range of {runs} replications"))
    return entries


def bin_edges(t_s: NDArray[np.float64], bin_s: float | None) -> NDArray[np.intp]:
    """Samples at which bins begin and end, as near to `bin_s` as the samples allow."""
    length = float(t_s[-1] - t_s[0])
    spacing = length / (len(t_s) - 1)
    wanted = max(1.0, length / MOST_BINS, spacing) if bin_s is None else bin_s
    if not spacing * 0.999 <= wanted:
        raise ValueError(f"bins of {wanted:g} s are shorter than the samples' {spacing:g} s")
    count = max(1, round(length / wanted))
    return np.linspace(0, len(t_s) - 1, count + 1).round().astype(np.intp)


def binned_mbps(
    result: Result, run: Run, name: str, edges: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Mean rate per user in each bin."""
    columns = path_columns(result, run, name)
    series = run.series
    total = series.paths.arrived_bytes[edges][:, columns.ravel()].sum(axis=1)
    rate: NDArray[np.float64] = 8e-6 * np.diff(total) / np.diff(series.t_s[edges]) / len(columns)
    return rate
