"""The draft's tables again: published, fixed point, optima and simulation side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...statistics import Interval, interval, judge
from ..laboratory import Laboratory
from ..row import Row
from . import oracle
from .paper import PAPER, SIZES, scenario_a, scenario_c
from .tables import mbps


@dataclass(frozen=True)
class _Entry:
    """Where a row comes from."""

    cell: str
    scenario: str
    setting: str
    file: str
    overrides: tuple[str, ...]
    controller: str | None
    users: str
    claim: str
    key: str


def _entries() -> Iterator[_Entry]:
    """Every published cell that is a rate, in the order of the tables."""
    for n1 in SIZES:
        of_a, of_c = scenario_a(n1), scenario_c(n1)
        for users in ("type1", "type2"):
            setting = f"N1 = {n1}"
            yield _Entry(
                f"a-before-{n1}",
                "A",
                setting,
                "scenario-a-before",
                of_a,
                None,
                users,
                "table1.single_path",
                f"{users}_n{n1}",
            )
            yield _Entry(
                f"a-lia-{n1}",
                "A",
                setting,
                "scenario-a",
                of_a,
                "lia",
                users,
                f"table1.n{n1}",
                users,
            )
            yield _Entry(
                f"a-olia-{n1}",
                "A",
                setting,
                "scenario-a",
                of_a,
                "olia",
                users,
                "table4.olia",
                f"{users}_n{n1}",
            )
        for users, key in (("multipath", "multipath"), ("single-path", "single_path")):
            setting = f"N1 = {n1}"
            yield _Entry(
                f"c-lia-{n1}", "C", setting, "scenario-c", of_c, "lia", users, f"table3.n{n1}", key
            )
            yield _Entry(
                f"c-olia-{n1}",
                "C",
                setting,
                "scenario-c",
                of_c,
                "olia",
                users,
                "table6.olia",
                f"{key}_n{n1}",
            )
    for when, file in (("before", "scenario-b-before"), ("after", "scenario-b")):
        for users in ("red", "blue"):
            setting = f"{when} Red's upgrade"
            yield _Entry(
                f"b-{when}-lia", "B", setting, file, (), "lia", users, f"table2.{when}", users
            )
            yield _Entry(
                f"b-{when}-olia",
                "B",
                setting,
                file,
                (),
                "olia",
                users,
                "table5.olia",
                f"{users}_{when}",
            )


def rows(lab: Laboratory) -> list[Row]:
    """A row for each published rate whose cell has been run."""
    found = [_row(lab, entry) for entry in _entries() if entry.cell in lab.results]
    order = {name: index for index, name in enumerate(("tcp", "lia", "olia"))}
    return sorted(found, key=lambda r: (r.scenario, r.setting, order.get(r.controller, 0)))


def _row(lab: Laboratory, entry: _Entry) -> Row:
    claim = PAPER.claims[f"khalili.{entry.claim}"]
    simulated = interval(mbps(lab, entry.cell, entry.users))
    return Row(
        scenario=entry.scenario,
        setting=entry.setting,
        controller=entry.controller or "tcp",
        users=entry.users,
        published=float(claim.expected[entry.key]["value"]),
        fixed_point=oracle.fixed_point(entry.file, entry.controller, entry.overrides)[entry.users],
        optimum=oracle.optimum(entry.file, entry.overrides)[entry.users],
        probing_optimum=oracle.optimum(entry.file, entry.overrides, probing=True)[entry.users],
        simulated=simulated,
        goodput=interval(mbps(lab, entry.cell, entry.users, "goodput_bps")),
        verdict=judge(simulated, *claim.band(entry.key)),
        cell=entry.cell,
    )


def sensitivity(lab: Laboratory) -> list[tuple[str, dict[str, Interval]]]:
    """What open parameters move: for each variant the rate of the harmed class in each cell.

    Type 2 users in scenario A, single-path users in C; cells are called "A 10 LIA" with N1.
    """
    table: dict[str, dict[str, Interval]] = {}
    for name in PAPER.sensitivity:
        if name not in lab.results:
            continue
        variant, scenario, law, n1 = name.split(" | ")
        harmed = {"a": "type2", "c": "single-path"}[scenario]
        value = lab[name].mean(harmed)
        cell = f"{scenario.upper()} {n1} {law.upper()}"
        table.setdefault(variant, {})[cell] = Interval(value.mean / 1e6, value.half / 1e6, value.n)
    return list(table.items())
