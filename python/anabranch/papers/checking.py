"""Checks a whole paper before anything runs: cells, claims, explanations, tables and figures."""

from __future__ import annotations

from .._core import ScenarioError
from ..offers import lookup
from .language import UNKNOWN, Environment, Expression, Problem
from .library import plan_of
from .paper import Paper
from .sections import trace as trace_section
from .tabled import THEORY, entries
from .tracing import Trace, functions


def check(paper: Paper) -> None:
    """Raises LedgerError for the first thing that is wrong, with its file and line."""
    _plans(paper)
    env = paper.environment(functions(paper.measures, Trace(paper.cells)), tracing=True)
    for id in paper.judged:
        _ = paper.judged[id]
    _ = (paper.experiments, paper.measured, paper.sampled, paper.shown)
    _explanations(paper, env)
    _quick(paper)
    _rates(paper, env)
    _sensitivity(paper)
    for part in paper.content.each("section"):
        trace_section(part, env)


def _plans(paper: Paper) -> None:
    for name, one in {**paper.cells, **paper.sensitivity}.items():
        try:
            plan_of(one)
        except (ScenarioError, ImportError, OSError, ValueError, TypeError) as error:
            raise paper.part_of(name).place.error(f"the cell {name}: {error}") from None


def _explanations(paper: Paper, env: Environment) -> None:
    """Checks those that no claim names, with unknown arguments; the others have been traced."""
    named = {reason.name for one in paper.judged.values() for reason in one.because}
    for part in paper.content.each("explanation"):
        one = paper.explanations[part.table["name"].partition("(")[0].strip()]
        try:
            if one.name not in named:
                one.traced([UNKNOWN] * len(one.parameters), env)
        except Problem as error:
            raise part.place.error(error) from None


def _quick(paper: Paper) -> None:
    for part in paper.content.each("quick"):
        for number, id in enumerate(part.table.get("claims", ())):
            try:
                lookup("claim", id, paper.claims, "the claims are")
            except KeyError as error:
                raise part.place.error(error.args[0], "claims", number) from None


def _rates(paper: Paper, env: Environment) -> None:
    """The columns of theory are expressions of the cell and the class of a row."""
    theory = paper.content.merged("report").get("theory", {})
    for part, entry in entries(paper):
        names = Environment({"cell": entry["cell"], "users": entry["users"]}, env)
        try:
            names.evaluated(Expression.read("rate(cell, users)"))
        except Problem as error:
            raise part.place.error(error, "users") from None
        if missing := [name for name in THEORY if name not in theory]:
            raise part.place.error(f"[report.theory] has no {', '.join(missing)} for this row")
        for report in paper.content.each("report"):
            for name in report.table.get("theory", {}):
                try:
                    names.evaluated(Expression.read(theory[name]))
                except Problem as error:
                    raise report.place.error(error, "theory", name) from None


def _sensitivity(paper: Paper) -> None:
    parts = paper.content.each("sensitivity")
    if not paper.varied:
        return
    every = {**paper.cells, **paper.sensitivity}
    env = paper.environment(functions(paper.measures, Trace(every)), tracing=True)
    table = paper.content.merged("sensitivity")
    place = next(part.place for part in parts if "variant" in part.table)
    for name, one in paper.varied.items():
        names = Environment({"cell": name, "base": one.base}, env)
        for key, text in (
            ("value", Expression.read(table["value"])),
            ("column", Expression.template(table.get("column", "{base}"))),
        ):
            try:
                names.evaluated(text)
            except Problem as error:
                raise place.error(error, key) from None
