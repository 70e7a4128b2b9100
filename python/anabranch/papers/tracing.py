"""Checks the expressions of a ledger before anything runs, and finds the cells that they read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from .. import tables
from ..offers import lookup
from ..records import Table, meanings
from .laboratory import Configuration, Laboratory
from .language import UNKNOWN, Problem, Unknown
from .library import Measure, of_runs, plan_of

EVERY = [one for one in vars(tables).values() if isinstance(one, type) and issubclass(one, Table)]

METRICS: dict[str, Sequence[type[Table]]] = {
    "Metric": [one for one in EVERY if one is not Table],
    "FlowMetric": (tables.Flows,),
    "PathMetric": (tables.Paths, tables.EmulatedPaths),
    "LinkMetric": (tables.Links,),
}
"""The tables whose columns a metric can be, by the annotation."""

KINDS = re.compile(r"\b(Cell|Users|Link|PathNumber|(?:Flow|Path|Link)?Metric)\b")


def kind_of(annotation: Any) -> str:
    """What a parameter names: `Cell` for one and for several; empty for anything else.

    With postponed evaluation an annotation is a text.
    """
    alone = getattr(annotation, "__name__", "") if not get_args(annotation) else ""
    match = KINDS.search(annotation if isinstance(annotation, str) else alone or str(annotation))
    return match[1] if match else ""


class Trace:
    """The names of cells that calls have mentioned, in the order of their first mention."""

    def __init__(self, cells: Mapping[str, Configuration]) -> None:
        """Nothing has been read of `cells` yet."""
        self.cells = cells
        self.read: dict[str, None] = {}
        self.mentioned: set[str] = set()

    def function(self, name: str, measure: Measure) -> Callable[..., Any]:
        """A measure as it is called before anything has run: it checks what its arguments name."""
        signature = inspect.signature(measure)
        parameters = list(signature.parameters.values())[1:]
        kinds = {one.name: kind_of(one.annotation) for one in parameters}
        runs = not getattr(measure, "no_runs", False)

        def call(*values: Any, **named: Any) -> Unknown:
            try:
                bound = inspect.Signature(parameters).bind(*values, **named)
            except TypeError as error:
                takes = ", ".join(str(one).split(":")[0] for one in parameters)
                raise Problem(f"{name} takes ({takes}): {error}") from None
            bound.apply_defaults()
            for parameter in parameters:
                if parameter.name in bound.arguments:
                    value = bound.arguments[parameter.name]
                    self._checked(kinds[parameter.name], value, bound.arguments, runs)
            return UNKNOWN

        call.traces = True  # type: ignore[attr-defined]
        return call

    def _checked(self, kind: str, value: Any, others: Mapping[str, Any], runs: bool) -> None:
        """Checks an argument that names something. Raises Problem."""
        if value is UNKNOWN:
            return
        try:
            if kind == "Cell":
                for one in [value] if isinstance(value, str) else value:
                    if one is not UNKNOWN:
                        self._cell(one, runs)
            elif kind in METRICS:
                columns = {name for table in METRICS[kind] for name in meanings(table)}
                lookup("metric", value, columns, "docs/reference/metrics.md has them, such as")
            elif kind == "PathNumber":
                self._path(value, others)
            elif kind in ("Users", "Link") and isinstance(others.get("cell"), str):
                plan = plan_of(self.cells[others["cell"]])
                what, many = ("class", plan.classes) if kind == "Users" else ("link", plan.links)
                if value not in (names := [one.name for one in many]):
                    lookup(f"{what} of {others['cell']}", value, names, "there are")
                    raise Problem(
                        f"{value!r} is written otherwise in the scenario of {others['cell']}"
                    )
        except KeyError as error:
            raise Problem(str(error.args[0])) from None

    def _path(self, number: Any, others: Mapping[str, Any]) -> None:
        """Checks the number of a path where the class is known. Raises Problem."""
        cell, users = others.get("cell"), others.get("users")
        if number is None or not (isinstance(cell, str) and isinstance(users, str)):
            return
        for group in plan_of(self.cells[cell]).classes:
            if group.name == users and number not in range(len(group.paths)):
                last = len(group.paths) - 1
                raise Problem(
                    f"{users} of {cell} has no path {number!r}: paths count from 0 to {last}"
                )

    def _cell(self, name: Any, runs: bool) -> None:
        if name not in self.cells:
            lookup("cell", name, self.cells, "`anabranch list cells` shows them, such as")
            raise Problem(f"{name!r} is written otherwise in the cells")
        self.mentioned.add(name)
        if runs:
            self.read[name] = None


def functions(measures: Mapping[str, Any], lab: Laboratory | Trace) -> dict[str, Any]:
    """The measures by name as a laboratory calls them, or as a trace does."""
    found: dict[str, Any] = {}
    for name, one in measures.items():
        if not of_runs(one):
            found[name] = one
        elif isinstance(lab, Trace):
            found[name] = lab.function(name, one)
        else:
            found[name] = _with(lab, one)
    return found


def _with(lab: Laboratory, one: Measure) -> Callable[..., Any]:
    def call(*values: Any, **named: Any) -> Any:
        return one(lab, *values, **named)

    return call
