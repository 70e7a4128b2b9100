"""`anabranch break`."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from ..breaking.bench import Bench, UnderTest
from ..breaking.finding import (
    FILES,
    FORMAT,
    REPLAYED,
    SCENARIO,
    Told,
    described,
    outcome_json,
    sentence,
    write,
    write_provisional,
)
from ..breaking.front import TRIALS, hunt, refusal
from ..breaking.goals import GOALS
from ..breaking.hunting import Interrupted, Outcome
from ..breaking.journal import FILE
from ..breaking.kind import judged
from ..breaking.on_linux import REPLICATIONS, Kernel, check_goal, check_trial
from ..breaking.own import goal_of
from ..breaking.ranges import Ranges
from ..breaking.shrinking import Step
from ..breaking.trial import Trial
from ..breaking.variants import Document, is_line
from ..breaking.worlds import world_of
from ..files import check_writable, write_json
from ..offers import chosen
from ..sources import load
from ..statistics import interval
from ..telling import length
from . import INTERRUPTED, message
from .compare import LINUX, SIMULATION
from .keeping import show_and_write
from .machine import check_machine
from .making import Making
from .options import seeds_from
from .tables import Table
from .terminal import console, named, progress, table

WORLDS = (SIMULATION, LINUX)

BROKEN = 1
"""Exit status of a goal that is broken, as of a check that does not hold."""

WRONG = 2
"""Exit status where a goal could not be tried, and no other is broken."""

DIFFER = (
    "{lines} of the scenario {are} up to 5 % longer or shorter in every replication, user by user"
)

NO_VALUE = "no verdict: replications have no value of what the goal compares"

ALIKE = (
    "note: the scenario has no lines (links with per_user = true and without a rate), so that all "
    "replications have equal delays, and phases of round trips may decide the score"
)

TRIALS_OF_ALL = 200
"""Networks that each goal gets when all are tried."""


@dataclass(frozen=True)
class BreakOptions:
    """The options of a search."""

    goal: str | None
    limit: float | None
    ranges: Ranges
    trials: int | None
    seconds: float | None
    seed: int
    out: Path | None
    fresh: bool
    json: Path | None
    making: Making = field(default_factory=Making)
    world: str = SIMULATION
    """Where a replay runs."""
    repeat: int | None = None
    """Replications of a replay; None is the usual number."""

    @property
    def linux(self) -> bool:
        """Whether a replay runs on the real kernel. Raises UnknownName."""
        return chosen("--world", self.world, WORLDS) == LINUX


def break_command(controller: str, options: BreakOptions) -> None:
    """Searches for networks on which a controller breaks one goal, or each. Status 1 if there is
    one.
    """
    if options.linux:
        raise ValueError(f"--world is {options.world}; a search simulates, and --replay runs there")
    if options.repeat is not None:
        raise ValueError(f"--repeat is {options.repeat}; it is of --replay, which is not given")
    tested = UnderTest.of(controller)
    names = [options.goal] if options.goal else list(GOALS)
    if options.limit is not None and options.goal is None:
        raise ValueError(
            f"--limit is {options.limit:g}; a limit is of one goal, which --goal names"
        )
    if options.json:
        check_writable(options.json)
    share = _share(options, len(names))
    done: list[tuple[Bench, Outcome, Path]] = []
    skipped: list[tuple[str, str]] = []
    failed: list[str] = []
    interrupted = False
    for name in names:
        goal, _ = goal_of(name)
        if options.goal is None and (why := refusal(tested, goal, options.ranges)):
            skipped.append((name, why))
            continue
        folder = folder_of(options.out, tested.label, goal.name, alone=options.goal is not None)
        try:
            hunted = (*_hunted(controller, name, folder, share), folder)
            _write(*hunted)
        except KeyboardInterrupt:
            interrupted = True
            break
        except (ValueError, OSError) as error:
            if options.goal is not None:
                raise
            failed.append(f"{name}: {message(error)}")
            continue
        done.append(hunted)
    content = [outcome_json(bench, outcome) for bench, outcome, _ in done]
    show_and_write(
        lambda: show(done, skipped) if done or skipped else None,
        (options.json, lambda to: write_json(to, content)),
    )
    for text in failed:
        print(f"error: {text}", file=sys.stderr)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(outcome.finding for _, outcome, _ in done):
        raise typer.Exit(BROKEN)
    if failed:
        raise typer.Exit(WRONG)


def _share(options: BreakOptions, goals: int) -> BreakOptions:
    """The options for each of so many goals: a share of the trials and of the time."""
    if goals == 1:
        return replace(options, trials=options.trials or TRIALS)
    trials = TRIALS_OF_ALL if options.trials is None else math.ceil(options.trials / goals)
    seconds = None if options.seconds is None else options.seconds / goals
    return replace(options, trials=trials, seconds=seconds)


def _hunted(
    controller: str, goal: str, folder: Path, options: BreakOptions
) -> tuple[Bench, Outcome]:
    """The outcome of a search. Raises KeyboardInterrupt after it said what an interrupt kept, and
    ValueError without the optimiser.
    """
    if options.fresh:
        _remove(folder)
    kept: Step | None = None
    with options.making.maker() as maker, progress(f"{goal}: searching") as tell:
        try:
            return hunt(
                controller,
                goal,
                limit=options.limit,
                ranges=options.ranges,
                trials=options.trials or TRIALS,
                seed=options.seed,
                maker=maker,
                out=folder,
                fresh=options.fresh,
                seconds=options.seconds,
                tell=tell,
            )
        except ModuleNotFoundError as error:
            raise ValueError(str(error)) from error
        except Interrupted as interrupt:
            if kept := interrupt.outcome.provisional:
                write_provisional(interrupt.bench, interrupt.outcome, kept, folder)
        except KeyboardInterrupt:
            pass
    console().print(
        f"interrupted: what was scored is in {folder / FILE}; the same command goes on from there",
        style="bold",
        markup=False,
    )
    if kept:
        console().print(
            f"the smallest network so far, which is not confirmed, is in {folder / SCENARIO}",
            markup=False,
        )
    raise KeyboardInterrupt


def folder_of(out: Path | None, label: str, goal: str, *, alone: bool) -> Path:
    """Where a search writes: `out` for a single goal, else a folder in it for each."""
    safe = "".join(letter if letter.isalnum() or letter in "-._" else "-" for letter in label)
    if out is None:
        return Path("out") / "break" / f"{safe}-{goal}"
    return out if alone else out / goal


def _write(bench: Bench, outcome: Outcome, folder: Path) -> None:
    """Writes the finding, or removes that of another search which was there."""
    if outcome.finding:
        write(Told(bench, outcome, outcome.finding), folder)
        return
    _remove(folder)


def _remove(folder: Path) -> None:
    """Removes a finding."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def show(done: Sequence[tuple[Bench, Outcome, Path]], skipped: Sequence[tuple[str, str]]) -> None:
    """A row for each goal; below it the findings, with the commands that repeat them."""
    rows = []
    for bench, outcome, _ in done:
        goal, search, found = bench.goal, outcome.search, outcome.finding
        best = goal.shown(search.best + search.limit) if search.best_network else "–"
        rows.append(
            [
                goal.name,
                "[red]broken[/]" if found else "not found",
                goal.shown_interval(found.judged.value) if found else "–",
                goal.shown(search.limit),
                described(found.network) if found else "–",
                str(search.done),
                "–" if found else best,
            ]
        )
    rows += [[name, "not applicable", *["–"] * 5] for name, _ in skipped]
    label = done[0][0].tested.label if done else ""
    head = ["goal", "verdict", "score", "limit", "network", "trials", "best of search"]
    out = console()
    out.print(table(f"What breaks {named(label)}", head, rows, left=2))
    for bench, outcome, folder in done:
        if outcome.finding:
            _show_finding(Told(bench, outcome, outcome.finding), folder)
    for bench, outcome, _ in done:
        if not outcome.finding:
            out.print(
                f"{bench.goal.name}: not found in {outcome.search.done} trials: this is no proof that the goal holds. "
                f"Searched: {outcome.search.ranges.text()}",
                style="dim",
                highlight=False,
                markup=False,
            )
    for name, why in skipped:
        out.print(f"{name}: {why}", style="dim", highlight=False, markup=False)


