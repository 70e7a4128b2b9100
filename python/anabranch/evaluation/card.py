"""The first page of a dossier: a summary that can stand alone, and the matrix of several."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from .. import _core
from ..controller import outside
from ..report import Card, Cell, Report, Section, Table
from .criterion import Criterion, Level
from .entry import Entry, bound_text, interval_text, printed
from .evaluating import Evaluation
from .goals import Verdict
from .planning import Contender
from .requirements import requirements

LEVELS: tuple[Level, ...] = get_args(Level)
COUNTED: dict[Verdict, str] = {
    "meets": "met",
    "misses": "missed",
    "undecided": "undecided",
    "not_evaluated": "not evaluated",
}
"""Words of verdicts behind a number."""
READING = (
    "A case meets its goal if the whole 95 % interval over replications lies inside, misses it if the whole lies outside, "
    "and is undecided otherwise. For a goal relative to Reno and CUBIC, that is not the printed interval, but that of "
    "differences in pairs of equal seeds. A criterion has the verdict of its worst case, and the value is that of the case "
    "which decides. RFC 9743 has no thresholds (section 5), and most of its MUSTs ask for an evaluation: the goals are "
    "Anabranch's, for what the RFC says must or should be evaluated; "
)
HERE = "the section of each criterion gives the goal with its reason."
THERE = "dossiers give the goals with their reasons."


def card(evaluation: Evaluation, contender: Contender) -> Card:
    """The summary of a controller."""
    own = evaluation.of(contender.label)
    facts = {
        "controller": described(contender),
        "evaluated by": "the criteria of RFC 9743 (BCP 133), as Anabranch runs them",
        "version": _core.__version__,
        "seeds": seeds_text(evaluation.seed_list),
    }
    facts |= {level: counts_text(own, level) for level in LEVELS}
    if alone := [one for one in own if all(row.same_as for row in one.rows)]:
        facts["of these Reno's"] = f"{counts_text(alone)}, with one path in every case"
    facts["hash of its runs"] = whole_digest(own)
    rows: list[list[str | Cell]] = [
        [
            one.criterion.section,
            Cell(one.criterion.title, link=f"#section-{number}"),
            one.criterion.level,
            Cell(
                interval_text(row.measured.interval, one.criterion.unit),
                note="Reno's" if row.same_as else row.measured.why if row.measured.raised else None,
            ),
            row.case.name,
            bound_text(row, one.criterion.unit),
            Cell(one.verdict, one.verdict),
        ]
        for number, one, row in ((k, one, one.deciding) for k, one in enumerate(own, start=1))
    ]
    head = ["section", "criterion", "level", "value", "in the case", "goal", "verdict"]
    caption = "Criteria in the order of the RFC, each with mean ± half of the 95 % interval"
    missed = missed_musts(own)
    notes = [
        READING + HERE,
        f"Misses goals of level MUST: {missed}." if missed else "",
        one_path_text(own),
        incomplete_text(evaluation),
    ]
    return Card(facts, [Table(caption, head, rows)], "\n\n".join(filter(None, notes)))


def one_path_text(entries: Sequence[Entry]) -> str:
    """Says how many cases a law leaves to Reno; empty if none."""
    rows = [row for one in entries for row in one.rows]
    count = sum(bool(row.same_as) for row in rows)
    if not count:
        return ""
    return (
        f"{count} of the {len(rows)} cases have one path, where a coupled law is Reno. There the law is not consulted, and the "
        "values are Reno's: they say nothing about the coupling."
    )


def described(contender: Contender) -> str:
    """Name and formula of a controller."""
    if outside(contender.given):
        return f"{contender.label}, a class in Python"
    named = _core.controller(contender.text)
    name = contender.label if named["written"] else contender.text
    return f"{name}: {named['formula']}" if named["formula"] else name


def seeds_text(seeds: Sequence[int]) -> str:
    """Seeds as people write them."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def counts_text(entries: Sequence[Entry], level: Level | None = None) -> str:
    """How many criteria of a level have which verdict."""
    counts = Counter(
        one.verdict for one in entries if level is None or one.criterion.level == level
    )
    found = [f"{counts[verdict]} {word}" for verdict, word in COUNTED.items() if counts[verdict]]
    return ", ".join(found) or "none"


