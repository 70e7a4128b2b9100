"""Distribution of throughput over users, or over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..offers import lookup
from . import style
from .inputs import RATES, Results, apart, class_names, path_columns, several, with_series
from .labels import named, sums_up
from .size import Width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

TIMING_S = 1e-6
"""Times of samples are as good as this."""


@style.styled
def cdf(
    results: Results,
    *,
    metric: str = "throughput_bps",
    sample_s: float | None = None,
    log: bool | None = None,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """The fraction of a class's users with at most so many Mb/s, all replications together.
    `metric` is throughput_bps or goodput_bps.

    With `sample_s` it is the fraction of the time after the warm-up, cut into pieces of so many
    seconds (as near as the samples allow), in which all paths of all users of the class together
    received at most so many Mb/s of IP bytes. A class has its colour and marker, a result its line
    style and its name of `names`. `log` makes the axis of rates logarithmic, by default where
    classes are more than ten times apart.

    Raises ValueError for an unknown metric; with `sample_s` also without series, for pieces that
    are shorter than the samples' spacing or longer than what is measured, and for goodput, which is
    not sampled.
    """
    given = several(results)
    metric = lookup("metric", metric, RATES, "the metrics are")
    if sample_s is not None and metric != "throughput_bps":
        raise ValueError(f"there are no samples of {metric} over time; take throughput_bps")
    texts, classes = named(given, names), class_names(given)
    drawn = [
        (number, name, rates_mbps(result, name, metric, sample_s))
        for number, result in enumerate(given)
        for name in result.classes
    ]
    figure, (ax,) = style.panels(1, 3.6, title)
    for number, name, rates in drawn:
        ax.ecdf(rates, **look(number, name, len(rates), classes))
    if log is None:
        log = len(apart([float(np.median(rates)) for _, _, rates in drawn])) > 1
    scale(ax, [rates for _, _, rates in drawn], log)
    ax.set_ylim(0, 1.02)
    ax.grid(axis="x")
    ax.set_xlabel(f"{RATES[metric]} per {'user' if sample_s is None else 'class'} (Mb/s)")
    ax.set_ylabel("Fraction of users" if sample_s is None else "Fraction of time")
    pieces = "" if sample_s is None else f"pieces of {sample_s:g} s"
    note = sums_up(given, names, setting=pieces, intervals=False)
    style.legend(figure, legend_entries(texts, classes), note=note)
    return figure


def look(number: int, name: str, points: int, classes: list[str]) -> dict[str, Any]:
    """Style of the line of a result and a class."""
    index = classes.index(name)
    return {
        "color": style.colour(index, name),
        "linestyle": style.line(number),
        **style.marked(index, points, len(classes)),
    }


def scale(ax: Axes, drawn: Sequence[NDArray[np.float64]], log: bool) -> None:
    """The axis of rates: from zero, or logarithmic, with zero at its left end where there
    is one.
    """
    rates = np.concatenate(drawn)
    some = rates[rates > 0]
    if not log or not some.size:
        ax.set_xlim(0, 1.05 * float(rates.max()) or 1.0)
        return
    low, high = float(some.min()) / 1.5, 1.5 * float(some.max())
    if some.size < rates.size:
        ax.set_xscale("symlog", linthresh=low)
        ax.set_xlim(0, high)
    else:
        ax.set_xscale("log")
        ax.set_xlim(low, high)
    style.plain_ticks(ax.xaxis)


def rates_mbps(
    result: Result, name: str, metric: str, sample_s: float | None
) -> NDArray[np.float64]:
    """Rates of the users of a class, or in pieces of time, sorted."""
    if sample_s is not None:
        return np.sort(sampled_mbps(result, name, sample_s))
    return np.sort(result.users(name, metric).ravel()) * 1e-6


def sampled_mbps(result: Result, name: str, sample_s: float) -> NDArray[np.float64]:
    """Mean rate of a class in each whole piece of the measured time, in Mb/s, over all
    replications.
    """
    found = []
    for run in with_series(result):
        columns = path_columns(result, run, name).ravel()
        t_s = run.series.t_s
        edges = piece_edges(t_s, result.plan.warmup_s, sample_s)
        total = run.series.paths.arrived_bytes[edges][:, columns].sum(axis=1)
        found.append(8e-6 * np.diff(total) / np.diff(t_s[edges]))
    return np.concatenate(found)


def piece_edges(t_s: NDArray[np.float64], warmup_s: float, sample_s: float) -> NDArray[np.intp]:
    """Samples at which pieces begin and end; a shorter piece at the end is dropped."""
    first = min(int(np.searchsorted(t_s, warmup_s - TIMING_S)), len(t_s) - 2)
    measured_s = float(t_s[-1] - t_s[first])
    spacing_s = measured_s / (len(t_s) - 1 - first)
    if not spacing_s * 0.999 <= sample_s:
        raise ValueError(f"pieces of {sample_s:g} s are shorter than the samples' {spacing_s:g} s")
    if sample_s > measured_s + TIMING_S:
        raise ValueError(f"pieces of {sample_s:g} s are longer than the measured {measured_s:g} s")
    count = int((measured_s + TIMING_S) / sample_s)
    wanted = t_s[first] + sample_s * np.arange(count + 1)
    edges: NDArray[np.intp] = np.searchsorted(t_s, wanted - 0.5 * spacing_s)
    return edges


def legend_entries(texts: list[str], classes: list[str]) -> list[Artist]:
    """Colours and markers of the classes, and line styles of the results where there are
    several.
    """
    looks = [look(0, name, 1, classes) for name in classes]
    entries = [style.entry(name, **of) for name, of in zip(classes, looks, strict=True)]
    if len(texts) > 1:
        for number, label in enumerate(texts):
            entries.append(style.entry(label, color=style.INK, linestyle=style.line(number)))
    return entries
