"""What if a capacity, a delay, a number of users were another: the equilibrium in every cell of a
grid.

An axis is a key of the scenario as `--set` knows it, such as `link.ap1.rate`, and its values. Cells
are independent, and each starts from the scenario as it stands. A cell that has no equilibrium
keeps the reason and has no numbers; a key or a value that the scenario refuses is an error, for it
would be one everywhere.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import _core
from ..offers import lookup
from ..plan import Plan
from .equilibrium import Equilibrium, equilibrium
from .errors import TheoryError
from .network import Floats, Network

MOST_CELLS = 10_000
"""Some minutes of work, at ten milliseconds a cell and more for laws that jump."""

QUANTITIES = {
    "rate": ("Rate per user", "Mb/s"),
    "total": ("Rate of all users", "Mb/s"),
    "jain": ("Jain's index of users' rates", ""),
}
"""What of a cell can be drawn: `rate` is of each class, the others of all users."""

RANGE = re.compile(r"^\s*([0-9.eE+-]+?)\s*\.\.\s*([0-9.eE+-]+)\s*:\s*(\d+)\s*(.*)$")


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
    users. `controllers` has those of each class over all cells, each once: several where an axis
    sets them.
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
        """How many values each axis has."""
        return tuple(len(axis.values) for axis in self.axes)

    def quantity(self, name: str) -> dict[str, Floats]:
        """Arrays of `shape` by what they are of: each class for `rate`, in Mb/s, else `all users`.

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
    """An axis from `KEY=V1,V2,…` or from `KEY=FIRST..LAST:COUNT UNIT`, evenly spaced.

    Whole numbers stay whole where both ends are. `split` lists values in which there are commas, as
    `anabranch.several` does for controllers. Raises ValueError, naming the text.
    """
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise ValueError(
            f"an axis is {text!r}; write KEY=V1,V2 such as link.ap1.rate=5 Mb/s,10 Mb/s, or "
            "KEY=FIRST..LAST:COUNT UNIT such as link.ap1.rate=2..20:10 Mb/s"
        )
    spaced = RANGE.match(values)
    if spaced:
        listed = _spaced(text, spaced)
    else:
        listed = split(values) if split else [value.strip() for value in values.split(",")]
    if len(set(listed)) != len(listed) or not all(listed):
        raise ValueError(f"an axis is {text!r}; each of its values is given, and given once")
    return Axis(key.strip(), tuple(listed))


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
) -> WhatIf:
    """The equilibrium of a scenario (`text`, TOML) in every combination of the values of `axes`.

    `controller` and `overrides` apply to all cells, and axes come after them. `rtt` and `floor` are
    those of `equilibrium`. `tell` hears cells done and in all.

    Raises ScenarioError for a key or value that the scenario refuses, ValueError for axes that are
    none, too many or twice the same, TheoryError when a controller has no law or no cell has an
    equilibrium.
    """
    shape = _checked(axes)
    results: dict[tuple[int, ...], tuple[Network, Equilibrium]] = {}
    failures: dict[tuple[int, ...], str] = {}
    labels: dict[str, list[str]] = {}
    total = int(np.prod(shape))
    for done, index in enumerate(np.ndindex(*shape)):
        chosen = [f"{axis.key}={axis.values[i]}" for axis, i in zip(axes, index, strict=True)]
        plan = _core.plan(text, name, overrides=[*overrides, *chosen], controller=controller)
        network = Network.from_plan(Plan.from_json(json.loads(plan)))
        for each in network.classes:
            labels.setdefault(each.name, []).append(each.label)
        try:
            results[index] = network, equilibrium(network, rtt=rtt, floor=floor)
        except TheoryError as error:
            failures[index] = str(error)
        if tell:
            tell(done + 1, total)
    if not results:
        raise TheoryError(
            f"no cell has an equilibrium; in the first one, {failures[(0,) * len(shape)]}"
        )
    controllers = {name: tuple(dict.fromkeys(found)) for name, found in labels.items()}
    return _table(tuple(axes), shape, results, failures, controllers)


def _table(
    axes: tuple[Axis, ...],
    shape: tuple[int, ...],
    results: Mapping[tuple[int, ...], tuple[Network, Equilibrium]],
    failures: dict[tuple[int, ...], str],
    controllers: dict[str, tuple[str, ...]],
) -> WhatIf:
    first = next(iter(results.values()))[0]
    classes = tuple(c.name for c in first.classes)
    rates = np.full((*shape, len(classes)), np.nan)
    counts = np.full((*shape, len(classes)), np.nan)
    windows = np.full((*shape, len(first.counts)), np.nan)
    for index, (network, found) in results.items():
        rates[index] = list(found.class_rates_bps.values())
        counts[index] = [c.count for c in network.classes]
        windows[index] = np.concatenate(list(found.windows.values()))
    return WhatIf(axes, classes, rates, windows, counts, failures, controllers)


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


def _spaced(text: str, found: re.Match[str]) -> list[str]:
    """The values of `FIRST..LAST:COUNT UNIT`."""
    first, last, count, unit = found.groups()
    try:
        low, high, number = float(first), float(last), int(count)
    except ValueError:
        raise ValueError(f"an axis is {text!r}; FIRST and LAST are numbers") from None
    if number < 2:
        raise ValueError(f"an axis is {text!r}; COUNT is {count}, and at least 2")
    whole = low.is_integer() and high.is_integer() and not set(first + last) & set(".eE")
    values = np.linspace(low, high, number)
    values = np.round(values) if whole and abs(high - low) >= number - 1 else values
    return [f"{value:.12g} {unit}".strip() for value in values]
