"""The figures and tables that a ledger has for the report, drawn from the cells that have been run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import plot
from ..report import Figure, Section, Table
from .grid import filled
from .judging import Vocabulary, quantity
from .laboratory import Laboratory, NotRun
from .language import Environment, Expression, Problem, shown
from .reading import Part
from .tracing import functions

FEWEST = 2
"""Points of a curve; fewer are not drawn."""

FIGURE = {"panel", "title", "x", "y"}
"""Keys of a figure that is not drawn by a measure."""

EXPRESSIONS = ("rows", "draw", "ticks", "curves", "lines", "bands")
"""Keys of tables, figures and panels that are expressions."""

ROWS, CURVES = 1, 2
"""A table leaves out rows whose cells have not been run, a figure points of curves."""


def sections(paper: Vocabulary, lab: Laboratory) -> list[Section]:
    """The sections of a ledger, without what needs cells that have not been run with all seeds.

    Raises LedgerError for an expression that has no value for another reason.
    """
    most = max((len(result.runs) for result in lab.results.values()), default=0)
    whole = {name: result for name, result in lab.results.items() if len(result.runs) == most}
    env = paper.environment(functions(paper.measures, replace(lab, results=whole)))
    found = []
    for part in paper.content.each("section"):
        try:
            section = Section(
                part.table["title"],
                filled(part.table.get("text", ""), env),
                [one for table in part.table.get("table", ()) for one in _tables(table, env)],
                [one for figure in part.table.get("figure", ()) for one in _figures(figure, env)],
            )
        except Problem as error:
            raise part.place.error(error) from None
        if section.tables or section.figures:
            found.append(section)
    return found


def trace(part: Part, env: Environment) -> None:
    """Checks the expressions of a section before anything has been run. Raises LedgerError."""
    try:
        env.evaluated(Expression.template(part.table.get("text", "")))
    except Problem as error:
        raise part.place.error(error, "text") from None
    for key in ("table", "figure"):
        for number, entry in enumerate(part.table.get(key, ())):
            try:
                for one in _expressions(entry):
                    env.evaluated(one)
                if key == "figure" and "draw" not in entry and not entry.keys() >= FIGURE:
                    raise Problem(f"a figure has draw, or all of {', '.join(sorted(FIGURE))}")
            except Problem as error:
                raise part.place.error(error, key, number) from None


def _expressions(entry: Mapping[str, Any]) -> list[Expression]:
    """The expressions and templates of a table, a figure or a panel."""
    texts = [entry[key] for key in EXPRESSIONS if isinstance(entry.get(key), str)]
    templates = [entry[key] for key in ("caption", "title") if key in entry]
    found = [Expression.read(text) for text in texts]
    found += [Expression.template(text) for text in (*templates, *entry.get("head", ()))]
    for panel in entry.get("panel", ()):
        found += _expressions(panel)
    return found


def _value(text: str, env: Environment, skips: int = 0) -> Any:
    """The value of an expression; None if it needs a cell that has not been run. In `skips` loops
    inside one another the entries that do are left out.
    """
    inner = Environment({}, env)
    inner.skips = skips
    try:
        return inner.evaluated(Expression.read(text))
    except NotRun:
        return None


def _tables(entry: Mapping[str, Any], env: Environment) -> list[Table]:
    rows = _value(entry["rows"], env, ROWS)
    if not rows:
        return []
    body = [[shown(cell) for cell in row] for row in rows]
    head = [filled(text, env) for text in entry["head"]]
    return [Table(filled(entry["caption"], env), head, body)]


def _figures(entry: Mapping[str, Any], env: Environment) -> list[Figure]:
    caption = filled(entry["caption"], env)
    if "draw" in entry:
        drawing = _value(entry["draw"], env)
        return [Figure(caption, drawing)] if drawing is not None else []
    panels = [panel for one in entry["panel"] for panel in _panels(one, env)]
    if not panels:
        return []
    ticks = entry.get("ticks")
    drawing = plot.curves(
        panels,
        title=filled(entry["title"], env),
        labels=(entry["x"], entry["y"]),
        log=entry.get("log", False),
        ticks=_value(ticks, env) if isinstance(ticks, str) else ticks,
    )
    return [Figure(caption, drawing)]


def _panels(entry: Mapping[str, Any], env: Environment) -> list[plot.Panel]:
    curves = [
        plot.Curve(str(label), list(points), [quantity(value) for value in points.values()])
        for label, points in _points(entry["curves"], env)
        if len(points) >= FEWEST
    ]
    if not curves:
        return []
    lines = [
        plot.Line(label, list(points), [quantity(value).mean for value in points.values()])
        for label, points in _points(entry.get("lines", "{}"), env)
        if points
    ]
    bands = [
        plot.Band(label, list(points), *(list(ends) for ends in zip(*points.values(), strict=True)))
        for label, points in _points(entry.get("bands", "{}"), env)
        if points
    ]
    return [plot.Panel(filled(entry.get("title", ""), env), curves, lines, bands)]


def _points(text: str, env: Environment) -> Sequence[tuple[str, Mapping[float, Any]]]:
    """Points by label."""
    return list((_value(text, env, CURVES) or {}).items())
