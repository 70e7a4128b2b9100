"""Batches runs into tasks, hands them to workers, and passes their outcomes on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from .configuration import Configuration, Task
from .engines import Engine
from .rows import version
from .store import Failure
from .work import Outcome, work

BATCH_S = 1.0
"""Duration of a task: long beside the cost of handing it out."""

TASKS_PER_S = 100
"""Rate of tasks that a Dask scheduler sustains; with many workers, tasks are longer."""

MOST_RUNS = 1000
"""Runs of one task, however short they are."""

AHEAD = 2
"""Tasks for each worker that are handed out before it asks for them."""

LOOK_S = 1.0
"""How long a driver waits for a task to end before it looks whether there are more workers."""

NEWEST = 0.5
"""Weight of the newest task in the estimate of what a run takes."""


class Pending(NamedTuple):
    """A run that is to be made."""

    configuration: Configuration
    seed: int
    tables: tuple[str, ...]


@dataclass
class Driver:
    """Hands out runs in the order of `take`. `keep` gets the outcomes of all tasks that have ended
    since its last call.

    `take` returns None while no run is waiting; it may return more runs later.
    """

    workers: Engine
    keep: Callable[[list[Outcome]], object]
    take: Callable[[], Pending | None] = lambda: None
    run_s: float = math.nan
    """Estimate of the time of a run, from the tasks that have ended."""
    _at_work: dict[Future[Outcome], Task] = field(default_factory=dict)
    _next: Pending | None = None
    """Taken, and not part of a task yet."""
    _timed: set[str] = field(default_factory=set)
    """Configurations of which a run has ended."""
    _apart: deque[Task] = field(default_factory=deque)
    """Single runs of tasks that killed their workers."""

    def drive(self, runs: Iterable[Pending]) -> None:
        """Makes runs. After an interrupt what is at work is kept, and KeyboardInterrupt raised.
        Raises what a worker and `keep` raise.
        """
        self.take = partial(next, iter(runs), None)
        while self.step():
            pass

    def step(self) -> bool:
        """Hands out tasks, waits until one has ended, and keeps that; false if there was none.

        Raises as `drive` does.
        """
        try:
            room = AHEAD * self.workers.workers
            while len(self._at_work) < room and (task := self.task()):
                self._at_work[self.workers.submit(work, task)] = task
            if not self._at_work:
                return False
            ended, _ = wait(self._at_work, LOOK_S, FIRST_COMPLETED)
            self._keep_all(ended)
        except KeyboardInterrupt:
            self.end()
            raise
        return True

    def _keep_all(self, ended: Iterable[Future[Outcome]]) -> None:
        """Keeps what tasks gave, also where one of them raises. Raises what that one raises."""
        found: list[Outcome] = []
        fault: Exception | None = None
        for future in ended:
            task = self._at_work.pop(future)
            try:
                found.append(self.outcome(future, task))
            except Exception as error:
                fault = fault or error
            self._timed |= {one.key for one, _ in task.parts}
        if found:
            self.keep(found)
        if fault:
            raise fault

    def task(self) -> Task | None:
        """The next runs, of about BATCH_S and with the same tables; None after the last one. As
        long as it is unknown what a run takes, each is a task; a task has one run at most of a
        configuration of which none has ended.
        """
        if self._apart:
            return self._apart.popleft()
        batch_s = max(BATCH_S, self.workers.workers / TASKS_PER_S)
        many = 1 if math.isnan(self.run_s) else round(batch_s / max(self.run_s, 1e-9))
        many = min(max(many, 1), MOST_RUNS)
        seeds: dict[str, list[int]] = {}
        of: dict[str, Configuration] = {}
        tables: tuple[str, ...] = ()
        taken = 0
        while taken < many and (run := self._next or self.take()):
            self._next = None
            key = run.configuration.key
            if taken and (run.tables != tables or (key in seeds and key not in self._timed)):
                self._next = run
                break
            tables, taken = run.tables, taken + 1
            of[key] = run.configuration
            seeds.setdefault(key, []).append(run.seed)
        if not taken:
            return None
        parts = tuple((of[key], tuple(own)) for key, own in seeds.items())
        return Task(parts, tables, version())

    def outcome(self, future: Future[Outcome], task: Task) -> Outcome:
        """The outcome of a task. A task that has killed several workers is split into one task for
        each of its runs; a single run that has killed several workers has failed.

        Raises ValueError where the cluster is gone, and what else a worker raises.
        """
        try:
            found = future.result()
        except CancelledError:
            raise ValueError(
                "the scheduler of the cluster is gone; what was made is in the store, and the same "
                "command goes on"
            ) from None
        except Exception as error:
            if type(error).__name__ != "KilledWorker":  # of Dask, which may not be installed
                raise
            if len(task) > 1:
                self._apart += task.apart()
                return Outcome(task.name())
            return lost(task)
        runs = found.runs + len(found.failures)
        if runs:
            took_s = found.took_s / runs
            known = not math.isnan(self.run_s)
            self.run_s = (1 - NEWEST) * self.run_s + NEWEST * took_s if known else took_s
        return found

    def end(self) -> None:
        """After an interrupt: takes back the tasks that no worker has begun, and keeps the others.

        Raises OSError if they cannot be kept.
        """
        for future in self._at_work:
            future.cancel()
        found = []
        for future, task in self._at_work.items():
            with suppress(CancelledError, Exception):
                found.append(self.outcome(future, task))
        self._at_work.clear()
        if found:
            self.keep(found)


def lost(task: Task) -> Outcome:
    """The outcome of a task that killed its workers: all of its runs have failed."""
    reason = "its worker died, again and again: memory may have ended"
    failures = [
        Failure(one.key, seed, task.version, reason, "") for one, own in task.parts for seed in own
    ]
    return Outcome(task.name(), failures=failures)
