"""The draft's tables again: published, fixed point, optima and simulation side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...statistics import Interval, interval, judge
from ..laboratory import Laboratory
from ..row import UNKNOWN, Row
from . import oracle
from .paper import PAPER, SIZES, scenario_a, scenario_c
from .tables import mbps

UNCOUPLED = "uncoupled"


@dataclass(frozen=True)
class _Entry:
    """Source of a row."""

    configuration: str
    scenario: str
    setting: str
    file: str
    overrides: tuple[str, ...]
    controller: str | None
    users: str
    claim: str = ""
    """Empty where the document prints no rate."""
    key: str = ""


def _entries() -> Iterator[_Entry]:
    """Every published cell that is a rate, and the same under uncoupled control."""
    for n1 in SIZES:
        yield from _of_a(n1)
        yield from _of_c(n1)
    for when, file in (("before", "scenario-b-before"), ("after", "scenario-b")):
        yield from _of_b(when, file)


def _of_a(n1: int) -> Iterator[_Entry]:
    """Tables 1 and 4."""
    where = "A", f"N1 = {n1}"
    for users in ("type1", "type2"):
        key = f"{users}_n{n1}"
        before = *where, "scenario-a-before", scenario_a(n1), None, users
        yield _Entry(f"a-before-{n1}", *before, "table1.single_path", key)
        for law, claim in (
            (UNCOUPLED, ()),
            ("lia", (f"table1.n{n1}", users)),
            ("olia", ("table4.olia", key)),
        ):
            yield _Entry(f"a-{law}-{n1}", *where, "scenario-a", scenario_a(n1), law, users, *claim)


def _of_b(when: str, file: str) -> Iterator[_Entry]:
    """Tables 2 and 5."""
    for users in ("red", "blue"):
        lia, olia = (f"table2.{when}", users), ("table5.olia", f"{users}_{when}")
        for law, claim in ((UNCOUPLED, ()), ("lia", lia), ("olia", olia)):
            setting = f"{when} Red's upgrade"
            yield _Entry(f"b-{when}-{law}", "B", setting, file, (), law, users, *claim)


def _of_c(n1: int) -> Iterator[_Entry]:
    """Tables 3 and 6."""
    for users, key in (("multipath", "multipath"), ("single-path", "single_path")):
        lia, olia = (f"table3.n{n1}", key), ("table6.olia", f"{key}_n{n1}")
        for law, claim in ((UNCOUPLED, ()), ("lia", lia), ("olia", olia)):
            where = "C", f"N1 = {n1}", "scenario-c", scenario_c(n1)
            yield _Entry(f"c-{law}-{n1}", *where, law, users, *claim)


def rows(lab: Laboratory) -> list[Row]:
    """A row for each class in each configuration of the tables that has been run."""
    found = [_row(lab, entry) for entry in _entries() if entry.configuration in lab.results]
    order = {name: index for index, name in enumerate(("tcp", UNCOUPLED, "lia", "olia"))}
    return sorted(found, key=lambda r: (r.scenario, r.setting, order[r.controller]))


def _row(lab: Laboratory, entry: _Entry) -> Row:
    claim = PAPER.claims[f"khalili.{entry.claim}"] if entry.claim else None
    worlds = [lab] if lab.beside is None else [lab.beside, lab]
    rates = {
        own.world.name: interval(mbps(own, entry.configuration, entry.users))
        if entry.configuration in own.results
        else UNKNOWN
        for own in worlds
    }
    judged = rates[lab.world.name]
    optimum = oracle.optimum(entry.file, entry.overrides)
    probing = oracle.optimum_with_waits(entry.file, entry.overrides)
    return Row(
        scenario=entry.scenario,
        setting=entry.setting,
        controller=entry.controller or "tcp",
        users=entry.users,
        published=float(claim.expected[entry.key]["value"]) if claim else None,
        fixed_point=oracle.fixed_point(entry.file, entry.controller, entry.overrides)[entry.users],
        optimum=optimum[entry.users],
        probing_optimum=probing[entry.users],
        rates=rates,
        goodput=interval(mbps(lab, entry.configuration, entry.users, "goodput_bps")),
        verdict=judge(judged, *claim.band(entry.key)) if claim else None,
        configuration=entry.configuration,
        claim=claim.id if claim else "",
        key=entry.key,
        band=claim.band(entry.key) if claim else None,
    )


def sensitivity(lab: Laboratory) -> list[tuple[str, dict[str, Interval]]]:
    """Effect of open parameters: for each variant the rate of the harmed class in each
    configuration.

    Type 2 users in scenario A, single-path users in C; configurations are called "A 10 lia" with
    N1.
    """
    table: dict[str, dict[str, Interval]] = {}
    for name in PAPER.sensitivity:
        if name not in lab.results:
            continue
        variant, scenario, law, n1 = name.split(" | ")
        harmed = {"a": "type2", "c": "single-path"}[scenario]
        value = lab[name].mean(harmed)
        configuration = f"{scenario.upper()} {n1} {law}"
        table.setdefault(variant, {})[configuration] = Interval(
            value.mean / 1e6, value.half / 1e6, value.n
        )
    return list(table.items())
