"""Plans an evaluation: which runs it needs, each of them once, however many criteria use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

from .. import _core
from ..controller import ControllerLike, given_name, label, outside
from ..makers import Wanted
from ..offers import UnknownName, lookup, offering
from ..scenario import Scenario, load
from .criterion import Case, Criterion, Level
from .requirements import requirements

REFERENCES = ("reno", "cubic", "lia", "olia", "balia")
"""Controllers whose values stand beside every row."""

RENO = "reno"
"""What a law is with one path."""
OWN_SLOW_START = re.compile(r"\+[\w-]+$|\bslow_start\b")
"""Of the text of a law, where it has another slow start than Reno's; finds some too many."""


@dataclass(frozen=True)
class Contender:
    """A controller that is run: under evaluation, or to compare with."""

    label: str
    """Its name in results."""
    given: ControllerLike
    text: str
    """Selects it again on the command line."""

    @property
    def is_reno_alone(self) -> bool:
        """Whether its runs are those of Reno where it has one path: a law is asked for growth and
        backoff only if there are several (`consults_law` of the shell in `crates/control`). A law
        with another slow start is not Reno.
        """
        if outside(self.given):
            return False
        named = _core.controller(self.text)
        texts = (self.text.strip(), named["source"].strip())
        other = any(OWN_SLOW_START.search(text) for text in texts)
        return named["law"] and not named["port"] and not other


@dataclass(frozen=True)
class Setting:
    """A scenario with overrides and seeds."""

    scenario: str
    overrides: tuple[str, ...]
    seeds: tuple[int, ...]

    def wanted(self, controller: str | None, *, series: bool, events: bool) -> Wanted:
        """The runs under a controller; None leaves those of the scenario."""
        scenario = loaded(self.scenario)
        return Wanted(scenario, self.seeds, controller, self.overrides, series, events)


@dataclass(frozen=True)
class Use:
    """A case that takes its measure from the runs of a trial."""

    criterion: Criterion
    case: Case
    labels: frozenset[str]
    """The controllers that it is measured under."""


@dataclass
class Trial:
    """Runs of one setting: those beside it, and one under each controller."""

    setting: Setting
    uses: list[Use] = field(default_factory=list)
    contenders: dict[str, Contender] = field(default_factory=dict)
    series: bool = False
    events: bool = False
    beside: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Overrides of the runs without a controller, with the name of each."""

    @property
    def name(self) -> str:
        """In a few words, for progress."""
        first = self.uses[0]
        return f"{first.criterion.name}, {first.case.name}".removesuffix(", ")

    @cached_property
    def shared(self) -> list[list[Contender]]:
        """The contenders by what is run: those of a group have the same runs, and the first of them
        makes these.
        """
        setting = self.setting
        groups: dict[str, list[Contender]] = {}
        for one in self.contenders.values():
            key = RENO if is_reno(setting.scenario, setting.overrides, one) else one.label
            groups.setdefault(key, []).append(one)
        # As Reno, whatever is evaluated: a store has the runs for every other law.
        return [sorted(group, key=lambda one: one.label != RENO) for group in groups.values()]

    def wanted(self, contender: Contender) -> Wanted:
        """The runs under a controller."""
        return self.setting.wanted(contender.text, series=self.series, events=self.events)


@dataclass
class Beside:
    """Runs that do not depend on the controller, and may serve several trials."""

    setting: Setting
    name: str
    series: bool = False
    events: bool = False
    users: int = 0
    """Trials that need them."""

    def wanted(self) -> Wanted:
        """The runs."""
        return self.setting.wanted(None, series=self.series, events=self.events)


@dataclass(frozen=True)
class Workload:
    """All runs of an evaluation."""

    trials: Sequence[Trial]
    beside: Mapping[Setting, Beside]

    def wanted(self) -> Iterator[Wanted]:
        """The runs in the order in which they are asked for."""
        said: set[Setting] = set()
        for trial in self.trials:
            for setting in besides(trial):
                if setting not in said:
                    said.add(setting)
                    yield self.beside[setting].wanted()
            for first, *_ in trial.shared:
                yield trial.wanted(first)

    @property
    def runs(self) -> int:
        """How many replications there are."""
        trials = sum(len(one.shared) * len(one.setting.seeds) for one in self.trials)
        return trials + sum(len(one.setting.seeds) for one in self.beside.values())


@cache
def loaded(name: str) -> Scenario:
    """A shipped scenario; it is read once."""
    return load(name)


@cache
def one_path(scenario: str, overrides: tuple[str, ...]) -> bool:
    """Whether the subjects of a setting have one path each."""
    plan = loaded(scenario).plan(overrides=overrides)
    subjects = [len(one.paths) for one in plan.classes if one.subject]
    return bool(subjects) and max(subjects) == 1


def is_reno(scenario: str, overrides: tuple[str, ...], contender: Contender) -> bool:
    """Whether the runs of a contender in a setting are those of Reno."""
    return one_path(scenario, overrides) and contender.is_reno_alone


def besides(trial: Trial) -> list[Setting]:
    """The settings of the runs beside a trial."""
    own = trial.setting
    return [Setting(own.scenario, (*own.overrides, *more), own.seeds) for more in trial.beside]


def beside_of(case: Case, seeds: tuple[int, ...]) -> dict[str, Setting]:
    """The settings of the runs beside a case, by their names."""
    return {
        name: Setting(case.scenario, (*case.overrides, *more), seeds)
        for name, more in case.beside.items()
    }


def workload(
    criteria: Iterable[Criterion],
    contenders: Iterable[Contender],
    seeds: Sequence[int],
) -> Workload:
    """The runs of criteria under controllers, and under those that stand beside them."""
    evaluated = list(contenders)
    trials: dict[Setting, Trial] = {}
    for criterion in criteria:
        for case in criterion.cases:
            setting = Setting(case.scenario, tuple(case.overrides), seeds_of(case, seeds))
            trial = trials.setdefault(setting, Trial(setting))
            wanted = {one.label: one for one in (*beside_rows(criterion, evaluated), *evaluated)}
            trial.uses.append(Use(criterion, case, frozenset(wanted)))
            trial.contenders |= wanted
            trial.series |= case.series
            trial.events |= case.events
            trial.beside |= {tuple(more): name for name, more in case.beside.items()}
    beside: dict[Setting, Beside] = {}
    for trial in trials.values():
        for setting, name in zip(besides(trial), trial.beside.values(), strict=True):
            one = beside.setdefault(setting, Beside(setting, name))
            one.series |= trial.series
            one.events |= trial.events
            one.users += 1
    return Workload(list(trials.values()), beside)


def seeds_of(case: Case, seeds: Sequence[int]) -> tuple[int, ...]:
    """The seeds of a case: expensive ones have fewer."""
    return tuple(seeds[: case.seeds])


def beside_rows(criterion: Criterion, evaluated: Iterable[Contender]) -> list[Contender]:
    """The controllers that stand beside a criterion's rows and are not under evaluation."""
    own = {one.label for one in evaluated}
    names = dict.fromkeys((*REFERENCES, *criterion.goal.needs))
    return [Contender(name, name, name) for name in names if name not in own]