def _show_finding(told: Told, folder: Path) -> None:
    out = console()
    out.print(told.sentence(), highlight=False, markup=False)
    for words in (told.replay(folder), told.plain(folder)):
        out.print(f"  {shlex.join(words)}", style="dim", highlight=False, markup=False)


def _lines(scenario: Document) -> str:
    """How replications differ."""
    lines = sum(map(is_line, scenario["link"]))
    if not lines:
        return ALIKE
    many = lines != 1
    return DIFFER.format(lines=f"{lines} line{'s' * many}", are="are" if many else "is")


def replay_command(controller: str, file: Path, options: BreakOptions) -> None:
    """Scores a scenario by a goal. Status 1 if the goal is broken."""
    if options.goal is None:
        raise ValueError("--replay needs --goal, the goal to score the scenario by")
    goal, _ = goal_of(options.goal)
    bench = Bench(UnderTest.of(controller), goal)
    limit = goal.limit if options.limit is None else options.limit
    scenario = load(file).document()
    trial = _replayed(bench, scenario, options)
    seeds, aspects = trial.seeds, goal(trial)
    verdict = judged(aspects, limit)
    rows = [
        [
            named(name),
            goal.shown_interval(interval(part.values)),
            goal.shown(limit if part.limit is None else part.limit),
        ]
        for name, parts in aspects.items()
        for part in parts
    ]
    content = {
        "format": FORMAT,
        "kind": "anabranch break --replay",
        "controller": bench.tested.label,
        "scenario": str(file),
        "goal": goal.given,
        "limit": limit,
        "world": LINUX if options.linux else SIMULATION,
        "seeds": list(seeds),
        "broken": bool(verdict and verdict.broken),
        "aspect": verdict.aspect if verdict else None,
        "score": verdict.value.to_json() if verdict else None,
    }
    where = " on the real kernel" if options.linux else ""
    title = f"{goal.name} of {bench.tested.label}, {len(seeds)} replications{where}"
    shown = table(title, ["aspect", "score", "limit"], rows)
    said = NO_VALUE if aspects else "nothing in this scenario can break the goal"
    if verdict:
        word = "broken" if verdict.broken else "not broken beyond the interval"
        said = f"{word}: {sentence(bench, verdict)}"
    show_and_write(
        lambda: _show_score(shown, said, _lines(scenario)),
        (options.json, lambda to: write_json(to, content)),
    )
    if verdict and verdict.broken:
        raise typer.Exit(BROKEN)


def _replayed(bench: Bench, scenario: Document, options: BreakOptions) -> Trial:
    """The runs of a scenario and of its twins, in the world that is asked for."""
    usual = REPLICATIONS if options.linux else REPLAYED
    seeds = seeds_from(options.seed, options.repeat or usual)
    if not options.linux:
        with options.making.maker() as maker:
            bench.world = world_of(maker)
            with bench.working():
                return bench.trial(scenario, seeds)
    if options.making != Making():
        raise ValueError("--on, --store and --threads are of simulations, and --world is linux")
    check_goal(bench.goal)
    check_machine(command="break", asked="--world linux")
    seconds = bench.run_time_s(scenario, len(seeds))
    console().print(f"linux runs in real time: about {length(seconds)}", highlight=False)
    with progress("preparing") as tell:
        bench.world = Kernel(tell, seconds)
        with bench.working():
            trial = bench.trial(scenario, seeds)
    check_trial(trial, len(seeds))
    return trial


def _show_score(scores: Table, said: str, lines: str) -> None:
    out = console()
    out.print(scores)
    out.print(said, highlight=False, markup=False)
    out.print(lines, style="dim", highlight=False, markup=False)
