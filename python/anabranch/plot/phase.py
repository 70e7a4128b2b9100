"""Phase portraits: trajectories in the plane of two unknowns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import style
from .size import Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

HEADS = (0.25, 0.6)
"""Positions of arrow heads along a curve, as fractions of its drawn length."""


@style.styled
def phase_portrait(
    curves: Sequence[Floats],
    rest: Floats,
    *,
    labels: tuple[str, str],
    note: str = "",
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Curves (T, 2) from where they begin (a dot) to where they rest (`rest`, a cross), with arrow
    heads.

    `labels` are the quantities of both axes with their units; `note` describes the curves. Raises
    ValueError when a curve has fewer than two points.
    """
    if not curves or any(
        np.ndim(curve) != 2 or len(curve) < 2 or curve.shape[1] != 2 for curve in curves
    ):
        raise ValueError("there is nothing to draw; a curve has at least two points of two numbers")
    figure, (ax,) = style.panels(1, 5.6, title)
    ax.grid(True, axis="both")
    everything = np.vstack([*curves, rest[None, :]])
    reach = everything.max(axis=0) * 1.04
    for curve in curves:
        ax.plot(
            curve[:, 0], curve[:, 1], color=style.PALETTE[0], linewidth=style.pt(1.1), alpha=0.8
        )
        heads(ax, curve, reach)
        ax.plot(*curve[0], "o", color=style.PALETTE[0], markersize=style.pt(4))
    ax.plot(
        *rest,
        "X",
        color=style.PALETTE[1],
        markersize=style.pt(11),
        markeredgecolor="white",
        zorder=4,
    )
    ax.set_xlim(-0.02 * reach[0], reach[0])
    ax.set_ylim(-0.02 * reach[1], reach[1])
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    dot: dict[str, Any] = {"marker": "o", "markersize": style.pt(4), "linewidth": style.pt(1.1)}
    cross: dict[str, Any] = {"marker": "X", "markersize": style.pt(9), "linestyle": "none"}
    begin = style.entry("start", color=style.PALETTE[0], **dot)
    end = style.entry("rest point", color=style.PALETTE[1], **cross)
    style.legend(figure, [begin, end], note=note)
    return figure


def heads(ax: Axes, curve: Floats, reach: Floats) -> None:
    """Arrow heads on a curve, where it is long enough to be seen."""
    steps = np.linalg.norm(np.diff(curve / reach, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    # A spiral near rest is long but small: heads belong on the way there.
    seen = min(float(along[-1]), 1.0)
    if seen < 0.05:
        return
    for part in HEADS:
        at = int(np.searchsorted(along, part * seen))
        after = max(at + 1, int(np.searchsorted(along, part * seen + 0.01)))
        if after < len(curve):
            ax.annotate(
                "",
                xy=tuple(curve[after]),
                xytext=tuple(curve[at]),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": style.PALETTE[0],
                    "lw": style.pt(0.8),
                    "mutation_scale": style.pt(11),
                },
            )