def contenders(controllers: Iterable[ControllerLike]) -> list[Contender]:
    """Controllers under evaluation. Raises ScenarioError for an unknown one, and for two that have
    one name in results; ValueError if there are none.
    """
    found: dict[str, Contender] = {}
    for given in controllers:
        one = Contender(label(given), given, given_name(given))
        if found.setdefault(one.label, one).text != one.text:
            raise _core.ScenarioError(
                f"two controllers are called {one.label}: {found[one.label].text}, {one.text}"
            )
    if not found:
        raise ValueError("there is no controller to evaluate; name one, such as lia")
    return list(found.values())


def check_labels(contenders: Iterable[Contender], criteria: Iterable[Criterion]) -> None:
    """Raises ScenarioError for a controller that is called as one that stands beside it, and is
    another: measures are kept by these names.
    """
    needs = [name for one in criteria for name in one.goal.needs]
    for one in contenders:
        if one.label in (*REFERENCES, *needs) and one.text != given_name(one.label):
            raise _core.ScenarioError(
                f"a controller under evaluation is called {one.label}, as one that it is compared with: "
                f"{one.text}\nhelp: give it a name of its own, such as `law my-{one.label}`"
            )


def selected(
    criteria: Mapping[str, Criterion], only: Sequence[str], level: Level | None = None
) -> list[Criterion]:
    """The criteria that `only` names, by name or by section with all below it, in their order; all
    if it names none. With a level those of them that have it.

    Raises UnknownName for a word that is neither, ValueError if none has the level.
    """
    chosen = set().union(*(named(criteria, word) for word in only)) if only else set(criteria)
    found = [one for name, one in criteria.items() if name in chosen]
    if level is None:
        return found
    of_level = [one for one in found if one.level == level]
    if not of_level:
        raise ValueError(
            f"none of the criteria {', '.join(one.name for one in found)} has level {level}; leave --quick out"
        )
    return of_level


def with_recordings(criteria: Sequence[Criterion], files: Sequence[str]) -> list[Criterion]:
    """The criteria with a further case for each recording in those that have a use for one.

    Raises ValueError if none has, and for two files of one name.
    """
    if not files:
        return list(criteria)
    if not any(one.recording for one in criteria):
        raise ValueError("no chosen criterion uses a recording; cellular and cellular-delay do")
    names = [Path(file).name for file in files]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(
            f"two recordings are called {twice[0]}; cases go by the names of the files"
        )
    return [
        replace(one, cases=(*one.cases, *map(one.recording, files))) if one.recording else one
        for one in criteria
    ]


def named(criteria: Mapping[str, Criterion], text: str) -> set[str]:
    """Names of the criteria that a word of `only` selects. Raises UnknownName."""
    word = text.strip().removeprefix("§").strip().rstrip(".")
    sections = dict.fromkeys(one.section for one in criteria.values())
    if not word:
        raise UnknownName(
            f"--only is {text!r}; it is a criterion such as {next(iter(criteria))}, or a section of RFC 9743 such as "
            f"{next(iter(sections))}"
        )
    below = {
        name
        for name, one in criteria.items()
        if one.section == word or one.section.startswith(f"{word}.")
    }
    if below:
        return below
    if not word[:1].isdigit():
        return {lookup("criterion", word, criteria, "the criteria are")}
    fault = f"no criterion is of section {word!r}"
    if reasons := requirements().unanswered(word):
        raise UnknownName(f"{fault}: {'; '.join(reasons)}")
    raise UnknownName(offering(fault, word, sections, "the sections are"))
