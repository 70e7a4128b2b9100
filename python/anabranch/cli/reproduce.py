"""`anabranch reproduce`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.table import Table

from ..files import check_writable, write_json
from ..papers import PAPERS, Finding, Laboratory, evaluate, select
from ..papers.laboratory import Progress
from ..papers.pages import interruption, write_report
from ..papers.row import HEAD, Row
from ..statistics import Interval, Verdict
from .terminal import console, progress, table, worded, writing

WORLDS = ("simulation",)
FULL_SEEDS, QUICK_SEEDS, SENSITIVITY_SEEDS = 20, 5, 10


def reproduce_command(
    names: list[str],
    quick: bool,
    seeds: int | None,
    world: str,
    json: Path | None,
    report: Path | None,
    strict: bool,
) -> None:
    """Evaluates claims, prints their verdicts, and writes what is asked."""
    if world not in WORLDS:
        raise ValueError(
            f"--world: there is no world {world!r}; the worlds are {', '.join(WORLDS)}"
        )
    try:
        chosen = select(names)
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    if json:
        check_writable(json)
    if report:
        report.mkdir(parents=True, exist_ok=True)
    repetitions = seeds or (QUICK_SEEDS if quick else FULL_SEEDS)
    findings: list[Finding] = []
    laboratories: dict[str, Laboratory] = {}
    with progress("preparing") as tell:

        def cell(name: str, done: float, total: float) -> None:
            tell(done, total, f"running {name}")

        for key, ids in chosen.items():
            found, laboratories[key] = evaluate(key, ids, seeds=repetitions, progress=cell)
            findings += found
            if laboratories[key].interrupted:
                break
            if not quick and len(ids) == len(PAPERS[key].claims):
                _sensitivity(key, laboratories[key], cell)
    if json:
        with writing(json):
            write_json(json, [finding.to_json() for finding in findings])
    _print(findings, laboratories)
    for key, lab in laboratories.items():
        if report:
            target = write_report(PAPERS[key], findings, lab, report)
            console().print(f"report: {target}", highlight=False)
    if any(lab.interrupted for lab in laboratories.values()):
        raise KeyboardInterrupt
    if strict and any(f.verdict not in ("reproduced", "not_run") for f in findings):
        raise typer.Exit(1)


def _sensitivity(key: str, lab: Laboratory, cell: Progress) -> None:
    """Runs the cells that show what open parameters move; ten seeds are enough to see it."""
    lab.seeds = min(lab.seeds, SENSITIVITY_SEEDS)
    lab.run(PAPERS[key].sensitivity, cell)


def _print(findings: list[Finding], laboratories: dict[str, Laboratory]) -> None:
    """The side-by-side table, the verdicts, and what did not come out."""
    out = console()
    for key, lab in laboratories.items():
        rows = PAPERS[key].side_by_side(lab)
        if rows:
            out.print(_side_by_side(rows))
        moved = PAPERS[key].moved(lab)
        if moved:
            out.print(_moved(moved))
    out.print(
        table(
            "Claims",
            ["claim", "source", "world", "verdict"],
            [[f.claim.id, f.claim.source, f.world, worded(f.verdict)] for f in findings],
            left=4,
        )
    )
    for finding in findings:
        if finding.verdict in ("not_reproduced", "undecided") and finding.why:
            out.print(f"[bold]{finding.claim.id}[/]: {finding.why}\n", highlight=False)
    counts = Counter(f.verdict for f in findings)
    order: tuple[Verdict, ...] = ("reproduced", "not_reproduced", "undecided", "not_run")
    out.print(", ".join(f"{counts[v]} {v.replace('_', ' ')}" for v in order if counts[v]))
    for key, lab in laboratories.items():
        if lab.interrupted:
            out.print(f"[bold]{interruption(PAPERS[key], findings, lab)}[/]", highlight=False)


def _side_by_side(rows: Sequence[Row]) -> Table:
    """Published, theory and simulation of the cells that were run."""
    head = ["scenario", *HEAD, "verdict"]
    body = [[row.scenario, *row.texts(), worded(row.verdict)] for row in rows]
    return table(
        "Rates in Mb/s per user (simulated: wire bytes, goodput: payload; mean ± 95 % interval)",
        head,
        body,
        left=4,
    )


def _moved(variants: Sequence[tuple[str, dict[str, Interval]]]) -> Table:
    """What the open parameters move."""
    title = (
        "What the open parameters move: Mb/s of the harmed class (type 2 in A, single-path in C)"
    )
    cells = list(variants[0][1])
    head = ["variant", *cells]
    body = [
        [name, *(f"{values[c].mean:.3f}" if c in values else "–" for c in cells)]
        for name, values in variants
    ]
    return table(title, head, body)
