"""Runs the configurations that a document's claims need, once each, in one world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Protocol

from ..makers import Core, Maker, Wanted
from ..offers import UnknownName, unknown
from ..result import Result
from ..scenario import Scenario, load

Progress = Callable[[str, float, float], object]
"""Called with the name of the configuration at work, the work done and the work in all."""

SIMULATION = "simulation"

LEAST_RUNS = 2
"""Replications of an interrupted configuration that are worth keeping: fewer have no interval."""


@dataclass(frozen=True)
class Configuration:
    """A configuration of a document's experiments: a shipped scenario, a controller, overrides."""

    scenario: str
    controller: str | None = None
    overrides: tuple[str, ...] = ()
    series: bool = False
    weight: float = field(default=1.0, compare=False)
    """Rough work of a replication, for the progress bar; equal configurations are equal runs."""


@cache
def _loaded(scenario: str, changed_ns: int) -> Scenario:
    return load(scenario)


def scenario_of(cell: Configuration) -> Scenario:
    """The scenario of a cell; a file is read again when it has changed. Raises ScenarioError."""
    file = Path(cell.scenario)
    return _loaded(cell.scenario, file.stat().st_mtime_ns if file.is_file() else 0)


class ReportProgress(Protocol):
    """Reports the work done on a configuration, its work in all and, perhaps, the step at work."""

    def __call__(self, done: float, total: float, what: str = "") -> None:
        """Reports progress."""


class NoResult(Exception):
    """A world has no result of a configuration; the text says why."""


class NotRun(UnknownName):
    """A cell has not been run."""


class World(Protocol):
    """A world that runs configurations."""

    @property
    def name(self) -> str:
        """As in a finding."""

    def work(self, name: str, configuration: Configuration, seeds: int) -> float:
        """Work left for a configuration, in any unit."""

    def begin(self, configurations: Mapping[str, Configuration], seeds: int, work: float) -> None:
        """Called before the first configuration is run, with all and the work that they are."""

    def run(
        self, name: str, configuration: Configuration, seeds: int, tell: ReportProgress
    ) -> Result:
        """The result of a configuration with seeds from 1 on.

        After an interrupt it has the replications that had finished, and its provenance says that
        it is not complete. Raises KeyboardInterrupt when none had, and NoResult.
        """


@dataclass(frozen=True)
class Simulation:
    """The simulator."""

    maker: Maker = field(default_factory=Core)

    @property
    def name(self) -> str:
        """As in a finding."""
        return SIMULATION

    def work(self, name: str, configuration: Configuration, seeds: int) -> float:
        """The configuration's weight."""
        return configuration.weight

    def begin(self, configurations: Mapping[str, Configuration], seeds: int, work: float) -> None:
        """Announces the runs of all configurations."""
        self.maker.announce(
            Wanted(
                scenario_of(one),
                tuple(range(1, seeds + 1)),
                one.controller,
                one.overrides,
                one.series,
            )
            for one in configurations.values()
        )

    def run(
        self, name: str, configuration: Configuration, seeds: int, tell: ReportProgress
    ) -> Result:
        """Simulates a configuration."""
        return self.maker.run(
            scenario_of(configuration),
            range(1, seeds + 1),
            controller=configuration.controller,
            overrides=configuration.overrides,
            series=configuration.series,
            progress=tell,
        )


@dataclass
class Laboratory:
    """Configurations by name, and their results once they have been run."""

    configurations: dict[str, Configuration]
    seeds: int = 20
    results: dict[str, Result] = field(default_factory=dict)
    interrupted: bool = False
    world: World = field(default_factory=Simulation)
    absent: dict[str, str] = field(default_factory=dict)
    """Reasons why requested configurations have no result."""
    wrong: list[str] = field(default_factory=list)
    """Errors of claims whose measures failed on the results."""
    beside: Laboratory | None = None
    """The same configurations simulated, where this laboratory's world is another."""

    def run(self, names: Iterable[str], progress: Progress | None = None) -> None:
        """Runs the configurations that have not been run.

        After an interrupt `interrupted` is set, and `results` has the configurations that had
        finished and the configuration at work with the replications that had, if these are enough
        for an interval.
        """
        todo = [name for name in dict.fromkeys(names) if name not in self.results]
        work = {name: self.world.work(name, self.configurations[name], self.seeds) for name in todo}
        whole = sum(work.values())
        self.world.begin({name: self.configurations[name] for name in todo}, self.seeds, whole)
        known = {self.configurations[name]: result for name, result in self.results.items()}
        before = 0.0
        for name in todo:

            def tell(
                done: float, total: float, what: str = "", name: str = name, before: float = before
            ) -> None:
                if progress:
                    progress(name + what, before + work[name] * done / total, whole)

            if not self._run_configuration(name, known, tell):
                self.interrupted = True
                return
            before += work[name]
        if progress:
            progress("done", whole, whole)

    def _run_configuration(
        self, name: str, known: dict[Configuration, Result], tell: ReportProgress
    ) -> bool:
        """Runs a configuration, unless the result of the same runs is known, and keeps its finished
        replications; False if some did not finish.
        """
        try:
            tell(0.0, 1.0)
            own = self.configurations[name]
            result = known[own] if own in known else self.world.run(name, own, self.seeds, tell)
        except NoResult as why:
            self.absent[name] = str(why)
            return True
        except KeyboardInterrupt:
            return False
        complete = bool(result.provenance["complete"])
        if complete or len(result.runs) >= LEAST_RUNS:
            self.results[name] = known[own] = result
        return complete

    def paired(self, names: Iterable[str]) -> Laboratory:
        """The same laboratory, with only the seeds that all configurations in `names` share.

        Paired differences subtract runs with the same seeds.
        """
        own = [name for name in dict.fromkeys(names) if name in self.results]
        common = set.intersection(*(set(self[name].seeds) for name in own)) if own else set()
        narrowed = {
            name: replace(self[name], runs=[r for r in self[name].runs if r.seed in common])
            for name in own
        }
        return replace(self, results=self.results | narrowed)

    def __getitem__(self, name: str) -> Result:
        if name not in self.results:
            error = unknown("result of a configuration", name, self.results, "there are those of")
            raise NotRun(*error.args)
        return self.results[name]
