"""Whole runs as JSON: made by workers, or read from a store."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .configuration import Configuration
from .driver import Driver, Pending
from .engines import Engine
from .keeper import Keeper
from .parts import CLASSES, RUNS, StoreError, read_part, read_runs
from .rows import is_whole, version
from .store import AGAIN, Store
from .work import Outcome

if TYPE_CHECKING:
    import pyarrow

Key = tuple[str, int, str]
"""A configuration, a seed, and the table that has the whole run."""


class RunFailed(ValueError):
    """A run gave an error; the text has its seed and the reason."""


@dataclass
class Wholes:
    """Makes whole runs in the order of the requests. Runs in the store are read; new runs are
    written to it.
    """

    workers: Engine
    keeper: Keeper
    _driver: Driver = field(init=False)
    _queue: deque[Pending] = field(default_factory=deque)
    _asked: set[Key] = field(default_factory=set)
    """What is in the queue, at work, made, or in the store."""
    _made: dict[Key, str] = field(default_factory=dict)
    """JSON of runs that `texts` has not returned yet."""
    _kept: dict[Key, str] = field(default_factory=dict)
    """The names of the parts that have runs, for those in the store."""
    _failed: dict[tuple[str, int], str] = field(default_factory=dict)
    _interrupted: bool = False
    """Whether there was an interrupt. The tasks at work may have completed the result at hand;
    then the next result ends.
    """

    @property
    def store(self) -> Store | None:
        """Where runs are kept."""
        return self.keeper.store

    def __post_init__(self) -> None:
        """Looks for what the store has. Raises StoreError."""
        self._driver = Driver(
            self.workers, self._keep, lambda: self._queue.popleft() if self._queue else None
        )
        if self.store:
            self._kept = places(self.store)
            self._asked |= self._kept.keys()

    def ask(
        self, asks: Iterable[tuple[Configuration, Sequence[int], str]], *, first: bool = False
    ) -> None:
        """Puts into the queue what is missing of configurations with their seeds, and the table of
        each that is wanted; before all others if they come `first`.

        Raises ScenarioError, OSError; then nothing is in the queue.
        """
        new: dict[Key, Pending] = {}
        for of, seeds, table in asks:
            for seed in seeds:
                if (key := (of.key, seed, table)) not in self._asked:
                    new[key] = Pending(of, seed, (CLASSES, table))
        if new and self.store:
            configurations = {one.configuration.key: one.configuration for one in new.values()}
            self.store.keep(configurations.values())
        self._asked |= new.keys()
        if first:
            self._queue.extendleft(reversed(new.values()))
        else:
            self._queue.extend(new.values())

    def make(self, keys: Sequence[Key], tell: Callable[[int], object] | None = None) -> list[Key]:
        """Makes runs that were asked for; the keys of those that are there, which are all unless
        there was an interrupt. It ends at the first run that fails. `tell` hears how many there
        are.

        Raises RunFailed, OSError, what workers raise, and KeyboardInterrupt if none is there.
        """
        left = [key for key in keys if self._open(key)]
        runs = {key[:2] for key in keys}
        try:
            while left and runs.isdisjoint(self._failed):
                if self._interrupted:
                    raise KeyboardInterrupt
                if not self._driver.step():
                    raise RuntimeError(f"{len(left)} runs were asked for and are not made")
                left = [key for key in left if self._open(key)]
                if tell:
                    tell(len(keys) - len(left))
        except KeyboardInterrupt:
            self._interrupted = True
            self.end()
            if all(map(self._open, keys)):
                raise
        for key in keys:
            if why := self._failed.get(key[:2]):
                raise RunFailed(f"seed {key[1]}: {why}")
        return [key for key in keys if not self._open(key)]

    def end(self) -> None:
        """Takes back the tasks that no worker has begun, and keeps what the others give. Raises
        OSError.
        """
        self._driver.end()

    def texts(self, keys: Sequence[Key]) -> list[str]:
        """Runs that are there, in the order of `keys`. What is in no store is forgotten then.

        Raises StoreError.
        """
        found = {key: self._made.pop(key) for key in keys if key in self._made}
        self._asked -= found.keys() - self._kept.keys()
        if self.store:
            found |= self._read(self.store, [key for key in keys if key not in found])
        return [found[key] for key in keys]

    def _open(self, key: Key) -> bool:
        """Whether a run is still to be made."""
        return not (key in self._made or key in self._kept or key[:2] in self._failed)

    def _keep(self, outcomes: list[Outcome]) -> None:
        outcome = self.keeper.keep(outcomes)
        for table in filter(is_whole, outcome.tables):
            made = {(key, seed, table): text for key, seed, text in texts_of(outcome.tables[table])}
            self._made |= made
            if self.store:
                self._kept |= dict.fromkeys(made, outcome.name)
        for failure in outcome.failures:
            why = f"{failure.reason}\n{failure.where}".rstrip()
            self._failed[failure.configuration, failure.seed] = why

    def _read(self, store: Store, keys: Sequence[Key]) -> dict[Key, str]:
        for _ in range(AGAIN):
            try:
                return read(store, {key: self._kept[key] for key in keys})
            except FileNotFoundError:
                self._kept = places(store)
        raise StoreError(f"{store.folder} is being changed all the time; try again")


def places(store: Store) -> dict[Key, str]:
    """The names of the parts that have the whole runs of this version. Raises StoreError."""
    for _ in range(AGAIN):
        try:
            return {key: name for name in store.names() for key in _of_part(store, name)}
        except FileNotFoundError:
            continue  # parts were merged meanwhile
    raise StoreError(f"{store.folder} is being changed all the time; try again")


def _of_part(store: Store, name: str) -> Iterator[Key]:
    columns = ["configuration", "seed", "version", "tables"]
    rows = read_part(store.parts / name / f"{RUNS}.parquet", columns)
    for key, seed, made_by, kept in zip(*(rows[one].to_pylist() for one in columns), strict=True):
        if made_by == version():
            yield from ((key, seed, table) for table in (kept or "").split(",") if is_whole(table))


def read(store: Store, where: Mapping[Key, str]) -> dict[Key, str]:
    """Whole runs from the parts that have them. Raises StoreError for a part that is broken,
    FileNotFoundError for one that was merged with others.
    """
    wanted: dict[tuple[str, str], set[Key]] = {}
    for key, name in where.items():
        wanted.setdefault((name, key[2]), set()).add(key)
    found: dict[Key, str] = {}
    for (name, table), keys in sorted(wanted.items()):
        runs = {(key, seed, version()) for key, seed, _ in keys}
        rows = read_runs(store.parts / name / f"{table}.parquet", runs)
        found |= {(key, seed, table): text for key, seed, text in texts_of(rows)}
    return found


def texts_of(rows: pyarrow.Table) -> Iterator[tuple[str, int, str]]:
    """Configuration, seed and JSON of each run of a table of whole runs."""
    columns = (rows[name].to_pylist() for name in ("configuration", "seed", "run"))
    return zip(*columns, strict=True)
