"""Smoothed round-trip times over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..runs import Run
from . import style
from .inputs import (
    MOST_PANELS,
    Results,
    controller_of,
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
def rtt(
    results: Results,
    *,
    classes: Sequence[str] | None = None,
    seed: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Smoothed round-trip time in milliseconds, mean over the users of a class, for each path.

    Users without a sample yet do not count. Dotted lines are the propagation of paths that have
    any. A class of more than four paths has several panels; `classes` chooses the classes. `names`
    has a name for the result. Raises ValueError without series and for an unknown class or seed.
    """
    result = single(results, "rtt")
    run = replication(result, seed)
    samples = span(run.series.t_s, start_s, end_s)
    every = [
        (index, paths)
        for index in panels_of(result.classes, classes or result.classes, "class")
        for paths in path_groups(len(result.plan.classes[index].paths))
    ]
    shown = every if classes else every[:MOST_PANELS]
    figure, axes = style.panels(len(shown), 3.6 if len(shown) == 1 else 2.5, title)
    for (index, paths), ax in zip(shown, axes, strict=True):
        panel(ax, result, run, (index, paths), samples)
    axes[-1].set_xlabel("Time (s)")
    part = cut(len(shown), len(every), "panels")
    seeds = f"mean over users · seed {run.seed}{part}"
    style.legend(figure, [], note=over_time([result], seeds, name_of(result, names)))
    return figure


def panel(ax: Axes, result: Result, run: Run, what: tuple[int, range], samples: slice) -> None:
    """Some paths of a class, and the round-trip time without any queue."""
    index, paths = what
    planned = result.plan.classes[index]
    columns = path_columns(result, run, planned.name)
    in_use = present(result, run, planned.name)[samples]
    srtt_s = run.series.paths.srtt_s[samples][:, columns]
    means = mean_over_users(srtt_s, in_use & (srtt_s > 0))
    t_s = run.series.t_s[samples]
    entries: list[Artist] = []
    bare: dict[str, Any] = {"color": style.INK, "linestyle": ":", "linewidth": style.pt(1)}
    for place, path in enumerate(paths):
        look = look_of(path, place, len(paths), len(t_s))
        ax.plot(t_s, 1e3 * means[:, path], **look)
        entries.append(style.entry(path_label(result, planned, path), **look))
    propagation = {planned.paths[path].base_rtt_s for path in paths} - {0.0}  # on the air
    for base_s in propagation:
        ax.axhline(1e3 * base_s, **bare)
    if propagation:
        entries.append(style.entry("without queues", **bare))
    ax.set_xlim(t_s[0], t_s[-1])
    ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))
    entries += style.warmup(ax, result.plan.warmup_s)
    ax.set_ylabel("Smoothed RTT (ms)")
    who = f"{planned.name} ({controller_of(planned)})"
    style.heading(ax, who + of_paths(paths, len(planned.paths)), entries)


def mean_over_users(values: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mean over axis 1 of the counted values; NaN if none are counted."""
    number = counted.sum(axis=1)
    total = np.where(counted, values, 0.0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
