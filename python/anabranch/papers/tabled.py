"""The tables that a ledger asks for beside its claims: rates beside theory, and open parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..offers import lookup
from ..statistics import Interval, interval, judge
from .grid import expanded, filled, rounds
from .judging import Vocabulary, quantity
from .laboratory import Configuration, Laboratory
from .language import Environment, Expression, Problem
from .reading import Part
from .row import UNKNOWN, Row
from .tracing import functions

THEORY = ("fixed_point", "optimum", "probing")
"""The columns of theory, by their expressions in [report.theory]."""


def rows(paper: Vocabulary, lab: Laboratory) -> list[Row]:
    """A row for each entry of [[rates]] whose cell has been run, by scenario and setting."""
    own = replace(lab, configurations=paper.cells | lab.configurations)
    env = paper.environment(functions(paper.measures, own))
    found = [
        _row(paper, lab, entry, env) for _, entry in entries(paper) if entry["cell"] in lab.results
    ]
    return sorted(found, key=lambda row: (row.scenario, row.setting))


def entries(paper: Vocabulary) -> Iterator[tuple[Part, dict[str, str]]]:
    """The entries of [[rates]] with their texts filled in. Raises LedgerError for a cell or an
    expectation that there is not.
    """
    for part in paper.content.each("rates"):
        try:
            for values in rounds(part.table.get("for", {}), paper.pure):
                inner = Environment(values, paper.pure)
                texts = part.table.items()
                entry = {key: filled(text, inner) for key, text in texts if key != "for"}
                lookup("cell", entry["cell"], paper.cells, "the cells are")
                if "claim" in entry:
                    _expected(paper, entry)
                yield part, entry
        except KeyError as error:
            raise part.place.error(error.args[0]) from None
        except Problem as error:
            raise part.place.error(error) from None


def _expected(paper: Vocabulary, entry: Mapping[str, str]) -> None:
    """Checks that an expectation can stand in a table. Raises Problem and KeyError."""
    id = lookup("claim", entry["claim"], paper.claims, "the claims are")
    expected = paper.claims[id].expected
    key = lookup(f"expectation of {id}", entry.get("expected", ""), expected, "there are")
    one = expected[key]
    if not isinstance(one, Mapping) or not isinstance(one.get("value"), int | float):
        raise Problem(f"{key} of {id} has no number as its value")
    if "about" in one:
        raise Problem(f"{key} of {id} counts its band from `about`, and a table needs its ends")


def _row(paper: Vocabulary, lab: Laboratory, entry: Mapping[str, str], env: Environment) -> Row:
    cell, users, key = entry["cell"], entry["users"], entry.get("expected", "")
    claim = paper.claims[entry["claim"]] if "claim" in entry else None
    names = Environment({"cell": cell, "users": users}, env)
    theory = paper.content.merged("report").get("theory", {})
    predicted = {
        name: float(names.evaluated(Expression.read(theory[name])))
        for name in THEORY
        if name in theory
    }
    worlds = [lab] if lab.beside is None else [lab.beside, lab]
    rates = {
        own.world.name: interval(own[cell].rate(users) / 1e6) if cell in own.results else UNKNOWN
        for own in worlds
    }
    judged = rates[lab.world.name]
    return Row(
        scenario=entry["scenario"],
        setting=entry["setting"],
        controller=entry["controller"],
        users=users,
        published=float(claim.expected[key]["value"]) if claim else None,
        fixed_point=predicted["fixed_point"],
        optimum=predicted["optimum"],
        probing_optimum=predicted["probing"],
        rates=rates,
        goodput=interval(lab[cell].rate(users, "goodput_bps") / 1e6),
        verdict=judge(judged, *claim.band(key)) if claim else None,
        configuration=cell,
        claim=claim.id if claim else "",
        key=key,
        band=claim.band(key) if claim else None,
    )


@dataclass(frozen=True)
class Varied:
    """A cell of the table of open parameters."""

    variant: str
    base: str
    cell: Configuration


def varied(
    paper: Vocabulary, placed: Callable[[Configuration], Configuration]
) -> dict[str, Varied]:
    """The cells that vary open parameters, by name; `placed` finds files of the folder.

    Raises LedgerError.
    """
    found: dict[str, Varied] = {}
    for part in paper.content.each("sensitivity"):
        for number, row in enumerate(part.table.get("variant", ())):
            table = {"for": {}, **row, "name": f"{row['name']} | {{base}}"}
            try:
                for entry in expanded(table, paper.pure, paper.cells):
                    variant, base = entry.name.rsplit(" | ", 1)
                    one = placed(replace(entry.configuration, series=False))
                    found[entry.name] = Varied(variant, base, one)
            except Problem as error:
                raise part.place.error(error, "variant", number) from None
    return found


def moved(
    paper: Vocabulary, cells: Mapping[str, Varied], lab: Laboratory
) -> list[tuple[str, dict[str, Interval]]]:
    """For each variant the value of each of its cells that has been run."""
    table = paper.content.merged("sensitivity")
    found: dict[str, dict[str, Interval]] = {}
    for name, one in cells.items():
        if name in lab.results:
            own = lab.paired([name, one.base])  # an interrupt may leave one of them fewer seeds
            env = paper.environment(functions(paper.measures, own))
            inner = Environment({"cell": name, "base": one.base}, env)
            value: Any = inner.evaluated(Expression.read(table["value"]))
            column = filled(table.get("column", "{base}"), inner)
            found.setdefault(one.variant, {})[column] = quantity(value)
    return list(found.items())
