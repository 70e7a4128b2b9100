"""Which documents there are, and how their claims are evaluated."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..statistics import Interval
from .findings import Finding, not_run
from .laboratory import Cell, Laboratory, Progress
from .ledger import Claim, claims
from .row import Row

Evaluator = Callable[[Claim, Laboratory], Finding]


@dataclass
class Paper:
    """A document: the cells of its experiments, and an evaluator for each of its claims."""

    key: str
    title: str
    experiments: dict[str, dict[str, Cell]]
    """Cells of each experiment of the ledger; none where theory answers it, or nothing can yet."""
    auxiliary: dict[str, Cell] = field(default_factory=dict)
    """Cells that claims need besides those of an experiment."""
    sensitivity: dict[str, Cell] = field(default_factory=dict)
    """Cells that show what the open parameters move."""
    evaluators: dict[str, tuple[Evaluator, tuple[str, ...]]] = field(default_factory=dict)
    side_by_side: Callable[[Laboratory], Sequence[Row]] = lambda lab: ()
    """Rows of published rates beside theory and simulation, for the cells that have been run."""
    moved: Callable[[Laboratory], Sequence[tuple[str, dict[str, Interval]]]] = lambda lab: ()
    """What the sensitivity cells gave: for each variant a value for each column."""
    shown: tuple[str, ...] = ()
    """Cells whose windows and queues the report draws over time."""

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """Every cell that a claim may need; experiments share some."""
        shared: dict[str, Cell] = {}
        for cells in (*self.experiments.values(), self.auxiliary):
            shared |= cells
        return shared

    def claim(self, id: str, *cells: str) -> Callable[[Evaluator], Evaluator]:
        """Registers the evaluator of a claim and the cells that it needs.

        Raises KeyError for a cell that does not exist and ValueError for a second evaluator.
        """
        full = f"{self.key}.{id}"
        for name in cells:
            if name not in self.cells:
                raise KeyError(f"{full} needs the cell {name!r}, which does not exist")

        def register(evaluator: Evaluator) -> Evaluator:
            if full in self.evaluators:
                raise ValueError(f"{full} has an evaluator already")
            self.evaluators[full] = (evaluator, cells)
            return evaluator

        return register

    @property
    def claims(self) -> dict[str, Claim]:
        """The claims of the ledger."""
        return claims(self.key)


def _papers() -> dict[str, Paper]:
    from .khalili import PAPER

    return {PAPER.key: PAPER}


PAPERS = _papers()


def select(names: Sequence[str]) -> dict[str, list[str]]:
    """Claim ids by document for what a user named: documents, claims, or nothing for everything.

    Raises KeyError for a name that is neither, offering those that are near.
    """
    if not names:
        return {key: list(paper.claims) for key, paper in PAPERS.items()}
    chosen: dict[str, list[str]] = {}
    for name in names:
        key = name.split(".")[0]
        known = [*PAPERS, *(id for paper in PAPERS.values() for id in paper.claims)]
        if name not in known:
            near = difflib.get_close_matches(name, known, 3, 0.4)
            raise KeyError(
                f"there is no document or claim {name!r}; near: {', '.join(near) or ', '.join(PAPERS)}"
            )
        ids = list(PAPERS[key].claims) if name == key else [name]
        chosen.setdefault(key, []).extend(id for id in ids if id not in chosen.get(key, []))
    return chosen


def evaluate(
    key: str, ids: Sequence[str], *, seeds: int = 20, progress: Progress | None = None
) -> tuple[list[Finding], Laboratory]:
    """Runs what the claims `ids` of document `key` need and judges each of them.

    After an interrupt the claims whose cells had all finished are judged, the others are `not_run`,
    and the laboratory's `interrupted` is set.
    """
    paper = PAPERS[key]
    laboratory = Laboratory({**paper.cells, **paper.sensitivity}, seeds)
    needed = [cell for id in ids for cell in paper.evaluators[id][1]]
    laboratory.run(needed, progress)
    return [_judged(paper, id, laboratory) for id in ids], laboratory


def _judged(paper: Paper, id: str, laboratory: Laboratory) -> Finding:
    """A claim's finding, if all of its cells have been run."""
    evaluator, cells = paper.evaluators[id]
    if not all(cell in laboratory.results for cell in cells):
        return not_run(paper.claims[id], "interrupted before all of its cells had been run")
    seeds = {tuple(laboratory[cell].seeds) for cell in cells}
    if len(seeds) > 1:  # paired differences subtract runs with the same seeds
        numbers = " and ".join(str(n) for n in sorted({len(runs) for runs in seeds}))
        why = f"interrupted: its cells have {numbers} replications and cannot be compared in pairs"
        return not_run(paper.claims[id], why)
    return evaluator(paper.claims[id], laboratory)
