"""The report of a document: its tables again, every claim with its evidence, what open parameters move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import _core, plot
from ..report import Cell, Figure, Report, Section, Table, write
from ..result import run
from ..scenario import load
from ..statistics import Interval
from .findings import Check, Finding
from .laboratory import Laboratory
from .registry import Paper
from .row import Row


def write_report(
    paper: Paper, findings: Sequence[Finding], lab: Laboratory, directory: Path
) -> Path:
    """Writes `directory`/KEY.html and returns its path."""
    own = [finding for finding in findings if finding.claim.id.startswith(f"{paper.key}.")]
    sections = [
        *_side_by_side(paper, lab),
        *_moving_pictures(paper, lab),
        _claims(own),
        *_sensitivity(paper, lab),
        _choices(lab),
    ]
    verdicts = [finding.verdict for finding in own]
    words = ", ".join(f"{verdicts.count(v)} {v.replace('_', ' ')}" for v in dict.fromkeys(verdicts))
    page = Report(
        title=paper.title,
        intro=f"{len(own)} claims: {words}. Simulated rates are wire bytes, means over seeds with 95 % intervals.",
        sections=sections,
        provenance={
            "version": _core.__version__,
            "replications of each cell": str(
                max((len(r.runs) for r in lab.results.values()), default=0)
            ),
            "cells": str(len(lab.results)),
            "packets carried": f"{sum(run['packet_hops'] for r in lab.results.values() for run in r.runs):,} hops",
        },
    )
    target = directory / f"{paper.key}.html"
    write(page, target)
    return target


def number(value: object) -> str:
    """A published or obtained value as text."""
    if isinstance(value, Interval):
        return (
            f"{value.mean:.4g} ± {value.half:.2g}"
            if 0 < value.half < float("inf")
            else f"{value.mean:.4g}"
        )
    if isinstance(value, bool):
        return "holds" if value else "does not hold"
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values())
    return str(value)


def _band(check: Check) -> str:
    if check.band is None:
        return ""
    low, high = ("" if edge is None else f"{edge:.4g}" for edge in check.band)
    return f"{low} … {high}"


def _claims(findings: Sequence[Finding]) -> Section:
    """Every claim with its checks."""
    rows: list[list[str | Cell]] = []
    for f in findings:
        rows.append(
            [
                f.claim.id,
                f.claim.statement,
                "",
                "",
                "",
                Cell(f.verdict.replace("_", " "), verdict=f.verdict, note=f.why or None),
            ]
        )
        rows += [
            [
                "",
                check.name,
                number(check.published),
                number(check.obtained),
                _band(check),
                Cell(check.verdict.replace("_", " "), verdict=check.verdict),
            ]
            for check in f.checks
        ]
    head = ["claim", "statement / expectation", "published", "obtained", "band", "verdict"]
    return Section(
        "Claims",
        "A claim is reproduced when every one of its expectations is.",
        [Table("Claims and evidence", head, rows)],
        [],
    )


def _side_by_side(paper: Paper, lab: Laboratory) -> list[Section]:
    """A section for each scenario: the table, and rates as bars with marks."""
    rows = paper.side_by_side(lab)
    sections = []
    for scenario in dict.fromkeys(row.scenario for row in rows):
        own = [row for row in rows if row.scenario == scenario]
        body: list[list[str | Cell]] = [
            [
                r.setting,
                r.controller,
                r.users,
                f"{r.published:.2f}",
                f"{r.fixed_point:.3f}",
                f"{r.optimum:.3f}",
                f"{r.probing_optimum:.3f}",
                f"{r.simulated.mean:.3f} ± {r.simulated.half:.3f}",
                Cell(r.verdict.replace("_", " "), verdict=r.verdict),
            ]
            for r in own
        ]
        head = [
            "setting",
            "controller",
            "users",
            "published",
            "fixed point",
            "optimum",
            "with probing cost",
            "simulated",
            "verdict",
        ]
        table = Table("Mb/s per user: published measurement, theory, simulation", head, body)
        sections.append(Section(f"Scenario {scenario}", "", [table], _bars(own, lab)))
    return sections


def _bars(rows: Sequence[Row], lab: Laboratory) -> list[Figure]:
    """Simulated rates of one scenario, with published values and fixed points as marks."""
    figures = []
    for setting in dict.fromkeys(row.setting for row in rows):
        own = [row for row in rows if row.setting == setting]
        cells = list(dict.fromkeys(row.cell for row in own))
        by_cell = [{r.users: r for r in own if r.cell == cell} for cell in cells]
        marks = [
            plot.Reference(
                label,
                [
                    {users: getattr(r, field) * 1e6 for users, r in group.items()}
                    for group in by_cell
                ],
            )
            for label, field in (
                ("published", "published"),
                ("fixed point", "fixed_point"),
                ("optimum with probing cost", "probing_optimum"),
            )
        ]
        names = [next(iter(group.values())).controller.upper() for group in by_cell]
        figure = plot.shares([lab[cell] for cell in cells], references=marks, names=names)
        figures.append(
            Figure(
                f"{setting}: mean rate per user of each class, with published and predicted values",
                figure,
            )
        )
    return figures


def _moving_pictures(paper: Paper, lab: Laboratory) -> list[Section]:
    """Windows, rates and queues over time in one replication of a cell of each controller."""
    shown = [name for name in paper.shown if name in lab.results]
    sections = []
    for name in shown:
        cell = lab.cells[name]
        result = run(
            load(cell.scenario),
            (1,),
            controller=cell.controller,
            overrides=cell.overrides,
            series=True,
        )
        pictures = [
            Figure(
                "Congestion window and slow-start threshold of one user of each class",
                plot.windows(result, start_s=30, end_s=90),
            ),
            Figure("Throughput per user of each class", plot.throughput(result)),
            Figure("Waiting packets and drops", plot.queue(result, start_s=30, end_s=60)),
            Figure("Throughput over users and replications", plot.cdf(lab[name])),
        ]
        sections.append(
            Section(
                f"Over time: {result.plan['title']} ({str(cell.controller).upper()})",
                "One replication.",
                [],
                pictures,
            )
        )
    return sections


def _sensitivity(paper: Paper, lab: Laboratory) -> list[Section]:
    """What the parameters move that the document leaves open."""
    table = paper.moved(lab)
    if not table:
        return []
    cells = list(table[0][1])
    base = table[0][1]
    rows: list[list[str | Cell]] = []
    for variant, values in table:
        row: list[str | Cell] = [variant]
        for cell in cells:
            moved = values[cell].mean - base[cell].mean
            row.append(
                f"{values[cell].mean:.3f}"
                + (f" ({moved:+.3f})" if variant != table[0][0] else f" ± {values[cell].half:.3f}")
            )
        rows.append(row)
    text = (
        "Rate of the harmed class (type 2 users in A, single-path users in C) in Mb/s for N1 = 10 and 30 "
        "when one open parameter is set otherwise; in brackets the change."
    )
    return [
        Section(
            "What the open parameters move",
            text,
            [Table("Sensitivity", ["variant", *cells], rows)],
            [],
        )
    ]


def _choices(lab: Laboratory) -> Section:
    """The parameters that the document leaves open, and the values taken."""
    seen: dict[tuple[str, str], str] = {}
    for result in lab.results.values():
        for choice in result.plan["choices"]:
            seen[choice["what"], choice["value"]] = choice["why"]
    rows: list[list[str | Cell]] = [[what, value, why] for (what, value), why in seen.items()]
    return Section(
        "What the document leaves open",
        "",
        [Table("Choices", ["parameter", "value", "reason"], rows)],
        [],
    )
