"""Throughput over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..runs import Run
from . import style
from .inputs import Results, class_names, labels, path_columns, several, span, with_series

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
) -> Figure:
    """Mean throughput per user of each class in Mb/s, averaged in bins of `bin_s` seconds.

    IP bytes that arrived, all users of the class counted whether or not they have started. Lines
    are means over replications, bands go from the lowest replication to the highest. Several
    results stand one below the other on one scale. By default bins are 1 s, longer in long runs.

    Raises ValueError without series, and for bins that are not longer than the samples' spacing.
    """
    given = several(results)
    names = class_names(given)
    scenarios = " and ".join(dict.fromkeys(result.plan.name for result in given))
    figure, axes = style.panels(
        len(given), 2.6 if len(given) > 1 else 3.6, f"{scenarios}: mean throughput per user"
    )
    entries: list[Artist] = []
    for result, label, ax in zip(given, labels(given), axes, strict=True):
        entries = panel(ax, result, names, (start_s, end_s, bin_s))
        ax.set_ylabel(f"Throughput per user{' ' if len(given) == 1 else chr(10)}(Mb/s)")
        if len(given) > 1:
            ax.set_title(label)
    top = max(ax.get_ylim()[1] for ax in axes)
    for ax in axes:
        ax.set_ylim(0, top)
    lines = [style.entry(name, color=style.colour(i)) for i, name in enumerate(names)]
    axes[-1].set_xlabel("Time (s)")
    style.legend(figure, [*lines, *entries])
    return figure


def panel(
    ax: Axes,
    result: Result,
    names: list[str],
    bounds: tuple[float, float | None, float | None],
) -> list[Artist]:
    """The classes of one result; what else the legend has to say."""
    runs = with_series(result)
    start_s, end_s, bin_s = bounds
    t_s = runs[0].series.t_s
    samples = span(t_s, start_s, end_s)
    edges = samples.start + bin_edges(t_s[samples], bin_s)
    for name in result.classes:
        rates = np.array([binned_mbps(result, run, name, edges) for run in runs])
        colour = style.colour(names.index(name))
        ax.stairs(rates.mean(axis=0), t_s[edges], color=colour, linewidth=1.6, baseline=None)
        if len(runs) > 1:
            low, high = rates.min(axis=0), rates.max(axis=0)
            ax.stairs(high, t_s[edges], baseline=low, fill=True, color=colour, alpha=0.2)
    ax.set_xlim(t_s[edges[0]], t_s[edges[-1]])
    area = style.warmup(ax, result.plan.warmup_s)
    if len(runs) > 1:
        from matplotlib.patches import Patch

        area.append(Patch(color=style.FAINT, alpha=0.3, label=f"range of {len(runs)} replications"))
    return area


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
