"""Values of a parameter on an axis: numbers to scale, others at equal distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import style

Floats = NDArray[np.float64]

MOST_TICKS = 12

FAR = 20.0
"""From this ratio of the largest to the smallest value on, an axis is logarithmic."""


class Scale:
    """Positions of the values of a parameter on an axis."""

    def __init__(self, values: Sequence[str], room: float = math.inf) -> None:
        """`room` is the length of the axis in inches."""
        self.bare, _ = split_unit(values)
        self.room = room
        known = numbers(self.bare)
        self.known = known is not None and len(known) > 1 and rising(known)
        """Whether the values are numbers that stand to scale."""
        self.places = np.array(known if self.known and known else range(len(values)), dtype=float)
        low, high = self.places[0], self.places[-1]
        self.log = bool(self.known and low > 0 and high > FAR * low)

    @property
    def edges(self) -> Floats:
        """Edges of cells: halfway between values, and symmetric about the first and the
        last value.
        """
        at = np.log(self.places) if self.log else self.places
        if len(at) == 1:
            return np.array([at[0] - 0.5, at[0] + 0.5])
        middle = (at[1:] + at[:-1]) / 2
        ends = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
        return np.exp(ends) if self.log else ends

    def label(self, axis: Any) -> None:
        """The values themselves on an axis, some of them where they are many or close."""
        from matplotlib.ticker import NullLocator

        shown = list(range(0, len(self.bare), math.ceil(len(self.bare) / MOST_TICKS)))
        axis.set_ticks([self.places[n] for n in shown], [self.bare[n] for n in shown])
        axis.set_minor_locator(NullLocator())
        font = style.size("xtick.labelsize")
        wide = sum(style.inches(self.bare[n] + "0", size=font) for n in shown)
        if axis.axis_name == "x" and wide > self.room:
            for label in axis.get_ticklabels():  # each ends below its tick
                label.set(rotation=45, ha="right", rotation_mode="anchor")


def rising(values: Sequence[float]) -> bool:
    """Whether the values are strictly increasing."""
    return all(after > before for before, after in pairwise(values))


def numbers(bare: Sequence[str]) -> list[float] | None:
    """Values as numbers; None if a value is not a number."""
    try:
        return [float(value) for value in bare]
    except ValueError:
        return None


def split_unit(values: Sequence[str]) -> tuple[list[str], str]:
    """Values without the unit that all of them have, and that unit; values as they are where units
    differ.
    """
    parts = [value.split(" ", 1) for value in values]
    units = {part[1] if len(part) == 2 else "" for part in parts}
    if len(units) != 1:
        return list(values), ""
    return [part[0] for part in parts], units.pop()
