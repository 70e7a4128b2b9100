"""Advice as a page that can be sent on: the verdict first, then what it rests on."""

from __future__ import annotations

import math

from ..plot.cases import Dots, cases
from ..report import Card, Cell, Figure, Report, Section, Table, render
from ..statistics import RATE, column, significant
from .judging import KEPT, Advice, Case
from .links import Link
from .saying import (
    NOTES,
    all_diseases,
    measured_cells,
    of_settings,
    settings_cells,
    settings_title,
    steps,
    unknown,
    verdict,
)

APART, JOINT = "the links share nothing", "all links share a bottleneck"


def card(advice: Advice) -> str:
    """The page as HTML in one piece."""
    facts = {link.name: _described(link, advice.situation.up) for link in advice.situation.links}
    situation = "data is sent" if advice.situation.up else "data is received"
    return render(
        Report(
            title="Which congestion control for these links",
            intro=verdict(advice),
            card=Card(
                {**facts, "direction": situation, "replications": str(advice.single_bps.n)},
                [_candidates(advice)],
                NOTES,
            ),
            sections=[_rates(advice), _settings(advice), *_measured(advice), *_lists(advice)],
        )
    )


def _described(link: Link, up: bool) -> str:
    """A link in one line."""
    parts = [
        f"{significant(link.rate_bps(up) / 1e6)} Mb/s",
        f"round trip {significant(1e3 * link.trip_s)} ms",
        f"queue {significant(1e3 * link.wait_s(up), 2)} ms",
        f"random loss {significant(1e2 * (link.loss or 0.0), 2)} %",
        "others assumed" if link.others is None else f"{link.others} TCPs of others",
    ]
    return ", ".join(parts)


def _cases(advice: Advice) -> list[tuple[str, list[Case]]]:
    """The cases that were looked at, with the candidates in order."""
    found = [
        (APART, [one.apart for one in advice.outcomes if one.apart]),
        (JOINT, [one.joint for one in advice.outcomes if one.joint]),
    ]
    return [(title, rows) for title, rows in found if rows]


def _candidates(advice: Advice) -> Table:
    """A row for each candidate, a group of columns for each case."""
    names = [one.candidate.controller for one in advice.outcomes]
    head, columns = ["controller"], list[list[str | Cell]]()
    for title, rows in _cases(advice):
        short = "apart" if title == APART else "shared"
        head += [f"mine Mb/s, {short}", f"others %, {short}"]
        columns += [
            list(column([row.rate_bps for row in rows], RATE)),
            [Cell(str(row.kept.times(100.0)), "misses" if row.harms else "meets") for row in rows],
        ]
    head.append("RTT p95 ms")
    delays = [one.case(advice.shared).delay_s for one in advice.outcomes]
    columns.append([significant(1e3 * delay, 2) for delay in delays])
    advised = advice.best.candidate.controller
    lines = [
        [f"→ {name}" if name == advised else name, *(cells[place] for cells in columns)]
        for place, name in enumerate(names)
    ]
    goal = f"others keep {100 * KEPT:g} % of what they have beside one TCP, or more"
    return Table(f"Candidates; a candidate meets if {goal}", head, lines)


def _rates(advice: Advice) -> Section:
    """A picture of what the connection gets, and what others keep."""
    found = _cases(advice)
    names = [one.candidate.controller for one in advice.outcomes]

    def drawn(label: str, of: str, factor: float, low: float = math.inf) -> Figure:
        rows = [
            Dots(
                name,
                {title: getattr(rows[place], of).times(factor) for title, rows in found},
                low,
            )
            for place, name in enumerate(names)
        ]
        picture = cases(rows, [title for title, _ in found], label=label)
        return Figure(f"{label}: 95 % intervals over replications", picture)

    figures = [
        drawn("rate of the connection, Mb/s", "rate_bps", 1e-6),
        drawn("what others keep, %", "kept", 100.0, 100.0 * KEPT),
    ]
    return Section("What you get and what others keep", figures=figures)


def _measured(advice: Advice) -> list[Section]:
    """What was measured of the links, if it was."""
    if not advice.measured:
        return []
    cells = measured_cells(advice.measured)
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    table = Table("Estimates, with the ends of their intervals", list(cells), rows)
    return [Section("What was measured", tables=[table])]


def _settings(advice: Advice) -> Section:
    """The advised candidate with other schedulers and receive buffers."""
    cells = settings_cells(advice)
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    table = Table(settings_title(advice), list(cells), rows)
    return Section("Packet scheduler and receive buffer", of_settings(advice), tables=[table])


def _lists(advice: Advice) -> list[Section]:
    """Commands, diseases, and what is not known."""
    code = steps(advice)
    lines = [
        *code,
        ("What is wrong with the links", all_diseases(advice)),
        ("What is not known", unknown(advice)),
    ]
    return [
        Section(
            title,
            tables=[Table("", [""], [[Cell(line, code=(title, told) in code)] for line in told])],
        )
        for title, told in lines
        if told
    ]
