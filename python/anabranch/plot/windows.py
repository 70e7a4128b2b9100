"""Congestion windows and slow-start thresholds over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..runs import Run
from . import style
from .inputs import (
    MOST_PANELS,
    Results,
    cut,
    of_paths,
    panels_of,
    path_columns,
    path_groups,
    path_label,
    present,
    replication,
    single,
    span,
    user_of,
    with_window,
)
from .labels import name_of, over_time
from .size import Width
from .streams import look_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result


@style.styled
def windows(
    results: Results,
    *,
    user: int = 0,
    classes: Sequence[str] | None = None,
    seed: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Windows in segments of one user of each class, a panel for each class.

    Thick lines with markers are congestion windows, thin dashed ones slow-start thresholds; an
    infinite threshold is not drawn, nor is a path that is not in use. A class with fewer users
    shows its last one, and one of more than four paths has several panels. `classes` chooses the
    classes; datagrams (UDP) have no window. `names` has a name for the result.

    Raises ValueError without series, for an unknown class, user or seed, and when no class has a
    window.
    """
    result = single(results, "windows")
    run = replication(result, seed)
    user_of(result, user)
    samples = span(run.series.t_s, start_s, end_s)
    chosen = panels_of(result.classes, with_window(result, classes), "class")
    every = [
        (index, paths)
        for index in chosen
        for paths in path_groups(len(result.plan.classes[index].paths))
    ]
    shown = every if classes else every[:MOST_PANELS]
    figure, axes = style.panels(len(shown), 3.6 if len(shown) == 1 else 2.5, title)
    for (index, paths), ax in zip(shown, axes, strict=True):
        panel(ax, result, run, (index, user, paths), samples)
    axes[-1].set_xlabel("Time (s)")
    part = cut(len(shown), len(every), "panels")
    seeds = f"seed {run.seed}{part}"
    style.legend(figure, [], note=over_time([result], seeds, name_of(result, names)))
    return figure


def panel(ax: Axes, result: Result, run: Run, what: tuple[int, int, range], samples: slice) -> None:
    """Windows of some paths of one user of a class: number of the class, user, paths."""
    index, user, paths = what
    planned = result.plan.classes[index]
    user = min(user, planned.count - 1)
    columns = path_columns(result, run, planned.name)[user]
    in_use = present(result, run, planned.name)[samples, user]
    series = run.series.paths
    t_s = run.series.t_s[samples]
    entries: list[Artist] = []
    for place, path in enumerate(paths):
        look = look_of(path, place, len(paths), len(t_s))
        cwnd = np.where(in_use[:, path], series.cwnd_segments[samples, columns[path]], np.nan)
        ssthresh = series.ssthresh_segments[samples, columns[path]]
        finite = in_use[:, path] & np.isfinite(ssthresh)
        thin = {"color": look["color"], "linestyle": "--", "linewidth": style.pt(0.9)}
        ax.plot(t_s, np.where(finite, ssthresh, np.nan), **thin)
        ax.plot(t_s, cwnd, **look)
        entries.append(style.entry(path_label(result, planned, path), **look))
    thin = {"color": style.INK, "linestyle": "--", "linewidth": style.pt(0.9)}
    entries.append(style.entry("ssthresh", **thin))
    ax.set_ylim(bottom=0)
    ax.set_xlim(t_s[0], t_s[-1])
    entries += style.warmup(ax, result.plan.warmup_s)
    ax.set_ylabel("Window (segments)")
    who = f"{planned.name} ({planned.controller}), user {user} of {planned.count}"
    style.heading(ax, who + of_paths(paths, len(columns)), entries)
