"""Runs the cells that a document's claims need, once each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..result import Result, run
from ..scenario import load

Progress = Callable[[str, float, float], object]
"""Told the cell at work, and the work done and in all."""


@dataclass(frozen=True)
class Cell:
    """One configuration: a shipped scenario, a controller, overrides."""

    scenario: str
    controller: str | None = None
    overrides: tuple[str, ...] = ()
    series: bool = False
    weight: float = 1.0
    """Rough work of a replication, for the progress bar."""


@dataclass
class Laboratory:
    """Cells by name, and their results once they have been run."""

    cells: dict[str, Cell]
    seeds: int = 20
    results: dict[str, Result] = field(default_factory=dict)
    interrupted: bool = False

    def run(self, names: Iterable[str], progress: Progress | None = None) -> None:
        """Runs the cells that have not been run; the replications of a cell use every core.

        After an interrupt the cells that had finished are in `results`, and `interrupted` is set.
        """
        todo = [name for name in dict.fromkeys(names) if name not in self.results]
        total = sum(self.cells[name].weight for name in todo)
        done = 0.0
        for name in todo:
            cell = self.cells[name]

            def tell(
                now: float, whole: float, name: str = name, done: float = done, cell: Cell = cell
            ) -> None:
                if progress:
                    progress(name, done + cell.weight * now / whole, total)

            tell(0.0, 1.0)
            try:
                result = run(
                    load(cell.scenario),
                    range(1, self.seeds + 1),
                    controller=cell.controller,
                    overrides=cell.overrides,
                    series=cell.series,
                    progress=tell,
                )
            except KeyboardInterrupt:
                self.interrupted = True
                return
            if not result.provenance["complete"]:
                self.interrupted = True
                return
            self.results[name] = result
            done += cell.weight
        if progress:
            progress("done", total, total)

    def __getitem__(self, name: str) -> Result:
        return self.results[name]
