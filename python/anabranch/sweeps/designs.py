"""Designs: points in a space that is too large for every combination.

A range without a count, such as `5..40 Mb/s`, is a dimension; a design draws points in all
dimensions together. Points are the same for the same dimensions, whatever else a sweep has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..offers import lookup
from .axes import Axis

OPEN = re.compile(r"^\s*([0-9.eE+-]+?)\s*\.\.\s*([0-9.eE+-]+)(?:\s+(log)(?![A-Za-z]))?(\s+.*)?$")
"""`5..40 Mb/s`, or `1..1000 log ms`."""

MOST_POINTS = 1_000_000

SEED = 1
"""Of all designs: another set of points is another number of them."""


@dataclass(frozen=True)
class Dimension:
    """A key, and between which values it lies; `whole` numbers where both ends have no unit and
    are whole.
    """

    key: str
    first: float
    last: float
    logarithmic: bool
    unit: str
    whole: bool

    def at(self, part: float) -> str:
        """The value so far along the way from the first to the last one."""
        if self.whole:
            steps = abs(self.last - self.first) + 1
            value = self.first + math.copysign(
                min(int(part * steps), steps - 1), self.last - self.first
            )
            return str(int(value))
        if self.logarithmic:
            value = self.first * (self.last / self.first) ** part
        else:
            value = self.first + (self.last - self.first) * part
        return f"{value:.9g}{self.unit}"


def dimension(text: str) -> Dimension | None:
    """The dimension of `KEY=FIRST..LAST [log] UNIT`; None if the text is another axis.

    Raises ValueError for ends that are none.
    """
    key, _, values = text.partition("=")
    match = OPEN.match(values)
    if not match or not key.strip() or ":" in values:
        return None
    low, high, logarithmic, unit = match.groups()
    try:
        first, last = float(low), float(high)
    except ValueError:
        raise ValueError(
            f"an axis is {text.strip()!r}; {low!r} and {high!r} are not numbers"
        ) from None
    if first == last or (logarithmic and min(first, last) <= 0):
        need = "above zero" if logarithmic else "that differ"
        raise ValueError(f"an axis is {text.strip()!r}; a range has ends {need}")
    bare = (unit or "").strip()
    whole = not bare and not logarithmic and low.isdecimal() and high.isdecimal()
    return Dimension(key.strip(), first, last, bool(logarithmic), f" {bare}" if bare else "", whole)


def _random(dimensions: int, count: int) -> NDArray[np.float64]:
    return np.random.default_rng(SEED).random((count, dimensions))


def _latin(dimensions: int, count: int) -> NDArray[np.float64]:
    from scipy.stats import qmc

    return _points(qmc.LatinHypercube(dimensions, rng=SEED).random(count))


def _sobol(dimensions: int, count: int) -> NDArray[np.float64]:
    from scipy.stats import qmc

    # All 2^m points, for a power of two: the first ones of them are spread evenly too.
    whole = qmc.Sobol(dimensions, rng=SEED).random_base2(max(count - 1, 1).bit_length())
    return _points(whole)[:count]


def _points(found: Any) -> NDArray[np.float64]:
    return np.asarray(found, dtype=float)


METHODS: dict[str, Callable[[int, int], NDArray[np.float64]]] = {
    "random": _random,
    "lhs": _latin,
    "sobol": _sobol,
}
"""Designs by name: independent points, a Latin hypercube, a scrambled Sobol' sequence."""


def design(dimensions: Sequence[Dimension], text: str) -> Axis:
    """The axis of all dimensions together, at the points of a design such as `sobol:64`.

    Raises ValueError for another text.
    """
    name, colon, count = text.partition(":")
    method = METHODS[lookup("design", name, METHODS, "the designs are")]
    if not colon or not count.isdecimal() or not 1 <= int(count) <= MOST_POINTS:
        raise ValueError(
            f"the design is {text!r}; write METHOD:COUNT such as sobol:64, up to {MOST_POINTS:,} points"
        )
    points = method(len(dimensions), int(count))
    rows = (
        tuple(one.at(float(part)) for one, part in zip(dimensions, point, strict=True))
        for point in points
    )
    # Whole numbers may fall together.
    return Axis(tuple(one.key for one in dimensions), tuple(dict.fromkeys(rows)))


def axes_of(axes: Sequence[str], sample: str | None, axis: Callable[[str], Axis]) -> list[Axis]:
    """The axes of texts; those that are dimensions are one axis, by the design `sample`.

    Raises ValueError for dimensions without a design, and a design without dimensions.
    """
    found = [dimension(text) for text in axes]
    dimensions = [one for one in found if one]
    plain = [axis(text) for text, one in zip(axes, found, strict=True) if not one]
    if dimensions and not sample:
        raise ValueError(
            f"{dimensions[0].key} has a range without a count: say how many, as in "
            f"{dimensions[0].key}={dimensions[0].first:g}..{dimensions[0].last:g}:8"
            f"{dimensions[0].unit}, or draw points with a design such as sobol:64"
        )
    if sample and not dimensions:
        raise ValueError(f"the design {sample!r} has no range to draw from, such as KEY=5..40 Mb/s")
    return [*plain, design(dimensions, sample)] if sample else plain
