"""Runs the cells that a document's claims need, once each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..result import Result, run
from ..scenario import load

Progress = Callable[[str, float, float], object]
"""Told the cell at work, and the work done and in all."""

LEAST_RUNS = 2
"""Replications of an interrupted cell that are worth keeping: fewer have no interval."""


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

        After an interrupt `interrupted` is set, and `results` has the cells that had finished and
        the cell at work with the replications that had, if these are enough for an interval.
        """
        todo = [name for name in dict.fromkeys(names) if name not in self.results]
        total = sum(self.cells[name].weight for name in todo)
        done = 0.0
        for name in todo:
            weight = self.cells[name].weight

            def tell(
                now: float,
                whole: float,
                name: str = name,
                done: float = done,
                weight: float = weight,
            ) -> None:
                if progress:
                    progress(name, done + weight * now / whole, total)

            if not self._run_cell(name, tell):
                self.interrupted = True
                return
            done += weight
        if progress:
            progress("done", total, total)

    def _run_cell(self, name: str, tell: Callable[[float, float], object]) -> bool:
        """Whether all replications of a cell have finished; those that have are kept."""
        cell = self.cells[name]
        try:
            tell(0.0, 1.0)
            result = run(
                load(cell.scenario),
                range(1, self.seeds + 1),
                controller=cell.controller,
                overrides=cell.overrides,
                series=cell.series,
                progress=tell,
            )
        except KeyboardInterrupt:
            return False
        complete = bool(result.provenance["complete"])
        if complete or len(result.runs) >= LEAST_RUNS:
            self.results[name] = result
        return complete

    def __getitem__(self, name: str) -> Result:
        return self.results[name]
