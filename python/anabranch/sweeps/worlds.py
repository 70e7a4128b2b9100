"""The worlds in which configurations are run, each with a function that makes rows of its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..offers import lookup
from ..result import run
from .configuration import SIMULATION, Configuration
from .equilibria import EQUILIBRIUM, solved
from .rows import of_events, over_time, rows

if TYPE_CHECKING:
    import pyarrow

Make = Callable[[Configuration, Sequence[int], Sequence[str], str], "dict[str, pyarrow.Table]"]
"""Rows by table, from a configuration, seeds, the tables that are kept, and the version."""


def simulated(
    of: Configuration, seeds: Sequence[int], tables: Sequence[str], made_by: str
) -> dict[str, pyarrow.Table]:
    """The rows of simulations, on one processor. Raises what `run` raises."""
    result = run(
        of.scenario,
        seeds,
        controller=of.controller or None,
        overrides=of.overrides,
        threads=1,
        series=any(map(over_time, tables)),
        events=any(map(of_events, tables)),
    )
    return rows(of, result, tables, made_by)


WORLDS: dict[str, Make] = {SIMULATION: simulated, EQUILIBRIUM: solved}
"""By name."""


def make(
    of: Configuration, seeds: Sequence[int], tables: Sequence[str], made_by: str
) -> dict[str, pyarrow.Table]:
    """The rows of the runs of a configuration, by table. Raises what its world raises."""
    world = WORLDS[lookup("world", of.world, WORLDS, "the worlds are")]
    return world(of, seeds, tables, made_by)
