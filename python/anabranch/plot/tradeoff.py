"""Two metrics against each other, and the points that no other point beats in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import style
from .inputs import shortened
from .size import Width
from .swept import first_panels, laid_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

MOST_CROSSES = 200
"""Number of points in a panel up to which intervals are drawn and markers are large."""

MOST_SHAPES = 5_000
"""Number of points in a panel up to which each is a separate shape in SVG and PDF."""

FRONT = "Pareto front of the means"


@dataclass(frozen=True)
class Cloud:
    """Points of a group: means of two metrics, and the halves of their intervals, infinite for a
    mean without an interval; shape (points, 2) each.
    """

    means: Floats
    halves: Floats


@style.styled
def tradeoff(
    panels: Mapping[str, Mapping[str, Cloud]],
    *,
    labels: tuple[str, str],
    more: tuple[bool, bool],
    note: str = "",
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """A panel for each entry of `panels`, in it the points of each group, with intervals as crosses
    where the points are few, and the Pareto front of all of them as a line in steps.

    `labels` name the metrics, with their units, and `more` says of each whether more is better.
    `note` names the settings that all points share. Raises ValueError when there is nothing to
    draw.
    """
    shown, note = first_panels(panels, note)
    if not any(len(cloud.means) for groups in shown.values() for cloud in groups.values()):
        raise ValueError("there is nothing to draw: no run has both metrics")
    figure, axes, width_of = laid_out(len(shown), title)
    sizes = [sum(len(cloud.means) for cloud in groups.values()) for groups in shown.values()]
    if max(sizes) <= MOST_CROSSES:
        note = style.SEPARATOR.join(text for text in (note, "crosses: 95 % intervals") if text)
    names = list(dict.fromkeys(name for groups in shown.values() for name in groups))
    for ax, (name, groups) in zip(axes, shown.items(), strict=True):
        for group, cloud in groups.items():
            scattered(ax, cloud, look(names.index(group)), max(sizes))
        ax.margins(0.04)
        limits = np.array([ax.get_xlim(), ax.get_ylim()])
        steps = staircase(np.concatenate([cloud.means for cloud in groups.values()]), more, limits)
        ax.plot(steps[:, 0], steps[:, 1], **front_look())
        ax.set(xlim=limits[0], ylim=limits[1])
        if len(shown) > 1:
            style.heading(ax, shortened(name, 40), [], width_of)
        ax.set_xlabel(arrowed(labels[0], more[0]))
        ax.set_ylabel(arrowed(labels[1], more[1]))
        ax.grid(axis="both")
    entries = [style.entry(shortened(name, 40), **look(n)) for n, name in enumerate(names)]
    most = style.MOST_ENTRIES - 1
    if len(entries) > most:
        more_ = style.entry(f"and {len(entries) - most + 1} more", linestyle="none")
        entries = [*entries[: most - 1], more_]
    style.legend(figure, [*entries, style.entry(FRONT, **front_look())], note=note)
    return figure


def arrowed(label: str, more: bool) -> str:
    """A label that says which way is better."""
    return f"{label}, more is better →" if more else f"← less is better, {label}"


def look(index: int) -> dict[str, Any]:
    """Style of the points of a group."""
    return style.look(index) | {"linestyle": "none"}


def front_look() -> dict[str, Any]:
    """Style of the front."""
    return {"color": style.INK, "linewidth": style.pt(1.1), "linestyle": "--", "zorder": 1}


def scattered(ax: Axes, cloud: Cloud, how: dict[str, Any], many: int) -> None:
    """The points of a group, with crosses unless there are many in the panel."""
    x, y = cloud.means.T
    if many <= MOST_CROSSES:
        halves = np.where(np.isfinite(cloud.halves), cloud.halves, 0.0)
        thin = style.pt(0.8)
        ax.errorbar(x, y, xerr=halves[:, 0], yerr=halves[:, 1], elinewidth=thin, **how)
        return
    small = how | {"markersize": style.pt(2.0), "markerfacecolor": how["color"]}
    ax.plot(x, y, rasterized=many > MOST_SHAPES, **small | {"markeredgewidth": 0.0})


def front(means: Floats, more: Sequence[bool]) -> NDArray[np.int64]:
    """The points, shape (n, 2), that no other one is better than in one metric and as good in the
    other, from the best one in the first metric on.

    >>> front(np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [2.0, 4.0]]), (True, False)).tolist()
    [2, 0]
    """
    worse = np.where(more, -means, means)
    order = np.lexsort((worse[:, 1], worse[:, 0]))
    second = worse[order, 1]
    before = np.minimum.accumulate(np.r_[np.inf, second[:-1]])
    found: NDArray[np.int64] = order[second < before]
    return found


def staircase(means: Floats, more: Sequence[bool], limits: Floats) -> Floats:
    """The border of the region that the points dominate, shape (corners, 2). It ends at the worse
    value of `limits` for each metric, shape (2, 2).
    """
    points = means[front(means, more)]
    worst = limits[[0, 1], [0 if one else 1 for one in more]]
    corners = [[points[0, 0], worst[1]], points[0]]
    for one, other in pairwise(points):
        corners += [[other[0], one[1]], other]
    return np.array([*corners, [worst[0], points[-1, 1]]])
