"""Names beside points of a map, placed where there is room."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import style
from .room import APART_PT, Box, overlap, padded, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDES = ((1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""Sides on which a name may stand: right of its point, above, below, left, and diagonal."""
AWAY_PT = 3.0
"""Distance of a name from its point's marker."""
BETWEEN_PT = 2.0
"""Distance of a name from the markers of other points: nearer, it could be theirs."""
HEIGHT = 1.15
"""Height of a line, in font sizes."""


class Names:
    """Puts names beside points so that no two overlap and none covers another point."""

    def __init__(
        self,
        ax: Axes,
        points: list[tuple[float, float]],
        radii_pt: list[float],
        lines: list[list[tuple[float, float]]],
    ) -> None:
        """The axes must have their final size; `points` are in data coordinates, with their
        markers' radii; names avoid `lines` if they can.
        """
        self.ax = ax
        self.points = points
        self.pixels = ax.transData.transform(np.array(points, dtype=float).reshape(-1, 2))
        self.scale = ax.figure.dpi / 72
        figure = ax.get_figure(root=True)
        assert figure is not None
        self.edge: Box = figure.bbox.extents
        self.radii = [0.8 * radius * self.scale for radius in radii_pt]
        self.taken = written(figure)
        ends = [pair for line in lines for pair in pairwise(line)]
        self.lines = [ax.transData.transform(np.array(pair, dtype=float)) for pair in ends]
        self.markers: list[Box] = [
            (x - radius, y - radius, x + radius, y + radius)
            for (x, y), radius in zip(self.pixels, self.radii, strict=True)
        ]

    def add(self, number: int, text: str, size_pt: float, *, bold: bool, over_points: bool) -> bool:
        """Writes the name of a point if there is room, with `over_points` also where other points
        are. Whether there was.
        """
        weight = "bold" if bold else "normal"
        width = style.inches(text, size=size_pt, weight=weight) * 72 * self.scale
        height = HEIGHT * size_pt * self.scale
        rules = [(False, False), (False, True), *([(True, True)] if over_points else [])]
        for covers, crosses in rules:
            for side in SIDES:
                box = self.box(number, side, width, height)
                if not self.free(box, number, covers) or not (crosses or self.clear(box)):
                    continue
                self.taken.append(box)
                self.write(number, side, text, {"fontsize": size_pt, "fontweight": weight})
                return True
        return False

    def box(self, number: int, side: tuple[int, int], width: float, height: float) -> Box:
        """The box of a name on one side of its point."""
        x, y = self.pixels[number]
        away = self.away(number, side)
        left = x + (side[0] * (away + width / 2)) - width / 2
        lower = y + side[1] * (away + height / 2) - height / 2
        return left, lower, left + width, lower + height

    def away(self, number: int, side: tuple[int, int]) -> float:
        """Distance of a name from the middle of its point, in pixels."""
        return (self.radii[number] + AWAY_PT * self.scale) * (1.0 if 0 in side else 0.7)

    def free(self, box: Box, number: int, covers: bool) -> bool:
        """Whether a box is free of other texts, and of points unless the name `covers` them."""
        inside = box[0] >= self.edge[0] and box[2] <= self.edge[2]
        apart = padded(box, APART_PT * self.scale, 0.0)
        if not inside or any(overlap(apart, other) for other in self.taken):
            return False
        wider = padded(box, BETWEEN_PT * self.scale, BETWEEN_PT * self.scale)
        others = [marker for n, marker in enumerate(self.markers) if n != number]
        return covers or not any(overlap(wider, other) for other in others)

    def clear(self, box: Box) -> bool:
        """Whether no line passes through a box."""
        return not any(crosses(box, start, end) for start, end in self.lines)

    def write(self, number: int, side: tuple[int, int], text: str, look: dict[str, Any]) -> None:
        """Writes a name with a pale edge, that lines may pass below it. The layout ignores it: it
        would move the points.
        """
        from matplotlib.patheffects import withStroke

        away = self.away(number, side) / self.scale
        edge = withStroke(linewidth=style.pt(2.2), foreground="white", alpha=0.85)
        made = self.ax.annotate(
            text,
            self.points[number],
            xytext=(side[0] * away, side[1] * away),
            textcoords="offset points",
            ha=("right", "center", "left")[side[0] + 1],
            va=("top", "center", "bottom")[side[1] + 1],
            color=style.INK,
            path_effects=[edge],
            zorder=8,
            annotation_clip=False,
            **look,
        )
        made.set_in_layout(False)


def crosses(box: Box, start: NDArray[np.float64], end: NDArray[np.float64]) -> bool:
    """Whether a line segment crosses a box: whether a part of it lies in both ranges."""
    low, high = 0.0, 1.0
    for axis in (0, 1):
        span, first = float(end[axis] - start[axis]), float(start[axis])
        if span == 0:
            if not box[axis] < first < box[axis + 2]:
                return False
            continue
        enters, leaves = sorted(((box[axis] - first) / span, (box[axis + 2] - first) / span))
        low, high = max(low, enters), min(high, leaves)
    return low < high
