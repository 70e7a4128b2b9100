"""Congestion windows and slow-start thresholds over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

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
    user_of,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

MOST_PATHS = 6


@style.styled
def windows(
    results: Results,
    *,
    user: int = 0,
    classes: Sequence[str] | None = None,
    seed: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
) -> Figure:
    """Windows in segments of one user of each class, a panel for each class.

    Solid lines are congestion windows, dashed ones slow-start thresholds; an infinite threshold is
    not drawn, nor is a path that is not in use. A class with fewer users shows its last one.
    `classes` chooses the panels.

    Raises ValueError without series, and for an unknown class, user or seed.
    """
    result = single(results, "windows")
    run = replication(result, seed)
    user_of(result, user)
    samples = span(run.series.t_s, start_s, end_s)
    chosen = panels_of(result.classes, classes, "class")
    part = cut(len(chosen), len(result.classes), "classes")
    title = f"{result.plan.name}: windows of one user of each class, seed {run.seed}{part}"
    figure, axes = style.panels(len(chosen), 2.5, title)
    for index, ax in zip(chosen, axes, strict=True):
        panel(ax, result, run, index, user, samples)
    axes[-1].set_xlabel("Time (s)")
    return figure


def panel(ax: Axes, result: Result, run: Run, index: int, user: int, samples: slice) -> None:
    """The windows of one user of a class."""
    planned = result.plan.classes[index]
    user = min(user, planned.count - 1)
    columns = path_columns(result, run, planned.name)[user]
    in_use = present(result, run, planned.name)[samples, user]
    series = run.series.paths
    t_s = run.series.t_s[samples]
    shown = min(len(columns), MOST_PATHS)
    entries: list[Artist] = []
    for path, column in enumerate(columns[:shown]):
        shade = style.shade(style.colour(index), path, shown)
        cwnd = np.where(in_use[:, path], series.cwnd_segments[samples, column], np.nan)
        ssthresh = series.ssthresh_segments[samples, column]
        finite = in_use[:, path] & np.isfinite(ssthresh)
        ax.plot(t_s, np.where(finite, ssthresh, np.nan), color=shade, linestyle="--", linewidth=1)
        ax.plot(t_s, cwnd, color=shade, linewidth=1.4)
        entries.append(style.entry(path_label(result, planned, path), color=shade))
    entries.append(style.entry("ssthresh", color=style.INK, linestyle="--", linewidth=1))
    ax.set_ylim(bottom=0)
    ax.set_xlim(t_s[0], t_s[-1])
    entries += style.warmup(ax, result.plan.warmup_s)
    ax.set_ylabel("Window (segments)")
    of_paths = f", {shown} of {len(columns)} paths" if shown < len(columns) else ""
    who = f"{planned.name} ({planned.controller}), user {user} of {planned.count}"
    style.heading(ax, who + of_paths, entries)
