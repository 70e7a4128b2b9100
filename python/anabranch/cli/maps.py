"""Output of `anabranch theory --map`: equilibria over a grid of keys and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from .. import plot, theory
from ..plan import Plan
from ..plot.labels import joined
from ..plot.scale import split_unit
from ..scenario import Scenario
from ..statistics import Quantity, column
from ..subjects import subjects
from ..theory.whatif import QUANTITIES, Solve
from ..written import several
from .draw import Looks
from .making import Making
from .terminal import named, progress, table

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

SHOWN = Quantity(decimals=4, always=True)
"""Format of numbers in a map: in the unit of the quantity, all with the same decimals."""

MOST_COLUMNS = 12
"""Columns of a printed table; the picture and the file have all."""


def axes_of(maps: list[str], out: Path | None) -> list[theory.Axis]:
    """The axes of `--map`. Raises ValueError for options that do not go together."""
    if out and not maps:
        raise ValueError(f"--out is {str(out)!r}, where a map is drawn; say of what with --map")
    if len(maps) > 2:
        raise ValueError(f"--map is given {len(maps)} times; a map has one or two axes")
    return [axis_of(text) for text in maps]


def axis_of(text: str) -> theory.Axis:
    """An axis; one of controllers may have parameters, and several values of them in braces."""
    key = text.partition("=")[0]
    return theory.axis_from(text, several if key.strip().lower().endswith("controller") else None)


def grid(
    scenario: Scenario,
    axes: list[theory.Axis],
    controller: str | None,
    overrides: Sequence[str],
    rtt: str | float,
    making: Making,
) -> theory.WhatIf:
    """The equilibria over the axes."""
    with progress("solving cells") as tell, solving(scenario, axes, controller, rtt, making) as by:
        return theory.what_if(
            scenario.text,
            axes,
            name=scenario.name,
            controller=controller,
            overrides=overrides,
            rtt=rtt,
            tell=tell,
            by=by,
        )


@contextmanager
def solving(
    scenario: Scenario,
    axes: list[theory.Axis],
    controller: str | None,
    rtt: str | float,
    making: Making,
) -> Iterator[Solve | None]:
    """The solver of the cells; None to solve them in this process, one after the other."""
    if making == Making():
        yield None
        return
    from ..sweeps.solver import solver

    keys = [axis.key for axis in axes]
    where: dict[str, Any] = vars(making)
    with solver(scenario, keys, controller=controller, rtt=rtt, **where) as solve:
        yield solve


def show(out: Console, found: theory.WhatIf, of: str) -> None:
    """Prints a table: of all classes over one axis, of each class over two."""
    words, unit = QUANTITIES[of]
    words += f" ({unit})" if unit else ""
    panels = found.quantity(of)
    if len(found.axes) == 1:
        cells = zip(*(column(values.tolist(), SHOWN) for values in panels.values()), strict=True)
        rows = [
            [named(value), *own] for value, own in zip(found.axes[0].values, cells, strict=True)
        ]
        out.print(table(words, [named(found.axes[0].key), *map(named, panels)], rows))
    else:
        for name, values in panels.items():
            _show_grid(out, found.axes, values, f"{words}: {name}")
    for index, why in list(found.failures.items())[:3]:
        cell = ", ".join(
            f"{axis.key}={axis.values[i]}" for axis, i in zip(found.axes, index, strict=True)
        )
        out.print(f"no equilibrium at {cell}: {why}", style="yellow", markup=False)
    if len(found.failures) > 3:
        out.print(f"and in {len(found.failures) - 3} more cells", style="yellow")


def figure(found: theory.WhatIf, of: str, plan: Plan, looks: Looks) -> Figure:
    """The map, or lines over a single axis."""
    words, unit = QUANTITIES[of]
    axes = found.axes
    labels = [_label(axis) for axis in axes]
    return plot.heat_map(
        found.quantity(of),
        columns=axes[0].values,
        rows=axes[1].values if len(axes) == 2 else None,
        labels=(labels[0], labels[-1]),
        quantity=f"{words} ({unit})" if unit else words,
        note=joined(plan.name, controllers_of(found, plan), "equilibrium"),
        **looks.options(),
    )


def controllers_of(found: theory.WhatIf, plan: Plan) -> str:
    """The controller under study, if all cells have the same one; empty if an axis sets it."""
    of_classes = [found.controllers[one.name] for one in subjects(plan.classes)]
    if any(len(names) > 1 for names in of_classes):
        return ""
    return "+".join(dict.fromkeys(names[0] for names in of_classes))


def as_data(found: theory.WhatIf) -> dict[str, Any]:
    """The numbers for a result file."""
    return {
        "axes": [{"key": axis.key, "values": list(axis.values)} for axis in found.axes],
        "classes": list(found.classes),
        "throughput_bps": found.rates_bps,
        "windows_segments": found.windows,
        "users": found.counts,
        "failures": [{"cell": list(index), "why": why} for index, why in found.failures.items()],
    }


def _show_grid(
    out: Console, axes: tuple[theory.Axis, ...], values: NDArray[np.float64], title: str
) -> None:
    across, down = axes
    if len(across.values) > MOST_COLUMNS >= len(down.values):
        across, down, values = down, across, values.T
    every = -(-len(across.values) // MOST_COLUMNS)
    bare, unit = split_unit(across.values)
    head = f"{down.key} ↓  {across.key} →" + (f" ({unit})" if unit else "")
    rows = [
        [named(value), *column(own, SHOWN)]
        for value, own in zip(down.values, values[::every].T.tolist(), strict=True)
    ]
    title += f", {len(bare[::every])} of {len(bare)} columns" if every > 1 else ""
    out.print(table(named(title), [named(head), *map(named, bare[::every])], rows))


def _label(axis: theory.Axis) -> str:
    _, unit = split_unit(axis.values)
    return f"{axis.key} ({unit})" if unit else axis.key
