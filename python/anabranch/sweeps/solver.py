"""Grids of equilibria, solved wherever an engine says and kept in a store."""

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
            for one in cells:
                yield read(wholes.texts(wholes.make([(one.key, SEED, WHOLE)]))[0])

        yield solve_all
