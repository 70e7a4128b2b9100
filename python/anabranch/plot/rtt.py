"""Smoothed round-trip times over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..runs import Run
from . import style
from .inputs import (
    Results,
    cut,
    panels_of,
    path_columns,
    path_label,
    present,
    replication,
    single,
    span,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result


@style.styled
def rtt(
    results: Results,
    *,
    classes: Sequence[str] | None = None,
    seed: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
) -> Figure:
    """Smoothed round-trip time in milliseconds, mean over the users of a class, for each path.

    Users without a sample yet do not count. `classes` chooses the panels. Raises ValueError
    without series and for an unknown class or seed.
    """
    result = single(results, "rtt")
    run = replication(result, seed)
    samples = span(run.series.t_s, start_s, end_s)
    chosen = panels_of(result.classes, classes, "class")
    part = cut(len(chosen), len(result.classes), "classes")
    title = f"{result.plan.name}: smoothed RTT, mean over users, seed {run.seed}{part}"
    figure, axes = style.panels(len(chosen), 2.5, title)
    for index, ax in zip(chosen, axes, strict=True):
        panel(ax, result, run, index, samples)
    axes[-1].set_xlabel("Time (s)")
    return figure


def panel(ax: Axes, result: Result, run: Run, index: int, samples: slice) -> None:
    """The paths of a class, and the round-trip time without any queue."""
    planned = result.plan.classes[index]
    columns = path_columns(result, run, planned.name)
    in_use = present(result, run, planned.name)[samples]
    srtt_s = run.series.paths.srtt_s[samples][:, columns]
    means = mean_over_users(srtt_s, in_use & (srtt_s > 0))
    t_s = run.series.t_s[samples]
    count = len(planned.paths)
    entries: list[Artist] = []
    for path, facts in enumerate(planned.paths):
        shade = style.shade(style.colour(index), path, count)
        ax.plot(t_s, 1e3 * means[:, path], color=shade)
        ax.axhline(1e3 * facts.base_rtt_s, color=style.FAINT, linestyle=":", linewidth=1)
        entries.append(style.entry(path_label(result, planned, path), color=shade))
    entries.append(style.entry("without queues", color=style.FAINT, linestyle=":", linewidth=1))
    ax.set_xlim(t_s[0], t_s[-1])
    entries += style.warmup(ax, result.plan.warmup_s)
    ax.set_ylabel("Smoothed RTT (ms)")
    style.heading(ax, f"{planned.name} ({planned.controller})", entries)


def mean_over_users(values: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean over axis 1 of what is counted; NaN where nothing is."""
    number = counted.sum(axis=1)
    total = np.where(counted, values, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
