"""Grids of equilibria for `theory --map`, solved on an engine and kept in a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..scenario import Scenario
from ..theory.whatif import Cell, Solve
from .configuration import Configuration, resolved, source
from .engines import engine
from .equilibria import EQUILIBRIUM, SEED, WHOLE, read
from .keeper import Keeper
from .store import Store
from .wholes import Wholes

TOGETHER = 256
"""Cells that are read from a store at a time: each time costs the files that have them."""


@contextmanager
def solver(
    scenario: Scenario,
    keys: Sequence[str],
    *,
    controller: str | None = None,
    rtt: str | float = "queueing",
    floor: float = 0.0,
    on: str = "threads",
    store: str | Path | None = None,
    workers: int = 0,
) -> Iterator[Solve]:
    """What solves the cells of `theory.what_if` on an engine; those that a store has are read from
    there. The last overrides of each cell are those of the axes `keys`.

    Raises what `engine` raises, StoreError, and OSError where the store cannot be written.
    """
    place = None if store is None else Store.make(store)
    given = source(controller) if controller else ""
    how = {"rtt": str(rtt), "floor": str(floor)}

    def cell(overrides: tuple[str, ...]) -> Configuration:
        own = overrides[len(overrides) - len(keys) :]
        values = {key: text.partition("=")[2] for key, text in zip(keys, own, strict=True)}
        texts = tuple(map(resolved, overrides))
        return Configuration(scenario.text, scenario.name, values, given, texts, EQUILIBRIUM, how)

    with engine(on, workers) as engaged, Keeper(place) as keeper:
        wholes = Wholes(engaged, keeper)

        def solve_all(chosen: list[tuple[str, ...]]) -> Iterator[Cell]:
            cells = [cell(overrides) for overrides in chosen]
            wholes.ask((one, [SEED], WHOLE) for one in cells)
            for at in range(0, len(cells), TOGETHER):
                keys = [(one.key, SEED, WHOLE) for one in cells[at : at + TOGETHER]]
                there = wholes.make(keys)
                if len(there) < len(keys):
                    raise KeyboardInterrupt
                yield from map(read, wholes.texts(there))

        try:
            yield solve_all
        finally:
            wholes.end()
