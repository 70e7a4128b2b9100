"""`anabranch reproduce`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import typer

from ..files import check_writable, write_json
from ..makers import Maker
from ..offers import chosen
from ..papers import Finding, Laboratory, Paper, check, evaluate, select
from ..papers.beside import conditions, together
from ..papers.explanations import explanations
from ..papers.laboratory import SIMULATION, Progress, Simulation, World
from ..papers.measurements import LINUX, MEASURES, REAL, WIRE, Measurements
from ..papers.pages import change_text, interruption, write_report
from ..papers.registry import is_folder, opened
from ..papers.row import BEYOND, Row, caption, head, rate_text
from ..statistics import Interval, Verdict
from .keeping import show_and_write
from .making import THREADS, Making
from .tables import Table
from .terminal import console, named, progress, table, worded

WORLDS = (SIMULATION, *REAL)
SEEDS = {SIMULATION: (20, 5), LINUX: (5, 3), WIRE: (5, 3)}
"""Replications of a configuration, and with --quick."""
SENSITIVITY_SEEDS = 10
KEPT = Path("out/measurements")
"""Default directory of measured replications, with a subdirectory for each document."""
SPARE = ("goodput", "with probing", "optimum", "fixed point", "band")
"""Columns of the side-by-side table that a narrow terminal omits, the first one first."""
QUICK = "quick"
"""Short replications lie in a directory of their own: they never replace long ones."""


@dataclass(frozen=True)
class Where:
    """The world in which claims are measured, and the directory of its replications."""

    world: str
    keep: Path | None = None
    judged: Path | None = None
    making: Making = field(default_factory=Making)

    def __post_init__(self) -> None:
        """Resolves the name of the world. Raises ValueError for options that do not go together."""
        object.__setattr__(self, "world", chosen("--world", self.world, WORLDS))
        if self.keep and self.judged:
            raise ValueError("--keep measures and --from does not: give one of them")
        for option, given in (("--keep", self.keep), ("--from", self.judged)):
            if given and self.world not in REAL:
                worlds = " or ".join(REAL)
                raise ValueError(f"{option} is for measurements: give --world {worlds} as well")
        if self.world in REAL and (self.making.on != THREADS or self.making.store):
            raise ValueError(
                f"--world {self.world} measures on this machine's kernel, one run after the other: leave out --on and "
                "--store; --keep says where replications lie"
            )
        if self.judged and not self.judged.is_dir():
            raise ValueError(f"--from: there is no directory {self.judged}")

    def built(self, key: str, quick: bool, maker: Maker) -> World:
        """The world for a document. Raises OSError where its directory cannot be made."""
        if self.world == SIMULATION:
            return Simulation(maker)
        usual = KEPT / key if self.world == LINUX else KEPT / self.world / key
        directory = self.judged or self.keep or usual
        directory = directory / QUICK if quick else directory
        if self.judged:
            return Measurements(directory, None, say, self.world)
        directory.mkdir(parents=True, exist_ok=True)
        return Measurements(directory, MEASURES[self.world], say, self.world)


def say(text: str) -> None:
    """Prints a message of a measurement."""
    console().print(text, style="yellow", highlight=False, markup=False)


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """The options of `anabranch reproduce`."""

    where: Where
    quick: bool = False
    seeds: int | None = None
    json: Path | None = None
    report: Path | None = None
    strict: bool = False


def reproduce_command(names: list[str], options: ReproduceOptions) -> None:
    """Evaluates claims, prints their verdicts, and writes the requested files."""
    where, quick, json, report = options.where, options.quick, options.json, options.report
    try:
        selected = select(names)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    if json:
        check_writable(json)
    papers = {key: opened(key) for key in selected}
    for name, paper in papers.items():
        if is_folder(name):
            check(paper)  # those that are shipped are checked by tests
    if report:
        report.mkdir(parents=True, exist_ok=True)
        for paper in papers.values():
            check_writable(page_of(paper.key, report))
    repetitions = options.seeds or SEEDS[where.world][quick]
    findings: list[Finding] = []
    laboratories: dict[str, Laboratory] = {}
    with progress("preparing") as tell, where.making.maker() as maker:

        def configuration(name: str, done: float, total: float) -> None:
            tell(done, total, f"running {name}")

        for key, ids in selected.items():
            paper = papers[key]
            world = where.built(paper.key, quick, maker)
            found, lab = evaluate(
                paper, ids, seeds=repetitions, world=world, quick=quick, progress=configuration
            )
            if where.judged and lab.absent and not lab.results:
                why = "; ".join(dict.fromkeys(lab.absent.values()))
                raise ValueError(f"--from {where.judged}: {why} of {', '.join(lab.absent)}")
            laboratories[key] = lab
            findings += found
            if laboratories[key].interrupted:
                break
            if not quick and where.world == SIMULATION and len(ids) == len(paper.claims):
                _sensitivity(paper, laboratories[key], configuration)
    pages = [
        (page_of(papers[key].key, report), partial(write_report, papers[key], findings, lab))
        for key, lab in laboratories.items()
        if report
    ]
    show_and_write(
        lambda: show(findings, [(papers[key], lab) for key, lab in laboratories.items()]),
        (json, lambda file: write_json(file, [finding.to_json() for finding in findings])),
        *pages,
    )
    if any(lab.interrupted for lab in laboratories.values()):
        raise KeyboardInterrupt
    if wrong := [text for lab in laboratories.values() for text in lab.wrong]:
        raise ValueError("\n".join(wrong))
    if options.strict and any(f.verdict not in ("reproduced", "not_run") for f in findings):
        raise typer.Exit(1)


def page_of(key: str, directory: Path) -> Path:
    """The report on a document."""
    return directory / f"{key}.html"


def _sensitivity(paper: Paper, lab: Laboratory, configuration: Progress) -> None:
    """Runs the configurations that vary open parameters; ten seeds are enough to show an effect."""
    lab.seeds = min(lab.seeds, SENSITIVITY_SEEDS)
    lab.run(paper.sensitivity, configuration)


def show(findings: list[Finding], laboratories: Sequence[tuple[Paper, Laboratory]]) -> None:
    """Prints the side-by-side table, the verdicts, and the claims that were not reproduced."""
    out = console()
    remarks: dict[str, str] = {}
    for paper, lab in laboratories:
        rows = paper.side_by_side(lab)
        remarks |= {row.claim: f",\n{row.remark}" for row in rows if row.remark}
        if rows:
            out.print(_side_by_side(rows))
        if how := conditions(lab):
            out.print(together(how), style="dim", highlight=False)
        moved = paper.moved(lab)
        if moved:
            out.print(_moved(moved))
            out.print(paper.sensitivity_text, style="dim", highlight=False)
    measured = any(lab.beside for _, lab in laboratories)
    listed = [f for f in findings if not measured or f.verdict != "not_run"]
    claims = [
        [
            f.claim.id,
            named(f.claim.source),
            f.world,
            worded(f.verdict) + remarks.get(f.claim.id, ""),
        ]
        for f in listed
    ]
    if claims:
        out.print(table("Claims", ["claim", "source", "world", "verdict"], claims, left=4))
    _print_not_run(findings)
    for ids, text in explanations(findings):
        out.print(f"[bold]{', '.join(ids)}[/]: {named(text)}\n", highlight=False)
    counts = Counter(f.verdict for f in findings)
    order: tuple[Verdict, ...] = ("reproduced", "not_reproduced", "undecided", "not_run")
    out.print(", ".join(f"{counts[v]} {v.replace('_', ' ')}" for v in order if counts[v]))
    for paper, lab in laboratories:
        if lab.interrupted:
            out.print(f"[bold]{interruption(paper, findings, lab)}[/]", highlight=False)


def _print_not_run(findings: list[Finding]) -> None:
    """Prints why claims have no verdict, grouped by reason."""
    reasons: dict[str, list[str]] = {}
    for finding in findings:
        if finding.verdict == "not_run":
            reasons.setdefault(finding.why, []).append(finding.claim.id)
    for why, ids in reasons.items():
        console().print(f"[bold]{', '.join(ids)}[/] not run: {why}", style="dim", highlight=False)


def _side_by_side(rows: Sequence[Row]) -> Table:
    """Published and theoretical rates, and those of the worlds that ran the configurations."""
    body = [[row.scenario, *_marked(row), _judged(row)] for row in rows]
    return table(caption(rows), ["scenario", *head(rows), "verdict"], body, left=4, spare=SPARE)


def _judged(row: Row) -> str:
    """The verdict of a row, with its remark."""
    verdict = worded(row.verdict) if row.verdict else ""
    return f"{verdict},\n{row.remark}" if row.remark else verdict


def _marked(row: Row) -> list[str]:
    """The entries of a row; a difference beyond the intervals has a colour."""
    return [f"[red]{text}[/]" if text.endswith(BEYOND) else text for text in row.texts()]


def _moved(variants: Sequence[tuple[str, dict[str, Interval]]]) -> Table:
    """Effect of the open parameters: values, and in brackets the change from the first row."""
    (chosen, base), *others = variants
    rows = [[chosen, *(rate_text(value) for value in base.values())]]
    rows += [
        [name, *(change_text(values.get(c), base[c]) for c in base)] for name, values in others
    ]
    return table("What the open parameters move", ["variant", *base], rows)
