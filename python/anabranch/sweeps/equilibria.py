"""Equilibria as runs of a sweep, in the place of simulations: the cells of `theory --map`.

A cell has no random numbers, so its one seed is 0. A cell without an equilibrium is a row too: its
numbers are null, and the whole cell has the reason.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..theory.whatif import Cell, solve
from .configuration import Configuration, digest
from .parts import CLASSES, RUNS, joined
from .rows import arrow_table

if TYPE_CHECKING:
    import pyarrow

EQUILIBRIUM = "equilibrium"
"""The name of this world."""

SEED = 0
"""Of every cell."""

WHOLE = "whole"
"""The table of whole cells."""


def solved(
    of: Configuration, seeds: Sequence[int], tables: Sequence[str], made_by: str
) -> dict[str, pyarrow.Table]:
    """The rows of a cell. Raises what `theory.whatif.solve` raises."""
    rtt = of.settings["rtt"]
    cell = solve(
        of.text,
        of.name,
        of.overrides,
        of.controller or None,
        rtt if rtt in ("base", "queueing") else float(rtt),
        float(of.settings["floor"]),
    )
    text = written(cell)
    own = {"tables": [",".join(tables)], "digest": [digest(text)]}
    found = {RUNS: arrow_table(of, [SEED], made_by, own)}
    classes: dict[str, list[Any]] = {
        "class": list(cell.classes),
        "users": [int(one) for one in cell.counts],
        "class_controller": list(cell.labels),
        "throughput_bps": [None if math.isnan(one) else one for one in cell.rates_bps],
    }
    found[CLASSES] = arrow_table(of, [SEED] * len(cell.classes), made_by, classes, CLASSES)
    found[WHOLE] = arrow_table(of, [SEED], made_by, {"run": [text]}, WHOLE)
    return {table: joined([rows]) for table, rows in found.items() if table in (RUNS, *tables)}


def written(cell: Cell) -> str:
    """A cell as JSON."""
    content = dataclasses.asdict(cell)
    for name in ("rates_bps", "windows"):
        content[name] = [None if math.isnan(one) else one for one in content[name]]
    return json.dumps(content)


def read(text: str) -> Cell:
    """The cell that `written` gave."""

    def numbers(values: list[float | None]) -> tuple[float, ...]:
        return tuple(math.nan if one is None else one for one in values)

    content = json.loads(text)
    return Cell(
        tuple(content["classes"]),
        tuple(content["labels"]),
        numbers(content["counts"]),
        numbers(content["rates_bps"]),
        numbers(content["windows"]),
        content["failure"],
    )
