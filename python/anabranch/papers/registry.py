"""Which documents there are, and how their claims are evaluated."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from . import khalili
from .document import Paper
from .findings import Finding, not_run
from .laboratory import Laboratory, Progress

PAPERS = {paper.key: paper for paper in (khalili.PAPER,)}
"""The documents by key."""


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
