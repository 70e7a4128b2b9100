"""The report of a document: its tables redone, every claim with its evidence, and the effect of
open parameters.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

from .. import _core, plot
from ..controller import outside
from ..explorer.data import fragment, opened
from ..report import Cell, Figure, Report, Section, Table, write
from ..result import Result, run
from ..scenario import load
from ..statistics import Interval
from .beside import conditions, together
from .findings import Finding, prose
from .laboratory import SIMULATION, Laboratory
from .paper import Paper
from .row import REMARK, Row, band_text, caption, head, rate_text

PLACES = ("explorer.html", "../explorer.html")
"""Where a report looks for the page on disk: `make explorer` writes out/explorer.html."""

MOST_LINK = 32_000
"""Characters of a link; a scenario with long traces has more."""

LEAST = 1e-6
"""Smaller numbers are shown as smaller than this one."""


def write_report(paper: Paper, findings: Sequence[Finding], lab: Laboratory, file: Path) -> Path:
    """Writes a page on a document to `file`, and returns that."""
    own = [finding for finding in findings if finding.claim.id in paper.claims]
    sections = [
        *_side_by_side(paper, lab),
        *paper.sections(lab),
        *_measured(lab),
        *_moving_pictures(paper, lab),
        _claims(paper, own, paper.side_by_side(lab), file.parent),
        *_sensitivity(paper, lab),
        _choices(lab),
    ]
    verdicts = [finding.verdict for finding in own]
    counts = ", ".join(
        f"{verdicts.count(v)} {v.replace('_', ' ')}" for v in dict.fromkeys(verdicts)
    )
    stopped = interruption(paper, findings, lab)
    page = Report(
        title=f"{paper.title} – {stopped}" if stopped else paper.title,
        intro=f"{len(own)} claims: {counts}. Rates are wire bytes, goodput stands beside them; means over "
        f"replications with 95 % intervals. World: {lab.world.name}.",
        sections=sections,
        provenance={
            "version": _core.__version__,
            "replications of a configuration": _replications(lab),
            "configurations": str(len(lab.results)),
            **({} if lab.beside else {"packets carried": f"{_packets(lab):,} hops"}),
        },
    )
    write(page, file)
    return file


def interruption(paper: Paper, findings: Sequence[Finding], lab: Laboratory) -> str:
    """How many configurations had been run when an interrupt came; empty when none came.

    The configurations are those of the claims; once these are through, those of the open parameters
    too.
    """
    if not lab.interrupted:
        return ""
    done = {name for name, result in lab.results.items() if result.provenance["complete"]}
    ids = [f.claim.id for f in findings if f.claim.id in paper.evaluators]
    asked = {
        configuration
        for id in ids
        for configuration in paper.evaluators[id][1]
        if configuration in lab.configurations
    }
    if asked <= done and lab.beside is None:
        asked |= set(paper.sensitivity)
    return f"interrupted: {len(asked & done)} of {len(asked)} configurations had been run"


def _packets(lab: Laboratory) -> int:
    """Packets that the links of all configurations carried."""
    return sum(int(run.packet_hops) for r in lab.results.values() for run in r.runs)


def _replications(lab: Laboratory) -> str:
    """Replications of a configuration, all numbers that there are."""
    numbers = sorted({len(r.runs) for r in lab.results.values()}, reverse=True)
    return " or ".join(str(n) for n in numbers) or "0"


def plain(value: float) -> str:
    """A number with four significant digits, or all before the point, and without an exponent."""
    if 0 < abs(value) < LEAST:
        return f"{'<' if value > 0 else '>'} {math.copysign(LEAST, value):f}"
    return f"{value:.0f}" if abs(value) >= 1e4 else f"{Decimal(f'{value:.4g}'):f}"


def number(value: object) -> str:
    """A published or obtained value as text."""
    match value:
        case Interval(mean=mean, half=half):
            if not 1e-12 * abs(mean) < half < math.inf:
                return plain(mean)
            decimals = max(0, 1 - math.floor(math.log10(half)))  # two digits of the interval
            return f"{mean:.{decimals}f} ± {half:.{decimals}f}"
        case bool():
            return "holds" if value else "does not hold"
        case float():
            return plain(value)
        case {"value": published, "unit": "Mbps"}:
            return f"{number(published)} Mb/s"
        case {"value": published}:
            return number(published)  # a ratio, a fraction, a probability
        case list():
            return ", ".join(number(part) for part in value)
        case _:
            return prose(str(value))


def _claims(
    paper: Paper, findings: Sequence[Finding], rows_beside: Sequence[Row], folder: Path
) -> Section:
    """Every claim with its checks, and the explanation below them."""
    explorer = next((one for one in PLACES if (folder / one).is_file()), None)
    remarks = {(row.claim, row.key): row.remark for row in rows_beside}
    rows: list[list[str | Cell]] = []
    for f in findings:
        command, link = _explored(paper, f.claim.id, explorer)
        statement = Cell(prose(f.claim.statement), columns=3, note=command, link=link)
        rows.append([Cell(f.claim.id, heading=True), statement, Cell(f.verdict, f.verdict)])
        rows += [
            [
                f.claim.spelling.words(check.name),
                number(check.published),
                number(check.obtained),
                band_text(check.band, plain) if check.band else "",
                Cell(
                    check.verdict,
                    check.verdict,
                    note=remarks.get((f.claim.id, check.name)) or None,
                ),
            ]
            for check in f.checks
        ]
        if f.evidence:
            rows.append([Cell(f.evidence, columns=5)])
    head = ["claim / expectation", "published", "obtained", "band", "verdict"]
    return Section(
        "Claims",
        f"A claim is reproduced when every one of its expectations is. {REMARK}",
        [Table("Claims and evidence", head, rows)],
        [],
    )


def _explored(paper: Paper, id: str, explorer: str | None) -> tuple[str | None, str | None]:
    """The command that opens the first cell of a claim in the explorer, and where the page on disk
    shows that cell. None for a claim without cells, and for what the page cannot show.
    """
    _, names = paper.evaluators.get(id, (None, ()))
    if not names:
        return None, None
    home = paper.key if paper.home.package else str(paper.home.folder)
    command = shlex.join(["anabranch", "explore", f"{home}:{names[0]}"])
    others = f"; `anabranch list cells {home}` has the claim's others" if names[1:] else ""
    said = f"explore: {command}{others}"
    one = paper.cells[names[0]]
    if explorer is None or outside(one.controller):
        return said, None
    link = fragment(opened(load(one.scenario), one.controller, one.overrides))
    return said, f"{explorer}#{link}" if len(link) < MOST_LINK else None


def _side_by_side(paper: Paper, lab: Laboratory) -> list[Section]:
    """A section for each scenario: the table, and rates as bars with marks."""
    rows = paper.side_by_side(lab)
    sections = []
    for scenario in dict.fromkeys(row.scenario for row in rows):
        own = [row for row in rows if row.scenario == scenario]
        body: list[list[str | Cell]] = [
            [*r.texts(), Cell(r.verdict or "", r.verdict, note=r.remark or None)] for r in own
        ]
        table = Table(caption(own), [*head(own), "verdict"], body)
        sections.append(Section(f"Scenario {scenario}", "", [table], _bars(own, lab)))
    return sections


def _bars(rows: Sequence[Row], lab: Laboratory) -> list[Figure]:
    """Rates of one scenario in the world that is judged, with other values as marks."""
    figures = []
    for setting in dict.fromkeys(row.setting for row in rows):
        own = [row for row in rows if row.setting == setting]
        configurations = list(dict.fromkeys(row.configuration for row in own))
        by_configuration = [
            {r.users: r for r in own if r.configuration == configuration}
            for configuration in configurations
        ]
        marks = [
            plot.Reference(
                label,
                [
                    {users: rate * 1e6 for users, r in group.items() if (rate := of(r)) is not None}
                    for group in by_configuration
                ],
            )
            for label, of in _marks(own)
        ]
        names = [next(iter(group.values())).controller for group in by_configuration]
        figure = plot.shares(
            [lab[configuration] for configuration in configurations],
            references=marks,
            names=names,
            setting=setting,
            groups="Controller",
        )
        figures.append(
            Figure(
                f"{setting}: mean rate per user of each class, with published and predicted values",
                figure,
            )
        )
    return figures


def _marks(rows: Sequence[Row]) -> list[tuple[str, Callable[[Row], float | None]]]:
    """Marks on bars: a name, and the function that reads the value from a row."""
    marks: list[tuple[str, Callable[[Row], float | None]]] = [
        ("published", lambda row: row.published),
        ("fixed point", lambda row: row.fixed_point),
        ("optimum with probing cost", lambda row: row.probing_optimum),
    ]
    if all(len(row.rates) > 1 for row in rows):
        marks.append(("simulated", lambda row: row.rates[SIMULATION].mean))
    return marks


def _measured(lab: Laboratory) -> list[Section]:
    """Conditions of the measured configurations; no section if they were simulated."""
    rows = conditions(lab)
    if not rows:
        return []
    body = [
        [
            row.configuration,
            row.kernel,
            str(row.replications),
            str(row.rejected),
            f"{row.late_s * 1e3:.2f}",
            f"{row.busy:.0%}",
            *(f"{number:,}" for number in row.counted.values()),
        ]
        for row in rows
    ]
    columns = ["configuration", "kernel", "replications", "not valid", "late ms", "processor"]
    words = ["acknowledgements", "missed", "found wrong", "repairs"]
    found = list(
        dict.fromkeys(d for r in lab.results.values() for d in r.provenance["differences"])
    )
    text = (
        f"{together(rows)}.\n\nLate: the largest 99th percentile of a replication, by which the emulator "
        "forwarded packets after their time; processor: the largest share that it took. The controllers in the "
        "kernel count the acknowledgements that they saw, callbacks that were skipped, states that they found "
        f"wrong, and windows that they put right.\n\nWhere the kernel differs from the model: {'; '.join(found)}."
    )
    return [Section("How it was measured", text, [Table("Conditions", [*columns, *words], body)])]


def _moving_pictures(paper: Paper, lab: Laboratory) -> list[Section]:
    """Windows, rates and queues over time in one simulated replication of a configuration of each
    controller.
    """
    shown = [name for name in paper.shown if name in lab.results and lab.beside is None]
    sections = []
    for name in shown:
        configuration = lab.configurations[name]
        result = run(
            load(configuration.scenario),
            (1,),
            controller=configuration.controller,
            overrides=configuration.overrides,
            series=True,
        )
        title = f"Over time: {result.plan.title} ({configuration.controller})"
        sections.append(Section(title, "", [], _over_time(result, lab[name])))
    return sections


def _over_time(one: Result, every: Result) -> list[Figure]:
    """Pictures of a replication with series, and the distribution over users in all of them."""
    start_s, end_s = one.plan.warmup_s, one.plan.duration_s
    later_s, soon_s = min(start_s + 60, end_s), min(start_s + 30, end_s)
    seed = f"in the replication with seed {one.seeds[0]}"
    return [
        Figure(
            "Congestion window (solid) and slow-start threshold (dashed) of one user of each class "
            f"{seed}, from the end of the warm-up at {start_s:g} s to {later_s:g} s",
            plot.windows(one, start_s=start_s, end_s=later_s),
        ),
        Figure(
            f"Mean throughput per user of each class {seed}, the whole run from 0 to {end_s:g} s "
            "with its warm-up",
            plot.throughput(one),
        ),
        Figure(
            f"Waiting packets and drops {seed}, the part from {start_s:g} s to {soon_s:g} s",
            plot.queue(one, start_s=start_s, end_s=soon_s),
        ),
        Figure(
            f"Throughput of users after the warm-up, all {len(every.runs)} replications together",
            plot.cdf(every),
        ),
    ]


def _sensitivity(paper: Paper, lab: Laboratory) -> list[Section]:
    """Effect of the parameters that the document leaves open."""
    table = paper.moved(lab)
    if not table:
        return []
    chosen, base = table[0]
    rows: list[list[str | Cell]] = [[chosen, *(rate_text(value) for value in base.values())]]
    rows += [
        [variant, *(change_text(values.get(c), base[c]) for c in base)]
        for variant, values in table[1:]
    ]
    numbers = {value.n for _, values in table for value in values.values()}
    caption = f"Sensitivity: means of {' or '.join(map(str, sorted(numbers)))} replications"
    return [
        Section(
            "What the open parameters move",
            paper.sensitivity_text,
            [Table(caption, ["variant", *base], rows)],
            [],
        )
    ]


def change_text(value: Interval | None, base: Interval) -> str:
    """A rate and its change; a dash for a configuration that an interrupt has left out."""
    if value is None:
        return "–"
    change = f"{value.mean - base.mean:+.3f}"
    return f"{value.mean:.3f} ({'0.000' if float(change) == 0 else change})"


def _choices(lab: Laboratory) -> Section:
    """The parameters that the document leaves open, the values taken, and the scenarios that do."""
    scenarios = {r.scenario.name: r.plan.choices for r in lab.results.values()}
    taken: dict[tuple[str, str, str], list[str]] = {}
    for name, choices in scenarios.items():
        for choice in choices:
            key = choice.what, choice.value, choice.why
            taken.setdefault(key, []).append(name.split("/")[-1])
    order = list(dict.fromkeys(what for what, _, _ in taken))
    rows: list[list[str | Cell]] = [
        [*key, "all" if len(names) == len(scenarios) else ", ".join(names)]
        for key, names in sorted(taken.items(), key=lambda item: order.index(item[0][0]))
    ]
    head = ["parameter", "value", "reason", "scenarios"]
    return Section(
        "What the document leaves open",
        "Each scenario file lists these beside the values themselves.",
        [Table("Choices", head, rows)],
        [],
    )
