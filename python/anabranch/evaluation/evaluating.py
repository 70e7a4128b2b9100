"""Evaluates controllers by the criteria of RFC 9743."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from ..controller import ControllerLike
from ..makers import Core, Maker
from ..seeds import Seeds, checked_seeds
from .criteria import criteria as shipped
from .criterion import Case, Criterion, Level
from .entry import NOTHING, Entry, Measured, Row, judged, printed
from .planning import (
    RENO,
    Contender,
    Setting,
    Workload,
    beside_of,
    beside_rows,
    check_labels,
    contenders,
    is_reno,
    loaded,
    seeds_of,
    selected,
    with_recordings,
    workload,
)
from .running import Place, Progress, Work
from .theory_beside import Predictions

KIND = "anabranch evaluation"
FORMAT = 1
"""Version of the form of its JSON."""

SEEDS = 5
"""Replications where nothing else is said."""


@dataclass
class Evaluation:
    """Controllers, the criteria that they are evaluated by, and what came out."""

    controllers: Sequence[ControllerLike]
    """Names, laws or their files, or Python classes."""
    seeds: Seeds = SEEDS
    """Distinct seeds, or how many."""
    only: Sequence[str] = ()
    """Criteria or sections of RFC 9743, with all below these; empty is all."""
    maker: Maker = field(default_factory=Core)
    """Makes the runs."""
    criteria: Sequence[Criterion] = ()
    """The criteria to choose from; empty is those that ship."""
    level: Level | None = None
    """Only the criteria of this level."""
    recordings: Sequence[str] = ()
    """Files of delivery opportunities, in the format of mahimahi: a case for each."""
    entries: list[Entry] = field(default_factory=list)
    """Controller by controller; all criteria of each, in their order."""
    interrupted: bool = False
    """Whether an interrupt or an error left runs out."""
    contenders: list[Contender] = field(init=False)
    seed_list: list[int] = field(init=False)
    """The seeds, one by one."""
    measures: dict[Place, Measured] = field(init=False, default_factory=dict)
    besides: dict[Setting, Measured] = field(init=False, default_factory=dict)
    """Digests of the runs beside cases."""
    linux: dict[Place, Measured] = field(init=False, default_factory=dict)
    """What the real kernel gave, where it was asked; else why not."""
    predictions: Predictions = field(init=False, default_factory=Predictions)

    def __post_init__(self) -> None:
        """Checks what was given. Raises ScenarioError for an unknown controller, UnknownName for an
        unknown criterion, ValueError for wrong seeds, for a level that no chosen criterion has, and
        for recordings that none uses.
        """
        self.contenders = contenders(self.controllers)
        self.seed_list = checked_seeds(self.seeds)
        known = {one.name: one for one in self.criteria} if self.criteria else shipped()
        chosen = selected(known, self.only, self.level)
        self.criteria = with_recordings(chosen, self.recordings)
        check_labels(self.contenders, self.criteria)

    @property
    def workload(self) -> Workload:
        """The runs that it needs."""
        return workload(self.criteria, self.contenders, self.seed_list)

    @property
    def names(self) -> list[str]:
        """The controllers by the names that results have."""
        return [one.label for one in self.contenders]

    def run(self, progress: Progress | None = None) -> None:
        """Fills `entries`; after an interrupt, and if it raises errors of runs and measures, rows
        that were not run say so.

        Raises ScenarioError for a case that its scenario cannot have, ValueError for a measure of
        a wrong shape, and the errors of the maker.
        """
        for criterion in self.criteria:
            for case in criterion.cases:
                loaded(case.scenario).plan(overrides=case.overrides)
        work = Work(self.workload, self.maker, progress)
        self.measures, self.besides, self.interrupted = work.measures, work.besides, True
        try:
            work.run()
            self.interrupted = False
            self.judge()
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            if self.interrupted:
                self.judge()

    def judge(self) -> None:
        """Fills `entries` from what was measured."""
        self.entries = [
            Entry(
                criterion,
                one.label,
                [self._row(criterion, case, one) for case in criterion.cases],
            )
            for one in self.contenders
            for criterion in self.criteria
        ]

    def _row(self, criterion: Criterion, case: Case, one: Contender) -> Row:
        """A case under a controller."""
        beside = beside_rows(criterion, ())
        references = {
            other.label: self.measures.get((criterion.name, case.name, other.label), NOTHING)
            for other in beside
        }
        place = (criterion.name, case.name, one.label)
        asked = criterion.theory and not self.interrupted  # it takes seconds for all
        theory = self.predictions.of(criterion, case, one) if asked else None
        return judged(
            criterion,
            case,
            self.measures.get(place, NOTHING),
            references,
            theory=theory,
            linux=self.linux.get(place),
            same_as=RENO * (one.label != RENO and is_reno(case.scenario, case.overrides, one)),
        )

    def beside(self, case: Case) -> dict[str, Measured]:
        """Digests of the runs beside a case by their names, or the reasons why there are none."""
        wanted = beside_of(case, seeds_of(case, self.seed_list))
        return {name: self.besides.get(one, NOTHING) for name, one in wanted.items()}

    @staticmethod
    def _run_beside(found: Measured) -> dict[str, Any]:
        """Runs beside a case as plain data."""
        if not found.digests:
            return {"why": found.why}
        return {"digests": list(found.digests), "digest": found.digest}

    def of(self, controller: str) -> list[Entry]:
        """The entries of a controller, by its name in results."""
        return [one for one in self.entries if one.controller == controller]

    @property
    def missed(self) -> list[Entry]:
        """Entries that miss a MUST."""
        return [
            one for one in self.entries if one.criterion.level == "MUST" and one.verdict == "misses"
        ]

    def to_json(self) -> dict[str, Any]:
        """The evaluation as plain data."""
        return {
            "kind": KIND,
            "format": FORMAT,
            "anabranch": _core.__version__,
            "seeds": self.seed_list,
            "complete": not self.interrupted,
            "controllers": [{"name": one.label, "given": one.text} for one in self.contenders],
            "criteria": [self._criterion(one) for one in self.criteria],
        }

    def _criterion(self, criterion: Criterion) -> dict[str, Any]:
        """A criterion as plain data, with all that was found."""
        own = [one for one in self.entries if one.criterion is criterion]
        return {
            "name": criterion.name,
            "title": criterion.title,
            "section": criterion.section,
            "level": criterion.level,
            "unit": criterion.unit.name,
            "factor": criterion.unit.factor,
            "goal": criterion.goal.text(lambda value: printed(value, criterion.unit)),
            "worse": criterion.goal.worse,
            "verdicts": {one.controller: one.verdict for one in own},
            "cases": [
                self._case(criterion, case, {one.controller: one.rows[k] for one in own})
                for k, case in enumerate(criterion.cases)
            ],
        }

    def _case(self, criterion: Criterion, case: Case, rows: Mapping[str, Row]) -> dict[str, Any]:
        """A case as plain data."""
        references = next(iter(rows.values())).references if rows else {}
        return {
            "name": case.name,
            "scenario": case.scenario,
            "overrides": list(case.overrides),
            "beside": {name: list(more) for name, more in case.beside.items()},
            "beside_runs": {name: self._run_beside(one) for name, one in self.beside(case).items()},
            "seeds": list(seeds_of(case, self.seed_list)),
            "controllers": {name: row.to_json() for name, row in rows.items()},
            "references": {name: one.to_json() for name, one in references.items()},
        }


def evaluate(
    *controllers: ControllerLike,
    seeds: Seeds = SEEDS,
    only: Sequence[str] = (),
    criteria: Sequence[Criterion] = (),
    recordings: Sequence[str] = (),
    maker: Maker | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluates controllers by the criteria of RFC 9743, each in all its cases.

    `seeds` are distinct integers, or how many. `only` names criteria, or sections of the RFC with
    all below them. `criteria` replaces those that ship. `maker` makes the runs: by default the
    threads of this process. `progress` is called with the replications done, all of them, and the
    current run. After an interrupt the rows that were not run say so, and `interrupted` is true.

    Raises ScenarioError for an unknown controller, UnknownName for an unknown criterion, and
    ValueError for wrong seeds, and for recordings that no criterion uses.
    """
    made = Evaluation(controllers, seeds, only, maker or Core(), criteria, recordings=recordings)
    made.run(progress)
    return made
