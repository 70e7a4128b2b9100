"""Dossiers: a page for each controller, with all that was done, and why."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .. import _core
from ..files import check_writable
from ..plot import Dots, cases, svg
from ..report import Cell, Figure, Report, Section, Table, write
from ..seeds import consecutive
from .card import by_name, card, file_names, goal_of, index, seeds_text
from .criterion import Case, Unit
from .entry import SAME, Entry, Measured, bound_text, interval_text, worst
from .evaluating import Evaluation
from .planning import Contender, seeds_of
from .requirements import Requirement, requirements

INDEX = "index.html"
WORLDS = ("theory", "linux")
"""Beside the simulation, as fields of a row."""


def pages(evaluation: Evaluation, directory: Path) -> list[Path]:
    """The files of the dossiers; with several controllers the matrix is the last one."""
    names = [directory / name for name in file_names(evaluation.names).values()]
    return [*names, *([directory / INDEX] if len(names) > 1 else [])]


def check_pages(evaluation: Evaluation, directory: Path) -> None:
    """Makes the directory. Raises OSError if a page cannot be written."""
    directory.mkdir(parents=True, exist_ok=True)
    for page in pages(evaluation, directory):
        check_writable(page)


def write_dossiers(evaluation: Evaluation, directory: Path) -> None:
    """Writes a page for each controller, and with several the matrix. Raises OSError."""
    files = file_names(evaluation.names)
    for contender in evaluation.contenders:
        write(dossier(evaluation, contender), directory / files[contender.label])
    if len(files) > 1:
        write(index(evaluation), directory / INDEX)


def dossier(evaluation: Evaluation, contender: Contender) -> Report:
    """The dossier of a controller."""
    own = evaluation.of(contender.label)
    sections = [section(one, contender, evaluation) for one in own]
    command = ["anabranch", "evaluate", contender.text]
    command += [word for name in evaluation.only for word in ("--only", name)]
    command += ["--quick"] * bool(evaluation.level)
    command += ["--world", "linux"] * bool(evaluation.linux)
    command += seed_words(evaluation.seed_list)
    return Report(
        f"{contender.label} by the criteria of RFC 9743",
        "",
        [*sections, answered(own)],
        {
            "version": _core.__version__,
            "sources": _core.SOURCES,
            "seeds": seeds_text(evaluation.seed_list),
            "command": shlex.join(command),
        },
        card(evaluation, contender),
    )


def section(entry: Entry, contender: Contender, evaluation: Evaluation) -> Section:
    """A criterion: question, method, goal, cases, figure, and how to repeat it."""
    criterion = entry.criterion
    where = requirements().heading(criterion.section)
    text = [
        f"{criterion.question} RFC 9743, section {where}; level {criterion.level}.",
        criterion.method,
        f"Goal: {goal_of(criterion)}. {criterion.why}",
        *(
            f"Not evaluated, because {why}: {', '.join(names)}."
            for why, names in entry.reasons.items()
        ),
        *(f"Missed, because {why}: {', '.join(names)}." for why, names in entry.failures.items()),
        *silent(entry),
    ]
    figure = picture(entry)
    return Section(
        f"{criterion.section} {criterion.title}",
        "\n\n".join(text),
        [values(entry)],
        [Figure(f"{criterion.title}: means with 95 % intervals", figure)] if figure else [],
        below=[repeats(entry, contender, evaluation)],
    )


def values(entry: Entry) -> Table:
    """The value of each case under each controller and in each world, with the verdict."""
    unit, rows = entry.criterion.unit, entry.rows
    beside = [name for name in rows[0].references if name != entry.controller]
    worlds = [name for name in WORLDS if has_answer(entry, name)]
    body: list[list[str | Cell]] = [
        [
            Cell(row.case.name, note=SAME if row.same_as else None),
            cell(row.measured, unit),
            *(cell(row.references[name], unit) for name in beside),
            *(cell(getattr(row, name), unit) for name in worlds),
            bound_text(row, Unit("", unit.factor)),
            Cell(row.verdict, row.verdict),
        ]
        for row in rows
    ]
    head = ["case", entry.controller, *beside, *worlds, "goal", "verdict"]
    of_unit = f" in {unit.name}" if unit.name else ""
    return Table(f"Means over replications{of_unit}, ± half of the 95 % interval", head, body)


def has_answer(entry: Entry, world: str) -> bool:
    """Whether a world has a value in any case."""
    found: list[Measured | None] = [getattr(row, world) for row in entry.rows]
    return any(one is not None and one.values is not None for one in found)


def silent(entry: Entry) -> list[str]:
    """A sentence for each world that was asked and has no value in any case, and for each reason:
    with the names of the cases, unless it is that of all.
    """
    found: list[str] = []
    for world, name in zip(WORLDS, ("Theory", "The real kernel"), strict=True):
        if has_answer(entry, world):
            continue  # the table has the reasons of the other cases
        reasons: dict[str, list[str]] = {}
        for row in entry.rows:
            if (one := getattr(row, world)) is not None:
                reasons.setdefault(one.why, []).append(row.case.name)
        for why, cases_ in reasons.items():
            where = "" if len(cases_) == len(entry.rows) else f" in {', '.join(cases_)}"
            found.append(f"{name} has no answer{where}: {why}.")
    return found


def cell(found: Measured | None, unit: Unit) -> Cell:
    """A value without its unit; the reason where there is none."""
    if found is None:
        return Cell("–")
    if found.values is None:
        return Cell("–", note=found.why)
    return Cell(interval_text(found.interval, Unit("", unit.factor)))


def repeats(entry: Entry, contender: Contender, evaluation: Evaluation) -> Table:
    """The command that repeats each case and the runs beside it, and the digests of these runs."""
    seeds = evaluation.seed_list
    body: list[list[str | Cell]] = []
    for row in entry.rows:
        case = row.case
        body.append(repeat(case.name, command(case, contender, seeds), row.measured))
        for name, found in evaluation.beside(case).items():
            words = command(case, None, seeds, case.beside[name])
            body.append(repeat(f"{case.name}; beside it: {name}", words, found))
    head = ["case", "command", "digest of the first seed", "hash over all seeds"]
    return Table("How to repeat each case: commands and digests", head, body)


def repeat(name: str, words: Sequence[str], found: Measured) -> list[str | Cell]:
    """The row of a command and its runs."""
    return [
        name,
        Cell(shlex.join(words), code=True),
        Cell(found.digests[0] if found.digests else "–", code=True),
        Cell(found.digest or "–", code=True),
    ]


def command(
    case: Case, contender: Contender | None, seeds: Sequence[int], more: Sequence[str] = ()
) -> list[str]:
    """The words of the command that repeats a case, with `more` overrides; None leaves the
    controllers of the scenario.
    """
    words = ["anabranch", "run", case.scenario]
    words += ["--controller", contender.text] if contender else []
    words += [word for override in (*case.overrides, *more) for word in ("--set", override)]
    return [*words, *seed_words(seeds_of(case, seeds))]


def seed_words(seeds: Sequence[int]) -> list[str]:
    """The options that give seeds which follow one another; of others the first alone."""
    count = len(seeds) if consecutive(seeds) else 1
    return ["--seed", str(seeds[0]), "--repeat", str(count)]


def picture(entry: Entry) -> str:
    """The figure of a criterion as SVG; empty if no case has a value."""
    unit = entry.criterion.unit
    rows, names = [], dict.fromkeys([entry.controller, *entry.rows[0].references])
    for row in entry.rows:
        found: dict[str, Measured | None] = {**row.references, entry.controller: row.measured}
        found |= {"theory": row.theory, "linux": row.linux}
        shown = {
            name: one.interval.times(unit.factor)
            for name, one in found.items()
            if one is not None and one.interval is not None and np.isfinite(one.interval.mean)
        }
        low, high = row.bound
        rows.append(Dots(row.case.name, shown, low * unit.factor, high * unit.factor))
    if not any(row.values for row in rows):
        return ""
    label = f"{entry.criterion.title}, {unit.name}" if unit.name else entry.criterion.title
    return svg(cases(rows, [*names, *WORLDS], label=label), last=True)


def answered(entries: Sequence[Entry]) -> Section:
    """The requirements of the RFC, with the criteria that answer each."""
    found, known = by_name(entries), requirements()
    rows: list[list[str | Cell]] = []
    for number in known.sections:
        own = known.under(number)
        if own:
            rows.append([Cell(known.heading(number), columns=3, heading=True)])
            rows += [[one.level, one.text, answer(one, found)] for one in own]
    text = (
        "Every sentence of RFC 9743 with a key word of BCP 14, and the advice of sections that have none. Criteria that answer "
        "it stand in the last column with their verdicts, else the reason why no run can."
    )
    added: list[list[str | Cell]] = [
        [name, why, _verdict(found[name]) if name in found else Cell("–")]
        for name, why in known.additions.items()
    ]
    tables = [
        Table("Requirements by section", ["level", "requirement", "answer"], rows),
        Table("Criteria that the RFC does not ask for", ["criterion", "reason", "verdict"], added),
    ]
    return Section("Requirements of RFC 9743", text, tables)


def _verdict(entry: Entry) -> Cell:
    """The verdict on a criterion."""
    return Cell(entry.verdict, entry.verdict)


def answer(requirement: Requirement, found: Mapping[str, Entry]) -> Cell:
    """What answers a requirement."""
    if not requirement.criteria:
        return Cell("not_evaluated", "not_evaluated", note=requirement.not_evaluated)
    own = [found[name] for name in requirement.criteria if name in found]
    if not own:
        names = ", ".join(requirement.criteria)
        return Cell("not_evaluated", "not_evaluated", note=f"because it was left out: {names}")
    named = ", ".join(f"{one.criterion.name} {one.verdict.replace('_', ' ')}" for one in own)
    verdict = worst([one.verdict for one in own])
    return Cell(verdict, verdict, note=named)
