"""Phase portraits: many trajectories of the fluid model, seen in the plane of two of its
unknowns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..offers import lookup
from .fluid import Fluid
from .network import Floats
from .trajectory import trajectory

QUEUE = "queue:"
"""Before the name of a link: the axis is its queue."""

SIDE = 4
"""Starting points along each side of the box that trajectories begin on."""

REACH = 2.2
"""Size of the box, in units of the rest point."""


@dataclass(frozen=True)
class Portrait:
    """`curves` are (T, 2) arrays of both unknowns over time, `rest` (2,) where they rest.

    `labels` say what the axes are, with units; `axes` as they were asked for.
    """

    axes: tuple[str, str]
    labels: tuple[str, str]
    curves: tuple[Floats, ...]
    rest: Floats
    duration_s: float


def portrait(
    fluid: Fluid,
    *,
    axes: tuple[str, str] | None = None,
    duration_s: float,
    tell: Callable[[float, float], object] | None = None,
) -> Portrait:
    """Trajectories from around the rest point, everything else at rest when they begin.

    `axes` are two of `CLASS.PATH`, a window, or `queue:LINK`; by default the two paths of the first
    class that has two, else the windows of the first two classes, else a window and the first queue
    that is not empty. `tell` hears trajectories done and in all. Raises ValueError for axes that
    there are not.
    """
    names = _axes(fluid)
    chosen = [lookup("axis", axis, names, "the axes are") for axis in axes or _default_axes(fluid)]
    if len(set(chosen)) != 2:
        raise ValueError(f"the axes are {' and '.join(chosen)}; they are two different ones")
    where = [names[axis] for axis in chosen]
    rest = _plane(np.exp(fluid.rest.log_windows)[None, :], fluid.rest.queues[None, :], where)[0]
    begin = _box(fluid, where, rest)
    curves = []
    for number, start in enumerate(begin):
        curves.append(_curve(fluid, where, start, duration_s))
        if tell:
            tell(number + 1, len(begin))
    labels = (_label(fluid, chosen[0]), _label(fluid, chosen[1]))
    return Portrait((chosen[0], chosen[1]), labels, tuple(curves), rest, duration_s)


def _axes(fluid: Fluid) -> dict[str, int]:
    """Names of axes, and the unknown that each is: paths first, then queues."""
    names = [f"{c.name}.{i}" for c in fluid.network.classes for i in range(len(c.paths))]
    names += [QUEUE + fluid.network.links[index].name for index in fluid.links]
    return {name: number for number, name in enumerate(names)}


def _default_axes(fluid: Fluid) -> tuple[str, str]:
    classes = fluid.network.classes
    for c in classes:
        if len(c.paths) > 1:
            return f"{c.name}.0", f"{c.name}.1"
    if len(classes) > 1:
        return f"{classes[0].name}.0", f"{classes[1].name}.0"
    waiting = np.flatnonzero(fluid.rest.queues > 0.0)
    if not len(waiting):
        raise ValueError(
            f"{fluid.network.name!r} has one window and no queue at rest: there is no plane to draw"
        )
    return f"{classes[0].name}.0", QUEUE + fluid.network.links[fluid.links[waiting[0]]].name


def _label(fluid: Fluid, axis: str) -> str:
    if axis.startswith(QUEUE):
        return f"Queue of {axis.removeprefix(QUEUE)} (packets)"
    name, _, path = axis.rpartition(".")
    several = any(c.name == name and len(c.paths) > 1 for c in fluid.network.classes)
    return f"Window of {name}{f', path {path}' if several else ''} (segments)"


def _plane(windows: Floats, queues: Floats, where: list[int]) -> Floats:
    """(T, 2) the two unknowns."""
    plane: Floats = np.hstack([windows, queues])[:, where]
    return plane


def _box(fluid: Fluid, where: list[int], rest: Floats) -> list[Floats]:
    """Starting points (2,) on the sides of a box: windows from one segment, queues from empty."""
    paths = len(fluid.network.counts)
    low = np.array([max(1.0, fluid.least_windows) if i < paths else 0.0 for i in where])
    # Two windows share one scale, so that a small one can be compared with a large one.
    both = all(i < paths for i in where)
    high = REACH * np.maximum(np.full(2, rest.max()) if both else rest, 2.0)
    for axis, i in enumerate(where):
        if i >= paths:
            high[axis] = min(high[axis], float(fluid.limits[i - paths]))
    along = np.linspace(0.0, 1.0, SIDE)
    corners = [(x, y) for x in along for y in along if x in (0.0, 1.0) or y in (0.0, 1.0)]
    return [low + (high - low) * np.array(point) for point in corners]


def _curve(fluid: Fluid, where: list[int], start: Floats, duration_s: float) -> Floats:
    """(T, 2) the trajectory from `start`."""
    paths = len(fluid.network.counts)
    unknowns = np.concatenate([np.exp(fluid.rest.log_windows), fluid.rest.queues])
    unknowns[where] = start
    windows = {
        c.name: unknowns[part]
        for c, part in zip(fluid.network.classes, fluid.network.slices, strict=True)
    }
    names = [fluid.network.links[index].name for index in fluid.links]
    queues = dict(zip(names, unknowns[paths:].tolist(), strict=True))
    path = trajectory(
        fluid, windows, queues=queues, duration_s=duration_s, samples=1500, early=True
    )
    return _plane(path.windows, path.queues, where)