def missed_musts(entries: Sequence[Entry]) -> str:
    """Names of the criteria of level MUST whose goals are missed."""
    return ", ".join(
        one.criterion.name
        for one in entries
        if one.criterion.level == "MUST" and one.verdict == "misses"
    )


def incomplete_text(evaluation: Evaluation) -> str:
    """Says that an interrupt left rows out."""
    return (
        "The evaluation was interrupted; rows say where no run was made." * evaluation.interrupted
    )


def whole_digest(entries: Sequence[Entry]) -> str:
    """A hash over the digests of all runs of a controller."""
    digests = [row.measured.digest for one in entries for row in one.rows]
    return hashlib.blake2b("\n".join(digests).encode(), digest_size=8).hexdigest()


def value_text(entry: Entry) -> str:
    """The value of the case that decides, with the name of the case if there are several."""
    row = entry.deciding
    text = interval_text(row.measured.interval, entry.criterion.unit)
    return f"{text} ({row.case.name})" if len(entry.rows) > 1 else text


def goal_of(criterion: Criterion) -> str:
    """The goal in words, with its unit."""
    return criterion.goal.text(lambda value: printed(value, criterion.unit))


def file_names(labels: Sequence[str]) -> dict[str, str]:
    """A name of a page for each controller: letters that every system allows, and no two alike."""
    found: dict[str, str] = {}
    for label in labels:
        stem = re.sub(r"[^A-Za-z0-9._+-]+", "-", label).strip("-.") or "controller"
        stem = f"{stem}-controller" if stem.lower() == "index" else stem
        taken = {name.lower() for name in found.values()}
        number, name = 1, f"{stem}.html"
        while name.lower() in taken:
            number += 1
            name = f"{stem}-{number}.html"
        found[label] = name
    return found


def index(evaluation: Evaluation) -> Report:
    """The page of several controllers: criteria against controllers."""
    names = evaluation.names
    files = file_names(names)
    found = {(one.criterion.name, one.controller): one for one in evaluation.entries}
    rows: list[list[str | Cell]] = []
    chapter = ""
    for number, criterion in enumerate(evaluation.criteria, start=1):
        above = ".".join(criterion.section.split(".")[:2])
        if above != chapter:
            chapter = above
            heading = requirements().heading(above)
            rows.append([Cell(heading, columns=len(names) + 3, heading=True)])
        cells = [
            _linked(found[criterion.name, name], f"{files[name]}#section-{number}")
            for name in names
        ]
        rows.append(
            [criterion.section, Cell(criterion.title, note=criterion.name), criterion.level, *cells]
        )
    own = {name: evaluation.of(name) for name in names}
    counts: list[list[str | Cell]] = [
        [level, *(counts_text(own[name], level) for name in names)] for level in LEVELS
    ]
    linked: list[list[str | Cell]] = [
        [Cell(name, note="dossier", link=files[name]), missed_musts(own[name]) or "none"]
        for name in names
    ]
    sections = [
        Section(
            "Criteria",
            READING + THERE,
            [
                Table(
                    "Verdicts, with the value that decides",
                    ["section", "criterion", "level", *names],
                    rows,
                )
            ],
        ),
        Section("Counts", "", [Table("Criteria by level and verdict", ["level", *names], counts)]),
        Section(
            "Missed",
            "",
            [
                Table(
                    "Goals of level MUST that each controller misses",
                    ["controller", "criteria"],
                    linked,
                )
            ],
        ),
    ]
    return Report(
        "Controllers by the criteria of RFC 9743",
        incomplete_text(evaluation),
        sections,
        {"version": _core.__version__, "seeds": seeds_text(evaluation.seed_list)},
    )


def _linked(entry: Entry, address: str) -> Cell:
    """A verdict that leads to its section."""
    return Cell(entry.verdict, entry.verdict, note=value_text(entry), link=address)


def by_name(entries: Sequence[Entry]) -> Mapping[str, Entry]:
    """Entries of one controller by criterion."""
    return {one.criterion.name: one for one in entries}
