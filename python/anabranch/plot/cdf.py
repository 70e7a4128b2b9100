"""Distribution of throughput over users, or over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import style
from .inputs import (
    Results,
    class_names,
    labels,
    path_columns,
    replications,
    several,
    with_series,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from ..result import Result

METRICS = {"throughput_bps": "Throughput", "goodput_bps": "Goodput"}

TIMING_S = 1e-6
"""Times of samples are as good as this."""


@style.styled
def cdf(
    results: Results,
    *,
    metric: Literal["throughput_bps", "goodput_bps"] = "throughput_bps",
    sample_s: float | None = None,
) -> Figure:
    """The fraction of a class's users with at most so many Mb/s, all replications together.

    With `sample_s` it is the fraction of the time after the warm-up, cut into pieces of so many
    seconds (as near as the samples allow), in which all paths of all users of the class together
    received at most so many Mb/s of IP bytes. A class has its colour, a result its line style.

    Raises ValueError for an unknown metric; with `sample_s` also without series, for pieces that
    are shorter than the samples' spacing or longer than what is measured, and for goodput, of which
    there are no samples.
    """
    given = several(results)
    if metric not in METRICS:
        raise ValueError(f"there is no metric {metric!r}; choose from {', '.join(METRICS)}")
    if sample_s is not None and metric != "throughput_bps":
        raise ValueError(f"there are no samples of {metric} over time; take throughput_bps")
    names = class_names(given)
    scenarios = " and ".join(dict.fromkeys(result.plan.name for result in given))
    what = METRICS[metric].lower()
    whose = "users" if sample_s is None else f"classes in pieces of {sample_s:g} s"
    title = f"{scenarios}: {what} of {whose}, {replications(given)}"
    figure, (ax,) = style.panels(1, 3.6, title)
    top = 0.0
    for number, result in enumerate(given):
        for name in result.classes:
            if sample_s is None:
                rates = np.sort(result.users(name, metric).ravel()) * 1e-6
            else:
                rates = np.sort(sampled_mbps(result, name, sample_s))
            colour = style.colour(names.index(name))
            look: dict[str, Any] = {"color": colour, "linestyle": style.line(number)}
            ax.ecdf(rates, **look)
            top = max(top, float(rates[-1]))
    ax.set_xlim(0, 1.05 * top or 1.0)
    ax.set_ylim(0, 1.02)
    ax.grid(axis="x")
    ax.set_xlabel(f"{METRICS[metric]} per {'user' if sample_s is None else 'class'} (Mb/s)")
    ax.set_ylabel("Fraction of users" if sample_s is None else "Fraction of time")
    style.legend(figure, legend_entries(given, names))
    return figure


def sampled_mbps(result: Result, name: str, sample_s: float) -> NDArray[np.float64]:
    """What a class received in each whole piece of the measured time, of all replications."""
    found = []
    for run in with_series(result):
        columns = path_columns(result, run, name).ravel()
        t_s = run.series.t_s
        edges = piece_edges(t_s, result.plan.warmup_s, sample_s)
        total = run.series.paths.arrived_bytes[edges][:, columns].sum(axis=1)
        found.append(8e-6 * np.diff(total) / np.diff(t_s[edges]))
    return np.concatenate(found)


def piece_edges(t_s: NDArray[np.float64], warmup_s: float, sample_s: float) -> NDArray[np.intp]:
    """Samples at which pieces begin and end; what is left at the end is in none."""
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


def legend_entries(given: list[Result], names: list[str]) -> list[Artist]:
    """Colours of the classes, and line styles of the results where there are several."""
    entries = [style.entry(name, color=style.colour(index)) for index, name in enumerate(names)]
    if len(given) > 1:
        for number, label in enumerate(labels(given)):
            entries.append(style.entry(label, color=style.INK, linestyle=style.line(number)))
    return entries
