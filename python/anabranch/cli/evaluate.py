"""`anabranch evaluate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..evaluation.card import LEVELS, counts_text, missed_musts
from ..evaluation.comparing import Compared, Comparison, compared
from ..evaluation.criterion import Level
from ..evaluation.dossier import check_pages, pages, write_dossiers
from ..evaluation.entry import SAME, Entry, bound_text, interval_text
from ..evaluation.evaluating import SEEDS, Evaluation
from ..files import check_writable, write_json
from ..offers import chosen
from ..records import plain
from ..statistics import Interval
from ..telling import length
from ..written import several
from . import INTERRUPTED
from .keeping import Write, show_and_write
from .making import THREADS, Making
from .options import seeds_from
from .terminal import console, named, progress, table, worded

if TYPE_CHECKING:
    from ..evaluation.on_linux import Kernel

SIMULATION, LINUX = "simulation", "linux"
WORLDS = (SIMULATION, LINUX)
QUICK_SEEDS = 3
"""Replications with --quick."""
QUICK_LEVEL: Level = "MUST"
"""Level of the criteria of --quick."""
MOST_ROWS = 40
"""Cases that a comparison lists."""
DIFFERENCES = {"better": "green", "worse": "red", "no difference": "dim"}


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The options of `anabranch evaluate`."""

    seed: int = 1
    repeat: int | None = None
    """None is the usual number of replications."""
    only: Sequence[str] = ()
    quick: bool = False
    recordings: Sequence[str] = ()
    world: str = SIMULATION
    json: Path | None = None
    report: Path | None = None
    making: Making = field(default_factory=Making)

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds. Raises ValueError for one that is out of range."""
        return seeds_from(self.seed, self.repeat or (QUICK_SEEDS if self.quick else SEEDS))

    @property
    def linux(self) -> bool:
        """Whether cases are run on the real kernel too. Raises UnknownName."""
        return chosen("--world", self.world, WORLDS) == LINUX


def evaluate_command(controllers: Sequence[str], asked: EvaluateOptions) -> None:
    """Evaluates controllers, prints a table for each, and writes the requested files; exit status 1
    when a goal of level MUST is missed. An unexpected error comes after what was found until then.
    """
    evaluation = Evaluation(
        [one for text in controllers for one in several(text)],
        list(asked.seeds),
        [word.strip() for text in asked.only for word in text.split(",")],
        level=QUICK_LEVEL if asked.quick else None,
        recordings=asked.recordings,
    )
    kernel = on_linux(evaluation) if asked.linux else None
    files: list[tuple[Path | None, Write]] = []
    if asked.json:
        check_writable(asked.json)
        files.append((asked.json, lambda file: write_json(file, plain(evaluation.to_json()))))
    if asked.report:
        check_pages(evaluation, asked.report)

    def finish() -> None:
        show_and_write(lambda: show(evaluation), *files, *reports(evaluation, asked.report))

    try:
        with progress("preparing") as tell, asked.making.maker() as maker:
            evaluation.maker = maker
            evaluation.run(tell)
            if kernel and not evaluation.interrupted:
                kernel.run(tell)
    except Exception:
        if evaluation.measures:
            finish()
        raise
    finish()
    if evaluation.interrupted:
        console().print(missing(evaluation, asked.making), style="bold", highlight=False)
        raise typer.Exit(INTERRUPTED)
    if evaluation.missed:
        raise typer.Exit(1)


def reports(evaluation: Evaluation, directory: Path | None) -> Iterator[tuple[Path, Write]]:
    """The dossiers as files to write."""
    if directory:
        yield pages(evaluation, directory)[-1], lambda file: write_dossiers(evaluation, file.parent)


def on_linux(evaluation: Evaluation) -> Kernel:
    """The cases that the real kernel runs too; says how long they take. Raises LinuxError where
    this machine cannot.
    """
    from ..evaluation.on_linux import Kernel
    from .machine import check_machine

    kernel = Kernel(evaluation)
    if kernel.wanted:
        check_machine(command="evaluate", asked="--world linux")
        runs = f"{len(kernel.wanted)} runs of {len(kernel.seeds)} replications"
        console().print(
            f"linux runs in real time: {runs}, about {length(kernel.seconds)}", highlight=False
        )
    return kernel


def show(evaluation: Evaluation) -> None:
    """A table for each controller, with what it misses and what was not evaluated."""
    for name in evaluation.names:
        show_controller(evaluation, name)


def show_controller(evaluation: Evaluation, name: str) -> None:
    """A row for each criterion, the reasons why some were not evaluated, and counts."""
    out = console()
    own = [
        one
        for one in evaluation.of(name)
        if not evaluation.interrupted or any(row.measured.values is not None for row in one.rows)
    ]
    head = ["§", "criterion", "level", "case", "value", "goal", "verdict"]
    rows = [
        [
            one.criterion.section,
            named(one.criterion.name),
            one.criterion.level,
            named(row.case.name),
            interval_text(row.measured.interval, one.criterion.unit),
            bound_text(row, one.criterion.unit),
            worded(one.verdict),
        ]
        for one, row in ((one, one.deciding) for one in own)
    ]
    title = f"{named(name)} by the criteria of RFC 9743, each in the case that decides"
    out.print(table(title, head, rows, left=len(head)))
    show_reasons(own)
    if count := sum(bool(row.same_as) for one in own for row in one.rows):
        of_all = sum(len(one.rows) for one in own)
        out.print(f"{named(name)}, {count} of {of_all} cases: {SAME}", style="dim", highlight=False)
    counts = "; ".join(f"{level}: {counts_text(own, level)}" for level in LEVELS)
    out.print(f"{named(name)}, {counts}", highlight=False)
    if missed := missed_musts(own):
        text = f"[bold red]{named(name)} misses goals of level MUST[/]: {missed}"
        out.print(text, highlight=False)


def show_reasons(entries: Sequence[Entry]) -> None:
    """The reasons why cases were not evaluated, and what a controller raised in others."""
    out = console()
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in entries:
        left_out = {row.why for row in one.rows if row.left_out}  # an interrupt says it for all
        found = {("misses", why): cases for why, cases in one.failures.items()}
        found |= {
            ("not evaluated", why): cases
            for why, cases in one.reasons.items()
            if why not in left_out
        }
        for key, cases in found.items():
            whole = len(cases) == len(one.rows)
            what = one.criterion.name if whole else f"{one.criterion.name} ({', '.join(cases)})"
            reasons.setdefault(key, []).append(what)
    for (word, why), names in reasons.items():
        text = f"[bold]{word}[/], because {named(why)}: {named(', '.join(names))}"
        out.print(text, style="dim", highlight=False)


def missing(evaluation: Evaluation, making: Making) -> str:
    """Says what an interrupt left out, and how to go on."""
    rows = [(one.criterion.name, row) for one in evaluation.entries for row in one.rows]
    left = [name for name, row in rows if row.left_out]
    names = ", ".join(dict.fromkeys(left)) or ("the real kernel" if evaluation.linux else "theory")
    kept = "repeat the command to go on" if making.store else "--store keeps runs for another time"
    return f"interrupted: {len(left)} of {len(rows)} cases were not run ({names}); {kept}"


def compare_command(files: Sequence[str], json: Path | None, asked: EvaluateOptions) -> None:
    """Prints what differs between two evaluations; exit status 1 if a case of level MUST got worse
    by the evidence of pairs.
    """
    if len(files) != 2:
        raise ValueError(
            f"--compare is of two files, before and after a change, and there are {len(files)}: "
            f"{', '.join(files) or 'none'}"
        )
    given = {
        "--only": asked.only,
        "--quick": asked.quick,
        "--report": asked.report,
        "--recording": asked.recordings,
        "--world": asked.world != SIMULATION,
        "--store": asked.making.store,
        "--on": asked.making.on != THREADS,
        "--threads": asked.making.workers,
        "--seed": asked.seed != 1,
        "--repeat": asked.repeat,
    }
    if extra := [option for option, value in given.items() if value]:
        raise ValueError(f"--compare runs nothing: leave {' and '.join(extra)} out")
    if json:
        check_writable(json)
    found = compared(Path(files[0]), Path(files[1]))
    content = [one.to_json() for one in found]
    show_and_write(
        lambda: show_comparisons(found),
        (json, lambda file: write_json(file, plain(content))),
    )
    if any(one.failed for one in found):
        raise typer.Exit(1)


def show_comparisons(found: Sequence[Comparison]) -> None:
    """Each comparison, one after the other."""
    for one in found:
        show_comparison(one)


def show_comparison(comparison: Comparison) -> None:
    """The cases that differ, changed verdicts first, and how many do not."""
    out = console()
    before, after = comparison.names
    differing = [one for one in comparison.cases if one.changed or one.word != "no difference"]
    rows = [_compared(one) for one in differing[:MOST_ROWS]]
    title = named(before if before == after else f"{before}, then {after}")
    if rows:
        head = ["§", "criterion", "case", "level", "before", "after", "difference", "change"]
        out.print(table(f"{title}: what differs", head, rows, left=8))
    if len(differing) > MOST_ROWS:
        out.print(f"and {len(differing) - MOST_ROWS} more; --json has them all", style="dim")
    alike = len(comparison.cases) - len(differing)
    out.print(
        f"{title}: {alike} of {len(comparison.cases)} cases show no difference. A difference is a change of the mean by 1 % "
        "or more that pairs of equal seeds support. On average, one in twenty of those listed is chance. A "
        "verdict that changes without a difference is listed for information.",
        style="dim",
        highlight=False,
    )
    if comparison.failed:
        names = ", ".join(dict.fromkeys(one.criterion for one in comparison.failed))
        out.print(f"[bold red]worse at level MUST[/]: {names}", highlight=False)


def _compared(one: Compared) -> list[str]:
    """The cells of a case."""

    def state(verdict: str, mean: float) -> str:
        shown = Interval(mean * one.factor, 0.0, 1) if mean == mean else "–"
        return f"{worded(verdict)}, {shown} {one.unit}".rstrip()

    by = one.difference.times(one.factor) if one.difference else None
    return [
        one.section,
        named(one.criterion),
        named(one.case),
        one.level,
        state(one.before, one.values[0]),
        state(one.after, one.values[1]),
        f"{by} {one.unit}".rstrip() if by else "–",
        f"[{DIFFERENCES[one.word]}]{one.word}[/]",
    ]
