"""Equilibria over a grid of parameters, such as capacities, delays and numbers of users.

An axis is a key of the scenario as `--set` knows it, such as `link.ap1.rate`, and its values. Cells
are independent, and each starts from the scenario as it stands. A cell without an equilibrium
stores the reason and has no numbers. A key or value that the scenario refuses raises an error,
because it would fail in every cell.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import _core
from ..axes import read_axis
from ..offers import lookup
from ..plan import Plan
from .equilibrium import equilibrium
from .errors import TheoryError
from .network import Floats, Network

MOST_CELLS = 10_000
"""Some minutes of work, at ten milliseconds a cell and more for laws that jump."""

QUANTITIES = {
    "rate": ("Rate per user", "Mb/s"),
    "total": ("Rate of all users", "Mb/s"),
    "jain": ("Jain's index of users' rates", ""),
}
"""Quantities of a cell that can be drawn: `rate` is per class, the others are over all users."""


@dataclass(frozen=True)
class Axis:
    """A key of the scenario and the values that it takes, as `--set` would be given them."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class WhatIf:
    """Equilibria over a grid of shape `shape`, one entry for each axis.

    `rates_bps` (*shape, C) is per user of each class and `windows` (*shape, P) in segments, NaN
    where a cell has no equilibrium; `failures` has the reason by index. `counts` (*shape, C) are
    numbers of users. `controllers` lists the controllers of each class over all cells, each once:
    several if an axis sets them.
    """

    axes: tuple[Axis, ...]
    classes: tuple[str, ...]
    rates_bps: Floats
    windows: Floats
    counts: Floats
    failures: dict[tuple[int, ...], str]
    controllers: dict[str, tuple[str, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values of each axis."""
        return tuple(len(axis.values) for axis in self.axes)

    def quantity(self, name: str) -> dict[str, Floats]:
        """Arrays of `shape` by name: for `rate`, in Mb/s, one for each class, else one for `all
        users`.

        Raises ValueError for an unknown name.
        """
        name = lookup("quantity", name, QUANTITIES, "the quantities are")
        rates = self.rates_bps / 1e6
        if name == "rate":
            return {each: rates[..., i] for i, each in enumerate(self.classes)}
        total = (self.counts * rates).sum(axis=-1)
        if name == "total":
            return {"all users": total}
        return {
            "all users": total**2
            / (self.counts.sum(axis=-1) * (self.counts * rates**2).sum(axis=-1))
        }


def axis_from(text: str, split: Callable[[str], list[str]] | None = None) -> Axis:
    """An axis from a text as `read_axis` takes it, such as `KEY=V1,V2` or `KEY=FIRST..LAST:COUNT
    UNIT`. `split` splits a text whose values contain commas. Raises ValueError, naming the text.
    """
    return Axis(*read_axis(text, split))


@dataclass(frozen=True)
class Cell:
    """The equilibrium of one cell, with an entry for each class in the order of the scenario.

    `windows` (P,) are of all paths, in segments. A cell without an equilibrium has `failure`, and
    NaN in the place of numbers.
    """

    classes: tuple[str, ...]
    labels: tuple[str, ...]
    """Controllers."""
    counts: tuple[float, ...]
    rates_bps: tuple[float, ...]
    """Per user."""
    windows: tuple[float, ...]
    failure: str = ""


def solve(
    text: str,
    name: str,
    overrides: Sequence[str],
    controller: str | None = None,
    rtt: str | float = "queueing",
    floor: float = 0.0,
) -> Cell:
    """One cell of `what_if`. Raises ScenarioError for a key or value that the scenario refuses,
    TheoryError when a controller has no law.
    """
    plan = _core.plan(text, name, overrides=list(overrides), controller=controller)
    network = Network.from_plan(Plan.from_json(json.loads(plan)))
    classes = tuple(one.name for one in network.classes)
    labels = tuple(one.label for one in network.classes)
    counts = tuple(float(one.count) for one in network.classes)
    try:
        found = equilibrium(network, rtt=rtt, floor=floor)
    except TheoryError as error:
        nothing = (math.nan,) * len(classes), (math.nan,) * len(network.counts)
        return Cell(classes, labels, counts, *nothing, str(error))
    rates = tuple(map(float, found.class_rates_bps.values()))
    windows = tuple(map(float, np.concatenate(list(found.windows.values()))))
    return Cell(classes, labels, counts, rates, windows)


Solve = Callable[[list[tuple[str, ...]]], Iterable[Cell]]
"""Gives the cells of lists of overrides, in their order."""


def what_if(
    text: str,
    axes: Sequence[Axis],
    *,
    name: str = "<scenario>",
    controller: str | None = None,
    overrides: Sequence[str] = (),
    rtt: str | float = "queueing",
    floor: float = 0.0,
    tell: Callable[[float, float], object] | None = None,
    by: Solve | None = None,
) -> WhatIf:
    """The equilibrium of a scenario (`text`, TOML) in every combination of the values of `axes`.

    `controller` and `overrides` apply to all cells, and axes come after them. `rtt` and `floor` are
    those of `equilibrium`. `tell` is called with the cells done and in all. `by` solves the cells;
    the default calls `solve` for one after the other.

    Raises ScenarioError for a key or value that the scenario refuses, ValueError for no axes, too
    many or the same axis twice, TheoryError when a controller has no law or no cell has an
    equilibrium.
    """
    shape = _checked(axes)
    chosen = [
        (*overrides, *(f"{one.key}={one.values[i]}" for one, i in zip(axes, index, strict=True)))
        for index in np.ndindex(*shape)
    ]
    solved = by(chosen) if by else (solve(text, name, o, controller, rtt, floor) for o in chosen)
    cells = []
    for cell in solved:
        cells.append(cell)
        if tell:
            tell(len(cells), len(chosen))
    if all(cell.failure for cell in cells):
        raise TheoryError(f"no cell has an equilibrium; in the first one, {cells[0].failure}")
    return _table(tuple(axes), shape, cells)


def _table(axes: tuple[Axis, ...], shape: tuple[int, ...], cells: Sequence[Cell]) -> WhatIf:
    def grid(values: Iterable[Sequence[float]]) -> Floats:
        found = np.array(list(values), dtype=float)
        return found.reshape(*shape, found.shape[1])

    classes = cells[0].classes
    labels = zip(*(cell.labels for cell in cells), strict=True)
    failures = {
        index: cell.failure
        for index, cell in zip(np.ndindex(*shape), cells, strict=True)
        if cell.failure
    }
    unknown = (math.nan,) * len(classes)
    return WhatIf(
        axes,
        classes,
        grid(cell.rates_bps for cell in cells),
        grid(cell.windows for cell in cells),
        grid(unknown if cell.failure else cell.counts for cell in cells),
        failures,
        {name: tuple(dict.fromkeys(own)) for name, own in zip(classes, labels, strict=True)},
    )


def _checked(axes: Sequence[Axis]) -> tuple[int, ...]:
    if not axes:
        raise ValueError("there is no axis; give at least one key with its values")
    for one, other in itertools.combinations(axes, 2):
        if one.key == other.key:
            raise ValueError(f"the key {one.key!r} is on two axes; each axis has its own")
    shape = tuple(len(axis.values) for axis in axes)
    if np.prod(shape) > MOST_CELLS:
        raise ValueError(
            f"the grid has {' × '.join(map(str, shape))} cells; at most {MOST_CELLS} are solved at once"
        )
    return shape
