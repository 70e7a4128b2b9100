"""Makes the runs of an evaluation and takes their measures; results are dropped at once."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from .._core import ScenarioError
from ..controller import outside
from ..makers import Core, Maker, Wanted
from ..result import Result
from ..theory import TheoryError
from .criterion import Case, Criterion, Found
from .entry import Measured
from .goals import Values
from .planning import Beside, Contender, Setting, Trial, Use, Workload, beside_of, besides

Progress = Callable[[float, float, str], object]
"""Called with the replications done, all of them, and the current run."""

Place = tuple[str, str, str]
"""Names of a criterion, a case and a controller."""

UNANSWERED = (ScenarioError, KeyError, IndexError, TheoryError)
"""Errors of a run or a measure that leave a row without an answer."""


IN_CONTROLLER = "in a controller, at "
"""Begins the note of the simulator on errors that a class of the user raised, or was the reason of."""


def reason(error: Exception) -> str:
    """The first line of an error, for a row."""
    text = str(error.args[0]) if type(error) is KeyError and error.args else str(error)
    return text.splitlines()[0] if text else type(error).__name__


def raised(error: Exception) -> str:
    """Name and first line of an error that the simulator notes to be of a controller; empty for
    another one. An engine of sweeps has texts: "x, seed 1: KeyError: text (in a controller, at".
    """
    if any(one.startswith(IN_CONTROLLER) for one in getattr(error, "__notes__", ())):
        return f"{type(error).__name__}: {reason(error)}"
    told = re.search(rf"seed \d+: (.*?) \({IN_CONTROLLER}", str(error), re.DOTALL)
    return told[1].splitlines()[0] if told else ""


def measured(
    criterion: Criterion, case: Case, result: Result, beside: Mapping[str, Result]
) -> Measured:
    """The measure of a result; the reason where it has none."""
    seeds = tuple(result.seeds)
    digests = digests_of(result)
    try:
        values = taken(criterion, case, result, beside)
    except UNANSWERED as error:
        return Measured(seeds, None, digests, reason(error))
    return Measured(seeds, values, digests)


def digests_of(result: Result) -> tuple[str, ...]:
    """The digests of simulated runs; theory's and the kernel's have none."""
    return tuple(run.digest for run in result.runs if run.has("digest"))


def taken(criterion: Criterion, case: Case, result: Result, beside: Mapping[str, Result]) -> Values:
    """The values of a measure, shape (replications,). Raises what the measure raises, and
    ValueError for another shape, which is a mistake in the criterion.
    """
    values = np.asarray(criterion.measure(Found(case, result, beside)), dtype=float)
    if values.shape != (len(result.runs),):
        raise ValueError(
            f"the measure of {criterion.name} has the shape {values.shape} in the case {case.name!r}; "
            f"it is one value for each of {len(result.runs)} replications"
        )
    return values


@dataclass
class Kept:
    """Runs beside trials: made once, and dropped after the last trial that needs them."""

    of: Beside
    left: int
    """Trials that still need them."""
    there: threading.Event = field(default_factory=threading.Event)
    result: Result | None = None
    failure: Exception | None = None

    def taken(self) -> Result:
        """The result, when it is there. Raises the error that its run had, and KeyboardInterrupt
        if it was interrupted.
        """
        self.there.wait()
        if self.failure:
            raise self.failure
        if self.result is None:
            raise KeyboardInterrupt
        return self.result


@dataclass
class Work:
    """The runs of a plan, on the threads of this process or wherever the maker makes them."""

    workload: Workload
    maker: Maker
    progress: Progress | None = None
    measures: dict[Place, Measured] = field(default_factory=dict)
    """What has been found so far."""
    besides: dict[Setting, Measured] = field(default_factory=dict)
    """Digests of the runs beside trials, or the reason why there are none."""
    _done: dict[tuple[str, tuple[str, ...]], float] = field(default_factory=dict)
    """Replications done by what is run, with its overrides; parts of those that are at work."""
    _left: dict[Setting, int] = field(default_factory=dict)
    """Controllers under which trials are still to be run."""
    _kept: dict[Setting, Kept] = field(default_factory=dict)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Fills `measures`. Raises KeyboardInterrupt after an interrupt, with the finished ones in
        place, and errors that are not of a single row.
        """
        self._left = {trial.setting: len(trial.shared) for trial in self.workload.trials}
        self._kept = {key: Kept(one, one.users) for key, one in self.workload.beside.items()}
        self.maker.announce(self.workload.wanted())
        tasks = list(self._tasks())
        maker, workers = self._shared(len(tasks))
        if workers == 1:
            for task in tasks:
                task(maker)
            return
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(task, maker) for task in tasks]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self._stopped.set()
                for future in futures:
                    future.cancel()
                raise

    def _shared(self, tasks: int) -> tuple[Maker, int]:
        """The maker for each task, and how many tasks run at the same time.

        The core's threads work on the seeds of one result and wait for the last of them, so each
        task has one thread, and there are as many tasks as processors. An engine has its own
        workers.
        """
        if not isinstance(self.maker, Core):
            return self.maker, 1
        cores = self.maker.threads or os.cpu_count() or 1
        workers = max(1, min(cores, tasks))
        return Core(max(1, cores // workers)), workers

    def _tasks(self) -> Iterator[Callable[[Maker], None]]:
        """The tasks in order. The runs beside a trial come before it: no task waits for one that
        has not begun.
        """
        begun: set[Setting] = set()
        for trial in self.workload.trials:
            for setting in besides(trial):
                if setting not in begun:
                    begun.add(setting)
                    yield partial(self._make_beside, trial, self._kept[setting])
            for contenders in trial.shared:
                yield partial(self._try, trial, contenders)

    def _make_beside(self, trial: Trial, kept: Kept, maker: Maker) -> None:
        """Makes runs that do not depend on a controller."""
        try:
            what = f"{trial.name}: {kept.of.name}, beside it"
            kept.result = self._made(what, kept.of.wanted(), None, maker)
            self.besides[kept.of.setting] = Measured(
                tuple(kept.result.seeds), digests=digests_of(kept.result)
            )
        except UNANSWERED as error:
            kept.failure = error
            self.besides[kept.of.setting] = Measured(why=reason(error))
        finally:
            kept.there.set()

    def _try(self, trial: Trial, contenders: Sequence[Contender], maker: Maker) -> None:
        """Makes the runs that contenders share, and takes the measures of all cases that use
        them.
        """
        first, *_ = contenders
        uses = [(one, use) for one in contenders for use in trial.uses if one.label in use.labels]
        what = f"{trial.name}: {', '.join(one.label for one in contenders)}"
        made = self._run(what, trial, first, maker)
        if isinstance(made, Measured):
            found = [made] * len(uses)
        else:
            under = {one.label: _under(one, made, trial) for one in contenders}
            found = [self._measure(use, under[one.label]) for one, use in uses]
        with self._lock:
            for (contender, use), one in zip(uses, found, strict=True):
                self.measures[use.criterion.name, use.case.name, contender.label] = one
            self._left[trial.setting] -= 1
            if not self._left[trial.setting]:
                self._drop(trial)

    def _run(
        self, what: str, trial: Trial, contender: Contender, maker: Maker
    ) -> Result | Measured:
        """The runs under a contender, or the reason why there are none. A class of the user may
        fail in one network alone; the others have their verdicts.
        """
        try:
            return self._made(what, trial.wanted(contender), contender, maker)
        except Exception as error:
            if outside(contender.given) and (what := raised(error)):
                why = f"{contender.label} raised {what}"
                return Measured(trial.setting.seeds, why=why, raised=True)
            if isinstance(error, UNANSWERED):
                return Measured(why=reason(error))
            raise

    def _measure(self, use: Use, result: Result) -> Measured:
        """The measure of a case."""
        try:
            more = {
                name: self._kept[setting].taken()
                for name, setting in beside_of(use.case, tuple(result.seeds)).items()
            }
        except UNANSWERED as error:
            return Measured(tuple(result.seeds), why=f"beside it: {reason(error)}")
        return measured(use.criterion, use.case, result, more)

    def _drop(self, trial: Trial) -> None:
        """Drops the runs beside a trial that no other one needs."""
        for setting in besides(trial):
            kept = self._kept[setting]
            kept.left -= 1
            if not kept.left:
                kept.result = None

    def _made(self, what: str, wanted: Wanted, contender: Contender | None, maker: Maker) -> Result:
        """A result. Raises KeyboardInterrupt if any replication is left out."""
        count = len(wanted.seeds)

        def tell(part: float, of_it: float) -> None:
            if self._stopped.is_set():
                raise KeyboardInterrupt
            with self._lock:
                self._done[what, wanted.overrides] = count * part / of_it
                if self.progress:
                    self.progress(sum(self._done.values()), self.workload.runs, what)

        tell(0, 1)
        result = maker.run(
            wanted.scenario,
            wanted.seeds,
            controller=contender.given if contender else None,
            overrides=wanted.overrides,
            series=wanted.series,
            events=wanted.events,
            progress=tell,
        )
        if not result.provenance["complete"]:
            raise KeyboardInterrupt
        tell(1, 1)
        return result


def _under(contender: Contender, result: Result, trial: Trial) -> Result:
    """A result as that of another contender with the same runs."""
    if result.provenance["controller"] == contender.text or outside(contender.given):
        return result
    plan = result.scenario.plan(overrides=trial.setting.overrides, controller=contender.text)
    return replace(result, plan=plan, provenance=result.provenance | {"controller": contender.text})
