"""A sweep: what is to be run, and the running of what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from ..scenario import Scenario
from ..seeds import Seeds, checked_seeds
from .axes import Axis, product
from .configuration import Configuration, resolved, source
from .driver import Driver, Pending
from .engines import engine
from .expressions import Derivable, Expression, Value, check_units, derived
from .keeper import Keeper
from .libraries import library
from .parts import RUNS, StoreError
from .rows import checked_tables, version
from .store import Failure, Store
from .until import MOST, Until, first
from .work import Outcome

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

    def count(self, outcome: Outcome) -> None:
        """Counts what became of tasks."""
        self.made += outcome.runs
        self.failed += len(outcome.failures)
        self.failures += outcome.failures

    def text(self, passed_s: float) -> str:
        """How far it is after so long, in a line."""
        rate = (self.made + self.failed) / passed_s if passed_s else 0.0
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.done} of {self.wanted} runs, {rate:.3g} a second{failed}"


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
    derived: Mapping[str, Value] = field(default_factory=dict)
    only: tuple[Expression, ...] = ()
    until: Until | None = None

    def extended(
        self,
        axes: Sequence[Axis] = (),
        *,
        controllers: Sequence[str] = (),
        seeds: Seeds | None = None,
        overrides: Sequence[str] = (),
        tables: Sequence[str] = (),
        derive: Mapping[str, Derivable] | None = None,
        only: Sequence[str] = (),
        until: str | None = None,
        most_seeds: int = MOST,
    ) -> Sweep:
        """The same with more axes, overrides, values that follow and conditions; controllers,
        seeds, tables and `until` take the place of its own where they are given.

        Expressions are over the keys of all axes. Raises ValueError.
        """
        every = (*self.axes, *axes)
        keys = [key for one in every for key in one.keys]
        follows = {key: derived(given, keys) for key, given in (derive or {}).items()}
        known = [*keys, *self.derived, *follows]
        return replace(
            self,
            axes=every,
            controllers=tuple(controllers) or self.controllers,
            seeds=self.seeds if seeds is None else seeds,
            overrides=(*self.overrides, *overrides),
            tables=tuple(tables) or self.tables,
            derived={**self.derived, **follows},
            only=(*self.only, *(Expression.read(text, known, unit=False) for text in only)),
            until=Until.read(until, most_seeds) if until else self.until,
        )

    @cached_property
    def points(self) -> list[dict[str, str]]:
        """The values of all axes, and those that follow from them, where all conditions hold.

        Raises ValueError where an expression has no value, or takes numbers of several units.
        """
        found = []
        for key in self.derived:
            if any(key in one.keys for one in self.axes):
                raise ValueError(f"{key} is derived, and an axis: give one of them")
        columns = {
            key: {row[place] for row in one.rows}
            for one in self.axes
            for place, key in enumerate(one.keys)
        }
        for value in (*self.derived.values(), *self.only):
            check_units(value, columns)
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
        """Raises ValueError where something else sets the controller that is to be studied, and
        where two controllers have one label, so that rows would not tell them apart.
        """
        labels: dict[str, str] = {}
        for one in configurations if self.controllers else []:
            if labels.setdefault(one.label, one.controller) != one.controller:
                raise ValueError(
                    f"two controllers are called {one.label}; give their classes or laws names of "
                    "their own"
                )
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
    ) -> Iterator[Pending]:
        """The runs that a store does not have, of `seeds` or those that it begins with: the first
        seed of all configurations, then the next one.
        """
        tables = checked_tables(self.tables)
        done = store.done(version(), tables)
        wanted = self.first() if seeds is None else seeds
        for place in range(max(map(len, wanted.values()), default=0)):
            for one in self.configurations:
                own = wanted.get(one.key, [])
                if place < len(own) and (one.key, own[place]) not in done:
                    yield Pending(one, own[place], tables)

    def check_axes(self, store: Store) -> None:
        """Raises StoreError where a store has runs of this sweep that were asked for without one of
        its axes: their rows would not say its value.
        """
        compute, arrow = library("pyarrow.compute"), library("pyarrow")
        axes = sorted({key for one in self.configurations for key in one.values})
        rows = store.read(RUNS, axes)
        keys = arrow.array([one.key for one in self.configurations], arrow.string())
        rows = rows.filter(compute.is_in(rows.column("configuration"), keys))
        for axis in axes if rows.num_rows else ():
            if axis not in rows.column_names or rows.column(axis).null_count:
                raise StoreError(
                    f"{store.folder} has runs of this sweep that were asked for without the axis "
                    f"{axis}, so their rows do not have it; name another --store"
                )

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
        checked_tables(self.tables)
        if self.until:
            self.until.check()
        configurations = self.configurations  # what is wrong is said before a store is made
        place = store if isinstance(store, Store) else Store.make(store)
        self.check_axes(place)
        place.keep(configurations)
        missing = list(self.missing(place))
        progress = Progress(len(self), len(self) - len(missing))
        with engine(on, workers) as engaged, Keeper(place) as keeper:

            def keep(outcomes: list[Outcome]) -> None:
                progress.count(keeper.keep(outcomes))
                if tell:
                    tell(progress)

            driver = Driver(engaged, keep)
            driver.drive(missing)
            counts = {key: len(seeds) for key, seeds in self.first().items()}
            while self.until and (more := self.until.wanted(place, version(), counts)):
                wanted = {key: list(range(counts[key] + 1, many + 1)) for key, many in more.items()}
                counts |= more
                missing = list(self.missing(place, wanted))
                added = sum(map(len, wanted.values()))
                progress.wanted += added
                progress.there += added - len(missing)
                driver.drive(missing)
        return progress


def sequence(values: Sequence[str] | str | None) -> tuple[str, ...]:
    """Texts as a tuple; one text is one."""
    return (values,) if isinstance(values, str) else tuple(values or ())
