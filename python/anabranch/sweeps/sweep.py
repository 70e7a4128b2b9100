"""A sweep: what is to be run, and the running of what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..scenario import Scenario
from ..seeds import Seeds, checked_seeds
from .axes import Axis, product
from .configuration import Configuration, Task, resolved, source
from .engines import Engine, engine
from .expressions import Expression
from .rows import checked_tables, version
from .store import Failure, Store
from .until import Until, first
from .work import Outcome, work

BATCH_S = 1.0
"""How long a task takes: what handing it out costs is a small part of that."""

MOST_RUNS = 1000
"""Runs of one task, however short they are."""

AHEAD = 2
"""Tasks for each worker that are handed out before it asks for them."""

Tell = Callable[["Progress"], object]


@dataclass
class Progress:
    """How far a sweep is."""

    wanted: int
    """Runs in all."""
    there: int
    """Those that the store had before."""
    made: int = 0
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Runs that are in the store, or have failed."""
        return self.there + self.made + self.failed


@dataclass(frozen=True)
class Sweep:
    """Axes over a scenario, controllers and seeds: every combination is run.

    Without controllers the scenario's own are. `tables` are those of results that are kept beside
    the rows of runs and classes. `derived` are values that follow from those of axes, by keys of
    the scenario; points are left out where a condition of `only` does not hold. With `until`,
    replications go on from `seeds` until intervals are narrow.
    """

    scenario: Scenario
    axes: tuple[Axis, ...] = ()
    controllers: tuple[str, ...] = ()
    seeds: Seeds = 1
    overrides: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    derived: Mapping[str, Expression] = field(default_factory=dict)
    only: tuple[Expression, ...] = ()
    until: Until | None = None

    @cached_property
    def points(self) -> list[dict[str, str]]:
        """The values of all axes, and those that follow from them, where all conditions hold.

        Raises ValueError where an expression has no value.
        """
        found = []
        for values in product(self.axes):
            point = values | {key: one.written(values) for key, one in self.derived.items()}
            if all(condition.value(point) for condition in self.only):
                found.append(point)
        return found

    @cached_property
    def configurations(self) -> list[Configuration]:
        """All configurations, each once. Raises ScenarioError for one that is wrong, ValueError for
        an expression that has no value, and where there is none.
        """
        given = [source(one) for one in self.controllers] or [""]
        scenario = self.scenario
        if not self.points:
            raise ValueError("no point fulfils the conditions, so there is nothing to run")
        before = [resolved(one) for one in self.overrides]
        found: dict[str, Configuration] = {}
        for values in self.points:
            own = [resolved(f"{key}={value}") for key, value in values.items()]
            for controller in given:
                one = Configuration(
                    scenario.text, scenario.name, values, controller, (*before, *own)
                )
                found.setdefault(one.key, one)
        self._check_controllers(list(found.values()))
        return list(found.values())

    def _check_controllers(self, configurations: list[Configuration]) -> None:
        """Raises ValueError where something else sets the controller that is to be studied."""
        keys = [text.partition("=")[0] for one in configurations[:1] for text in one.overrides]
        setting = [key for key in keys if key.strip().lower().endswith("controller")]
        for one in configurations if self.controllers and setting else []:
            if one.label not in {each.controller for each in one.plan.classes}:
                raise ValueError(
                    f"controllers has {one.label}, and {', '.join(setting)} sets another one in its "
                    "place: give one of them alone"
                )

    def __len__(self) -> int:
        """How many runs it is; with `until`, those that it begins with."""
        return sum(len(seeds) for seeds in self.first().values())

    def first(self) -> dict[str, list[int]]:
        """The seeds that configurations begin with, by key."""
        if self.until:
            counts = first(self.seeds, self.configurations)
            return {key: list(range(1, count + 1)) for key, count in counts.items()}
        seeds = checked_seeds(self.seeds)
        return {one.key: seeds for one in self.configurations}

    def missing(
        self, store: Store, seeds: Mapping[str, list[int]] | None = None
    ) -> Iterator[tuple[Configuration, int]]:
        """The runs that a store does not have, of `seeds` or those that it begins with: the first
        seed of all configurations, then the next one.
        """
        done = store.done(version(), checked_tables(self.tables))
        wanted = self.first() if seeds is None else seeds
        for place in range(max(map(len, wanted.values()), default=0)):
            for one in self.configurations:
                own = wanted.get(one.key, [])
                if place < len(own) and (one.key, own[place]) not in done:
                    yield one, own[place]

    def run(
        self,
        store: Store | str | Path,
        *,
        on: str = "threads",
        workers: int = 0,
        tell: Tell | None = None,
    ) -> Progress:
        """Makes the runs that a store does not have yet.

        `on` and `workers` are those of `engine`; `tell` hears of every task that ends. After an
        interrupt the tasks that are at work are kept, and KeyboardInterrupt is raised. Raises
        ScenarioError, StoreError, OSError, ImportError, and OtherVersion of a worker.
        """
        checked = checked_tables(self.tables)
        if self.until:
            self.until.check()
        configurations = self.configurations  # what is wrong is said before a store is made
        place = store if isinstance(store, Store) else Store.make(store)
        place.keep(configurations)
        missing = list(self.missing(place))
        progress = Progress(len(self), len(self) - len(missing))
        with engine(on, workers) as workers_:
            driver = Driver(place, workers_, checked, progress, tell)
            driver.drive(iter(missing))
            counts = {key: len(seeds) for key, seeds in self.first().items()}
            while self.until and (more := self.until.wanted(place, version(), counts)):
                wanted = {key: list(range(counts[key] + 1, many + 1)) for key, many in more.items()}
                counts |= more
                missing = list(self.missing(place, wanted))
                added = sum(map(len, wanted.values()))
                progress.wanted += added
                progress.there += added - len(missing)
                driver.drive(iter(missing))
        return progress


