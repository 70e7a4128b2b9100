"""A finding as people and programs read it: a sentence, a scenario file, pictures, JSON."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _core
from ..controller import given_name
from ..files import atomic_write, write_json
from ..plot import save, shares, topology
from ..report import Figure as Picture
from ..report import Report, Section, Table
from ..report import write as write_report
from ..result import Result, run
from ..scenario import Scenario
from .bench import Bench
from .hunting import Finding, Outcome
from .kind import Judged
from .network import SAME, Network
from .rendering import document
from .shrinking import Step
from .variants import Document

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCENARIO, PAGE, JSON = "found.toml", "found.html", "found.json"

NETWORK, RATES = "network.png", "rates.png"

FILES = (SCENARIO, PAGE, JSON, NETWORK, RATES)
"""What a finding is written to."""

FORMAT = 1
"""Version of the JSON."""

REPLAYED = 20
"""Replications of a replay, unless a command says how many."""

DRAWN = 10
"""Replications of the scenario, as it is, that the pictures show."""


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def described(network: Network) -> str:
    """A network in a few words, such as "2 links, 3 users, short transfers"."""
    users = sum(user.count for user in network.users if not user.transfers)
    short = ", short transfers" if any(user.transfers for user in network.users) else ""
    return f"{_many(len(network.links), 'link')}, {_many(users, 'user')}{short}"


@dataclass(frozen=True)
class Told:
    """A confirmed finding in words."""

    bench: Bench
    outcome: Outcome
    finding: Finding

    @property
    def controller(self) -> str:
        """The name of the controller."""
        return self.bench.tested.label

    @property
    def given(self) -> str:
        """Text for the command line that selects the controller again."""
        return given_name(self.bench.tested.given)

    def sentence(self) -> str:
        """The finding in one sentence, with its interval."""
        text = sentence(self.bench, self.finding.judged)
        begins = self.bench.goal.told.startswith("{controller}")
        return (text if begins else text[0].upper() + text[1:]) + "."

    def title(self) -> str:
        """The finding and its network in one line."""
        return f"{self.sentence()[:-1]} ({described(self.finding.network)})"

    def source(self) -> str:
        """How it was found."""
        search = self.outcome.search
        words = ["anabranch", "break", self.given, "--goal", self.bench.goal.given]
        words += ["--limit", f"{search.limit:g}", "--seed", str(search.seed)]
        words += ["--trials", str(search.done)]
        words += search.ranges.options()
        return (
            f"found by `{shlex.join(words)}` in trial {self.finding.trial}, shrunk in "
            f"{_many(self.finding.steps, 'step')}"
        )

    def scenario(self) -> Document:
        """The scenario of the finding, as nested data."""
        name = self.bench.goal.name
        text = self.bench.tested.text
        return document(
            self.finding.network, text, name=name, title=self.title(), source=self.source()
        )

    def replay(self, folder: Path) -> list[str]:
        """The words of the command that scores it again on other seeds."""
        words = ["anabranch", "break", self.given, "--replay", str(folder / SCENARIO)]
        words += ["--goal", self.bench.goal.given]
        if self.finding.judged.value.n != REPLAYED:
            words += ["--repeat", str(self.finding.judged.value.n)]
        if self.outcome.search.limit != self.bench.goal.limit:
            words += ["--limit", f"{self.outcome.search.limit:g}"]
        return words

    def plain(self, folder: Path) -> list[str]:
        """The words of the command that runs the scenario as it is."""
        return ["anabranch", "run", str(folder / SCENARIO), "-c", self.given, "--repeat", "10"]

    def to_json(self, folder: Path) -> dict[str, Any]:
        """All of it as plain data."""
        finding = self.finding
        return {
            **outcome_json(self.bench, self.outcome),
            "sentence": self.sentence(),
            "network": finding.network.to_json(),
            "score": _judged_json(finding.judged),
            "longer": _judged_json(finding.longer) if finding.longer else None,
            "trial": finding.trial,
            "drawn": finding.start.to_json(),
            "steps": finding.steps,
            "refuted": finding.refuted,
            "replay": shlex.join(self.replay(folder)),
        }


def sentence(bench: Bench, verdict: Judged) -> str:
    """A verdict in the words of its goal."""
    goal = bench.goal
    return goal.told.format(
        controller=bench.tested.label,
        aspect=verdict.aspect,
        value=goal.shown_interval(verdict.value),
    )


def outcome_json(bench: Bench, outcome: Outcome) -> dict[str, Any]:
    """What was searched and how far, as plain data."""
    search, goal = outcome.search, bench.goal
    return {
        "format": FORMAT,
        "kind": "anabranch break",
        "anabranch": _core.__version__,
        "controller": bench.tested.label,
        "goal": goal.name,
        "meaning": goal.meaning,
        "limit": search.limit,
        "why": goal.why,
        "found": outcome.finding is not None,
        "trials": search.done,
        "refused": search.refused,
        "best": search.best + search.limit if search.best_network else None,
        "seed": search.seed,
        "ranges": search.ranges.text(),
    }


def _judged_json(verdict: Judged) -> dict[str, Any]:
    value = verdict.value.to_json()
    return {
        "aspect": verdict.aspect,
        "mean": value["mean"],
        "interval": value["interval95"],
        "confidence": verdict.value.confidence,
        "replications": value["repetitions"],
    }


def write_provisional(bench: Bench, outcome: Outcome, step: Step, folder: Path) -> None:
    """Writes the scenario of a network that fresh seeds have not confirmed, and says so in it.

    Raises OSError.
    """
    made = document(
        step.network,
        bench.tested.text,
        name=bench.goal.name,
        title=f"Not confirmed: {sentence(bench, step.judged)} ({described(step.network)})",
        source=f"an interrupted search for {bench.goal.given}, seed {outcome.search.seed}",
    )
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    atomic_write(folder / SCENARIO, Scenario.written(made).text)


def write(told: Told, folder: Path) -> list[Path]:
    """Writes the scenario, the page, the JSON and the pictures; the files that were written.

    Raises OSError.
    """
    scenario = Scenario.written(told.scenario())
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write(folder / SCENARIO, scenario.text)
    write_json(folder / JSON, told.to_json(folder))
    network, rates = figures(told, scenario)
    save(network, folder / NETWORK)
    save(rates, folder / RATES)
    _page(told, (network, rates), folder)
    return [folder / name for name in FILES]


def results(told: Told, scenario: Scenario) -> dict[str, Result]:
    """The scenario as it is under the controller, and the twin that the score compares with."""
    tested, goal = told.bench.tested, told.bench.goal
    own = None if tested.text else tested.given
    found = {tested.label: run(scenario, DRAWN, controller=own)}
    twins = dict(goal.twins_of(scenario.document()))
    aspect = told.finding.judged.aspect
    name = aspect if aspect in twins else next(iter(twins), None)
    if name is not None:
        twin = Scenario.written(twins[name])
        peers = any(user.controller == SAME for user in told.finding.network.others)
        found[name] = run(twin, DRAWN, controller=own if peers else None)
    return found


def figures(told: Told, scenario: Scenario) -> tuple[Figure, Figure]:
    """The network with its flows, and who gets what under the controller and its twin."""
    made = results(told, scenario)
    network = topology(next(iter(made.values())))
    names = [name if len(name) < 30 else "twin" for name in made]
    return network, shares(list(made.values()), names=names, groups="in the subject's place")


def _page(told: Told, drawn: tuple[Figure, Figure], folder: Path) -> None:
    """The page of the finding."""
    network, rates = drawn
    finding, goal, search = told.finding, told.bench.goal, told.outcome.search
    rows = [
        ["score on fresh seeds that decided nothing", goal.shown_interval(finding.judged.value)],
        ["limit", goal.shown(search.limit)],
        ["replications", str(finding.judged.value.n)],
        ["in a longer run", goal.shown_interval(finding.longer.value) if finding.longer else "–"],
        ["trials of the search", str(search.done)],
        ["found in trial", str(finding.trial)],
        ["steps of the shrinking", str(finding.steps)],
        ["smaller networks that fresh seeds did not confirm", str(finding.refuted)],
    ]
    text = f"{goal.meaning}\n\nThe limit: {goal.why}\n\nSearched: {search.ranges.text()}."
    pictures = [
        Picture("Links, users and their rates, as the scenario has them", network),
        Picture("Who gets what", rates),
    ]
    section = Section(
        "What breaks", text, [Table("The finding", ["", ""], rows)], pictures, told.replay(folder)
    )
    title = f"{told.controller}: {goal.name}"
    provenance = {"version": _core.__version__, "seed": str(search.seed)}
    write_report(Report(title, told.sentence(), [section], provenance), folder / PAGE)
