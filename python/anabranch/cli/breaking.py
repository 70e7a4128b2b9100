"""`anabranch break`."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from ..breaking.bench import Bench, UnderTest
from ..breaking.finding import FILES, Told, described, outcome_json, sentence, write
from ..breaking.front import TRIALS, hunt, refusal
from ..breaking.goals import GOALS
from ..breaking.hunting import Outcome
from ..breaking.journal import FILE
from ..breaking.kind import judged
from ..breaking.own import goal_of
from ..breaking.ranges import Ranges
from ..files import check_writable, write_json
from ..sources import load
from ..statistics import interval
from . import INTERRUPTED
from .terminal import console, named, progress, table

BROKEN = 1
"""Exit status of a goal that is broken, as of a check that does not hold."""

DIFFER = "every replication has lines that are up to 5 % longer or shorter, user by user"

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
    threads: int


def break_command(controller: str, options: BreakOptions) -> None:
    """Searches for networks on which a controller breaks one goal, or each. Status 1 if there is
    one.
    """
    tested = UnderTest.of(controller)
    chosen = [options.goal] if options.goal else list(GOALS)
    if options.limit is not None and options.goal is None:
        raise ValueError(
            f"--limit is {options.limit:g}; a limit is of one goal, which --goal names"
        )
    if options.json:
        check_writable(options.json)
    share = _share(options, len(chosen))
    done: list[tuple[Bench, Outcome, Path]] = []
    skipped: list[tuple[str, str]] = []
    for name in chosen:
        goal, _ = goal_of(name)
        if options.goal is None and (why := refusal(tested, goal, options.ranges)):
            skipped.append((name, why))
            continue
        folder = folder_of(options.out, tested.label, goal.name, alone=options.goal is not None)
        done.append((*_hunted(controller, name, folder, share), folder))
        _write(*done[-1])
    show(done, skipped)
    if options.json:
        write_json(options.json, [outcome_json(bench, outcome) for bench, outcome, _ in done])
    if any(outcome.finding for _, outcome, _ in done):
        raise typer.Exit(BROKEN)


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
    """The outcome of a search; an interrupt says what was kept."""
    with progress(f"{goal}: searching") as tell:
        try:
            return hunt(
                controller,
                goal,
                limit=options.limit,
                ranges=options.ranges,
                trials=options.trials or TRIALS,
                seed=options.seed,
                threads=options.threads,
                out=folder,
                fresh=options.fresh,
                seconds=options.seconds,
                tell=tell,
            )
        except KeyboardInterrupt:
            pass
    console().print(
        f"interrupted: what was scored is in {folder / FILE}; the same command goes on from there",
        style="bold",
        markup=False,
    )
    raise typer.Exit(INTERRUPTED)


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
    missed = [outcome for _, outcome, _ in done if not outcome.finding]
    if missed:
        trials = missed[0].search.done
        many = f"{trials} trials" if len(missed) == 1 else "the trials stated"
        out.print(
            f"not found in {many}: this is no proof that the goal holds. Searched: "
            f"{missed[0].search.ranges.text()}",
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


def replay_command(
    controller: str, file: Path, options: BreakOptions, seeds: Sequence[int]
) -> None:
    """Scores a scenario by a goal. Status 1 if the goal is broken."""
    if options.goal is None:
        raise ValueError("--replay needs --goal, the goal to score the scenario by")
    goal, _ = goal_of(options.goal)
    bench = Bench(UnderTest.of(controller), goal, options.threads)
    limit = goal.limit if options.limit is None else options.limit
    if len(seeds) < 2:
        raise ValueError(f"--repeat is {len(seeds)}; an interval needs two replications or more")
    scenario = load(file).document()
    with bench.working():
        aspects = goal.score(bench.trial(scenario, seeds))
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
    out = console()
    title = f"{goal.name} of {bench.tested.label}, {len(seeds)} replications"
    out.print(table(title, ["aspect", "score", "limit"], rows))
    if verdict is None:
        out.print("nothing in this scenario can break the goal", highlight=False)
        return
    word = "broken" if verdict.broken else "not broken beyond the interval"
    out.print(f"{word}: {sentence(bench, verdict)}", highlight=False, markup=False)
    out.print(DIFFER, style="dim", highlight=False)
    if options.json:
        content = {"goal": goal.name, "limit": limit, "broken": verdict.broken}
        value = verdict.value.to_json()
        write_json(options.json, content | {"aspect": verdict.aspect, "score": value})
    if verdict.broken:
        raise typer.Exit(BROKEN)
