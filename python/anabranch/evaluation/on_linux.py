"""Cases on the real kernel, beside the simulated ones: in real time, one run after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..controller import outside
from ..linux import LinuxError, fit
from ..linux import run as run_in_real_time
from ..result import Result
from .criterion import Case, Criterion
from .entry import UNMEASURED, Measured
from .evaluating import Evaluation
from .planning import Contender, loaded
from .running import UNANSWERED, Place, Progress, measured, reason

REPLICATIONS = 3
"""Of each run: they take real time."""

Runner = Callable[..., Result]
"""`anabranch.linux.run`, or what stands for it in a test."""


@dataclass(frozen=True)
class Key:
    """A run on the kernel."""

    scenario: str
    overrides: tuple[str, ...]
    controller: str
    """Empty for the scenario's own."""
    series: bool

    @property
    def options(self) -> dict[str, object]:
        """The parameters of the run beside scenario and seeds."""
        return {
            "controller": self.controller or None,
            "overrides": list(self.overrides),
            "series": self.series,
        }

    def refused(self) -> str:
        """Why the kernel cannot run it; empty if it can. Raises ScenarioError."""
        plan = loaded(self.scenario).plan(
            overrides=self.overrides, controller=self.controller or None
        )
        return "; ".join(fit.refusals(plan))

    @property
    def seconds(self) -> float:
        """The time that one replication takes."""
        return loaded(self.scenario).plan(overrides=self.overrides).duration_s


@dataclass
class Kernel:
    """The cases of an evaluation that the real kernel can run."""

    evaluation: Evaluation
    replications: int = REPLICATIONS
    runner: Runner = run_in_real_time
    wanted: dict[Key, None] = field(init=False, default_factory=dict)
    """The runs, in their order."""
    results: dict[Key, Result | str] = field(init=False, default_factory=dict)
    """Results, or reasons why there are none."""

    def __post_init__(self) -> None:
        """Finds the runs, the cases that the kernel refuses, and those that it is not asked for."""
        for criterion, case, contender in self._cases():
            place = (criterion.name, case.name, contender.label)
            if why := not_asked(criterion, case):
                self.evaluation.linux[place] = Measured(why=why)
                continue
            own, beside = keys(case, contender)
            if why := refused([own, *beside.values()], criterion, contender):
                self.evaluation.linux[place] = Measured(why=why)
            else:
                self.wanted |= dict.fromkeys([own, *beside.values()])

    @property
    def seeds(self) -> list[int]:
        """The first seeds of the evaluation."""
        return self.evaluation.seed_list[: self.replications]

    @property
    def seconds(self) -> float:
        """The time that all runs take."""
        return len(self.seeds) * sum(key.seconds for key in self.wanted)

    def run(self, progress: Progress | None = None) -> None:
        """Runs all, and puts what came out beside the rows. After an interrupt the evaluation says
        so, and rows without a run keep their reason; also if it raises an error of the runner.
        """
        evaluation = self.evaluation
        done = 0.0
        try:
            for key in self.wanted:
                what = f"linux: {key.scenario}, {key.controller or 'beside it'}"

                def tell(part: float, of_it: float, what: str = what, done: float = done) -> None:
                    if progress:
                        progress(done + part, self.seconds, what)

                self.results[key] = self._made(key, tell)
                done += len(self.seeds) * key.seconds
        except KeyboardInterrupt:
            evaluation.interrupted = True
        except Exception:
            evaluation.interrupted = True
            raise
        finally:
            for criterion, case, contender in self._cases():
                place: Place = (criterion.name, case.name, contender.label)
                if place not in evaluation.linux:
                    evaluation.linux[place] = self._measured(criterion, case, contender)
            evaluation.judge()

    def _cases(self) -> Iterator[tuple[Criterion, Case, Contender]]:
        """Every case under each controller."""
        for criterion in self.evaluation.criteria:
            for case in criterion.cases:
                for contender in self.evaluation.contenders:
                    yield criterion, case, contender

    def _made(self, key: Key, tell: Callable[[float, float], object]) -> Result | str:
        """A result, or the reason why there is none. Raises KeyboardInterrupt."""
        try:
            result = self.runner(loaded(key.scenario), self.seeds, progress=tell, **key.options)
        except LinuxError as error:
            return " ".join(str(error).split("\nhelp: ")[0].split())  # reasons are on further lines
        except UNANSWERED as error:
            return reason(error)
        if not result.provenance["complete"]:
            raise KeyboardInterrupt
        return result if result.runs else "no replication was valid"

    def _measured(self, criterion: Criterion, case: Case, contender: Contender) -> Measured:
        """The measure of a case, over the seeds that all its runs have."""
        own, beside = keys(case, contender)
        found: dict[Key, Result] = {}
        for key in (own, *beside.values()):
            result = self.results.get(key, UNMEASURED)
            if isinstance(result, str):
                return Measured(why=result)
            found[key] = result
        common = set.intersection(*(set(result.seeds) for result in found.values()))
        if not common:
            return Measured(why="no seed has a valid replication of each run")
        shared = {
            key: replace(result, runs=[run for run in result.runs if run.seed in common])
            for key, result in found.items()
        }
        return measured(
            criterion, case, shared[own], {name: shared[key] for name, key in beside.items()}
        )


def keys(case: Case, contender: Contender) -> tuple[Key, dict[str, Key]]:
    """The run of a case under a controller, and those beside it by their names."""
    overrides = tuple(case.overrides)
    own = Key(case.scenario, overrides, contender.text, case.series)
    beside = {
        name: Key(case.scenario, (*overrides, *more), "", case.series)
        for name, more in case.beside.items()
    }
    return own, beside


def not_asked(criterion: Criterion, case: Case) -> str:
    """Why the kernel is not asked for a case that it may be able to run; empty if it is."""
    asked = criterion.linux
    if asked is True or (asked and case.name in asked):
        return ""
    others = f"only {', '.join(asked)}" if asked else "no case"
    return f"it was not asked: it takes real time, and the criterion names {others} for it"


def refused(wanted: Sequence[Key], criterion: Criterion, contender: Contender) -> str:
    """Why the kernel cannot run a case; empty if it can."""
    if outside(contender.given):
        return "the kernel runs no Python classes"
    if any(case.events for case in criterion.cases):
        return "the kernel has no log of events"
    try:
        return next((why for key in wanted if (why := key.refused())), "")
    except UNANSWERED as error:
        return reason(error)
