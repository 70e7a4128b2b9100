"""Colours and contours of a map of numbers over two parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import style
from .scale import Floats, Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = "cividis"
"""Even in lightness, and the same to eyes that do not tell red from green."""

LEVELS = 6
"""Approximate number of contours."""

AROUND_ZERO = "PuOr"
"""Two colours that no eyes confuse, with white between them."""

DARK = 0.8
"""The part of their way to the ends from which on these colours are dark."""


@dataclass(frozen=True)
class Range:
    """The numbers that colours stand for, and at which contours are."""

    low: float
    high: float
    colours: str
    levels: Sequence[float]

    def ink(self, level: float) -> str:
        """The colour of a contour that is visible on the map."""
        if self.colours == COLOURS:
            return "white" if level < (self.low + self.high) / 2 else "black"
        return "white" if abs(level) > DARK * self.high else "black"


def range_of(arrays: Sequence[Floats], levels: int, difference: bool) -> Range:
    """The range of the colours of several maps, and the levels of their contours."""
    from matplotlib.ticker import MaxNLocator

    finite = np.concatenate([one[np.isfinite(one)] for one in arrays])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    flat = high - low <= 1e-9 * max(abs(high), abs(low))
    found = [] if flat else MaxNLocator(levels).tick_values(low, high)
    ticks = [float(level) for level in found]
    if difference:
        most = max(abs(low), abs(high)) or 1.0
        return Range(-most, most, AROUND_ZERO, ticks)
    if flat:  # a scale of no length has no colours
        low, high = low - 0.05 * abs(low or 1.0), high + 0.05 * abs(high or 1.0)
    return Range(low, high, COLOURS, ticks)


def coloured(ax: Axes, values: Floats, scales: tuple[Scale, Scale], span: Range) -> Any:
    """Colours and contours of one array; what the colour bar belongs to."""
    x, y = scales
    shown = np.ma.masked_invalid(values.T)
    image = ax.pcolormesh(x.edges, y.edges, shown, cmap=span.colours, vmin=span.low, vmax=span.high)
    image.set_edgecolor("face")  # no seams between cells in PDF
    ax.set_xscale("log" if x.log else "linear")
    ax.set_yscale("log" if y.log else "linear")
    ax.set_xlim(x.edges[0], x.edges[-1])
    ax.set_ylim(y.edges[0], y.edges[-1])
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
    inside = [level for level in span.levels if low < level < high]
    if inside and min(values.shape) > 1 and x.known and y.known:
        contours = ax.contour(
            x.places,
            y.places,
            shown,
            inside,
            colors=[span.ink(level) for level in inside],
            linewidths=style.pt(1.0),
            linestyles="solid",
        )
        font = style.size("legend.fontsize")
        ax.clabel(contours, fmt=lambda level: f"{level:g}".replace("-", "−"), fontsize=font)
    return image
