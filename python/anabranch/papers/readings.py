"""Functions that every ledger has beside those of `library`: of plans, classes and samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..records import plain
from ..result import Result
from ..scenario import shipped
from ..statistics import jain
from .judging import Nothing
from .laboratory import Laboratory
from .library import BASIC, Cell, Floats, Metric, Users, basic, plan_of, without_runs

# Plans.


@basic
@without_runs
def planned(
    lab: Laboratory, cell: Cell, what: Literal["classes", "links", "media", "nodes"], key: str
) -> dict[str, Any]:
    """A field of each class, link, medium or node in the plan of a cell, by their names.

    A key with dots is that of a part, such as "queue.limit_packets". None for those without it;
    raises ValueError if all are.
    """
    found = {one.name: one for one in getattr(plan_of(lab.configurations[cell]), what)}
    for field in key.split("."):
        if not any(hasattr(one, field) for one in found.values()):
            raise ValueError(f"none of the {what} of {cell} has {key}")
        found = {name: getattr(one, field, None) for name, one in found.items()}
    return {name: plain(one) for name, one in found.items()}


@basic
@without_runs
def routes(lab: Laboratory, cell: Cell) -> dict[str, list[list[str]]]:
    """The links of each path of each class of a cell."""
    plan = plan_of(lab.configurations[cell])
    return {c.name: [[plan.links[i].name for i in p.links] for p in c.paths] for c in plan.classes}


@basic
def scenarios_of(document: str) -> list[str]:
    """The shipped scenarios of a document."""
    return [name for name in shipped() if name.startswith(f"{document}/")]


# What has been run.


@basic
def those_run(lab: Laboratory, cells: Sequence[str]) -> list[str]:
    """Those of some cells that have been run. What names cells in this way alone does not need
    them.
    """
    return [cell for cell in cells if cell in lab.results]


@basic
def nothing(why: str) -> Nothing:
    """There is nothing to judge, with the reason."""
    return Nothing(why)


# Results.


@basic
def of_class(lab: Laboratory, cell: Cell, users: Users, metric: Metric) -> Floats:
    """A metric of a class as a whole."""
    index = lab[cell].classes.index(users)
    return np.array([run.classes.column(metric)[index] for run in lab[cell].runs], dtype=float)


@basic
def station(lab: Laboratory, cell: Cell, medium: str, name: str, metric: Metric) -> Floats:
    """A metric of a station of a medium."""
    return lab[cell].station(medium, name, metric)


HOW: dict[str, Callable[..., Any]] = {
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "median": np.median,
    "spread": np.std,
    "sum": np.sum,
    "jain": jain,
}
"""Ways to one number of several."""


@basic
def by_seed(values: Floats, how: str = "mean") -> Floats:
    """One number for each seed of values of shape (seeds, ...): their mean, min, max, median, sum,
    standard deviation ("spread"), or Jain's index.
    """
    rows = np.ascontiguousarray(np.reshape(values, (len(values), -1)))
    return np.asarray(HOW[how](rows, axis=1), dtype=float)


# Series over time.


def times_s(result: Result) -> Floats:
    """When samples were taken, the same in every replication, shape (samples,)."""
    return np.asarray(result.runs[0].series.t_s, dtype=float)


def series(result: Result, users: str, metric: str) -> Floats:
    """A series of the paths of a class, shape (seeds, samples, paths of all users, a user's
    together).
    """
    found = []
    for one in result.runs:
        own = np.asarray(one.flows.class_)[np.asarray(one.paths.flow, dtype=int)] == users
        found.append(np.asarray(one.series.paths.column(metric), dtype=float)[:, own])
    return np.stack(found)


@basic
def over_time(lab: Laboratory, cell: Cell, users: Users, metric: Metric) -> Floats:
    """A metric of the paths of a class over time, shape (seeds, samples, paths of all users, a
    user's together). The cell needs `series`.
    """
    return series(lab[cell], users, metric)


@basic
def within(lab: Laboratory, cell: Cell, start_s: float, end_s: float) -> NDArray[np.bool_]:
    """Which samples were taken from a time to another, shape (samples,)."""
    t_s = times_s(lab[cell])
    return np.asarray((t_s >= start_s) & (t_s < end_s))


__all__ = [
    "BASIC",
    "by_seed",
    "nothing",
    "of_class",
    "over_time",
    "planned",
    "series",
    "times_s",
    "within",
]