@dataclass
class Driver:
    """Hands tasks to workers, and what they give to the store."""

    store: Store
    workers: Engine
    tables: tuple[str, ...]
    progress: Progress
    tell: Tell | None
    run_s: float = BATCH_S
    """What a run takes, from those that have ended."""

    def drive(self, missing: Iterator[tuple[Configuration, int]]) -> None:
        """Makes runs until there are no more. Raises what a worker raises."""
        at_work: dict[Future[Outcome], Task] = {}
        try:
            while True:
                room = AHEAD * self.workers.workers
                while len(at_work) < room and (task := self.task(missing)):
                    at_work[self.workers.submit(work, task)] = task
                if not at_work:
                    return
                ended, _ = wait(at_work, return_when=FIRST_COMPLETED)
                for future in ended:
                    self.keep(self.outcome(future, at_work[future]))
                    del at_work[future]
        except KeyboardInterrupt:
            self.end(at_work)
            raise

    def outcome(self, future: Future[Outcome], task: Task) -> Outcome:
        """What became of a task. One that took its worker with it, again and again, has failed.

        Raises ValueError where the cluster is gone, and what else a worker raises.
        """
        try:
            return future.result()
        except CancelledError:
            raise ValueError(
                "the scheduler of the cluster is gone; what was made is in the store, and the same "
                "command goes on"
            ) from None
        except Exception as error:
            if type(error).__name__ != "KilledWorker":  # of Dask, which may not be installed
                raise
        reason = "its worker died, again and again: memory may have ended"
        made = (task.version, reason, "")
        return Outcome(
            task.name, failures=[Failure(one.key, s, *made) for one, own in task.parts for s in own]
        )

    def task(self, missing: Iterator[tuple[Configuration, int]]) -> Task | None:
        """The next runs, of about BATCH_S; None after the last one."""
        many = min(max(round(BATCH_S / self.run_s), 1), MOST_RUNS)
        seeds: dict[str, list[int]] = {}
        of: dict[str, Configuration] = {}
        for _, (one, seed) in zip(range(many), missing, strict=False):
            of[one.key] = one
            seeds.setdefault(one.key, []).append(seed)
        if not of:
            return None
        parts = tuple((of[key], tuple(own)) for key, own in seeds.items())
        return Task(parts, self.tables, version())

    def keep(self, outcome: Outcome) -> None:
        """Puts what a task gave into the store."""
        if outcome.tables:
            self.store.add(outcome.name, outcome.tables)
        if outcome.failures:
            self.store.fail(outcome.name, outcome.failures)
        many = outcome.runs + len(outcome.failures)
        if many:
            self.run_s = 0.5 * self.run_s + 0.5 * outcome.took_s / many
        self.progress.made += outcome.runs
        self.progress.failed += len(outcome.failures)
        self.progress.failures += outcome.failures
        if self.tell:
            self.tell(self.progress)

    def end(self, at_work: dict[Future[Outcome], Task]) -> None:
        """After an interrupt: takes back the tasks that no worker has begun, and keeps the others.

        Raises OSError if they cannot be kept.
        """
        for future in at_work:
            future.cancel()
        for future in at_work:
            try:
                outcome = future.result()
            except (CancelledError, Exception):
                continue
            self.keep(outcome)


def sequence(values: Sequence[str] | str | None) -> tuple[str, ...]:
    """Texts as a tuple; one text is one."""
    return (values,) if isinstance(values, str) else tuple(values or ())
