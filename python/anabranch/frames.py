"""Tidy pandas frames and xarray datasets of runs.

Tables and their units come from the types of a run. pandas and xarray are imported when they are
asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .offers import lookup
from .plan import Plan
from .records import Record, Table, hints, identifier, meanings
from .runs import Run
from .tables import Flows

if TYPE_CHECKING:
    import pandas
    import xarray

Columns = dict[str, Any]
"""Columns of one length by name."""


def _tables(record: type[Record], above: str = "") -> Iterator[tuple[str, type[Table]]]:
    """The tables in a record with their places, such as "series.paths"."""
    for name, hint in hints(record).items():
        if isinstance(hint, type) and issubclass(hint, Table):
            place = f"{above}{name}"
            if hasattr(hint, "PLACE"):
                yield place, hint
            yield from _tables(hint, f"{place}.")


TABLES: dict[str, type[Table]] = dict(_tables(Run))
"""The tables of a run, by their places."""


def places_of(metric: str) -> list[str]:
    """The tables that have a column."""
    return [place for place, table in TABLES.items() if metric in meanings(table)]


MATRICES: dict[str, str] = {
    place: place.removeprefix("series.").removesuffix("s")
    for place in TABLES
    if place.startswith("series.") and place.count(".") == 1 and place != "series.internals"
}
"""Tables over time, with one column for each path, flow, link, station or node; and that word."""


def frame(plan: Plan, runs: Sequence[Run], table: str) -> pandas.DataFrame:
    """A table of all runs as a frame; see `Result.to_frame`."""
    library = _optional("pandas")
    table = lookup("table", table, TABLES, "the tables are")
    parts = []
    for run in runs:
        _check(run, table)
        parts.append(library.DataFrame(columns_of(plan, run, table)))
        if run.has("seed"):
            parts[-1].insert(0, "seed", run.seed)
    found: pandas.DataFrame = library.concat(parts, ignore_index=True)
    units = {"t_s": "s", **_units(TABLES[table])}
    if table == "classes":
        units |= _units(Flows)
    found.attrs["units"] = {name: units[name] for name in found if units.get(name)}
    return found


def dataset(plan: Plan, runs: Sequence[Run], attributes: dict[str, str]) -> xarray.Dataset:
    """The series of all runs as a dataset; see `Result.to_xarray`."""
    library = _optional("xarray")
    for run in runs:
        _check(run, "series.paths")
    times = runs[0].series.t_s
    if any(not np.array_equal(run.series.t_s, times) for run in runs):
        raise ValueError(
            "the replications were sampled at different times, so they have no common time axis; "
            "to_frame('series.paths') has each with its own times"
        )
    seeds = [run.seed for run in runs]
    coordinates: dict[str, Any] = {"seed": seeds, "t_s": ("t_s", times, {"units": "s"})}
    variables = {}
    for place, entity in MATRICES.items():
        if not all(_has(run, place) for run in runs):
            continue
        labels = _coordinates(entity, OWNERS[place](plan, runs[0]))
        if not labels[entity]:
            continue
        coordinates |= labels
        for name, meaning in meanings(TABLES[place]).items():
            if all(_at(run, place).has(name) for run in runs):
                values = np.stack([_at(run, place).column(name) for run in runs])
                about = {"units": meaning.unit, "long_name": meaning.text}
                variables[f"{entity}_{name}"] = (("seed", "t_s", entity), values, about)
    found: xarray.Dataset = library.Dataset(variables, coordinates, attributes)
    return found


def _coordinates(entity: str, owners: Columns) -> Columns:
    """A label for each path, link or other entity, and its parts as further columns."""
    rows = zip(*owners.values(), strict=True)
    labels = [".".join(str(cell) for cell in row) for row in rows]
    found: Columns = {entity: labels}
    for name, column in owners.items() if len(owners) > 1 else ():
        own = "name" if isinstance(column, list) else "number"
        found[f"{entity}_{own if name == entity else name}"] = (entity, list(column))
    return found


def columns_of(plan: Plan, run: Run, table: str) -> Columns:
    """A table of a run with the names of each row's class, user, path, link or node."""
    if table in MATRICES:
        return _melted(plan, run, table)
    found = _columns(_at(run, table))
    if table == "classes":
        return _of_classes(plan, run, found)
    if table == "series.internals":
        return _of_internals(plan, run)
    if table == "series.nodes.hops":
        return _of_hops(plan, run, found)
    if "flow" in found:
        return _picked(_of_flows(plan, run), found["flow"]) | found
    if "way" in found:
        return _picked({"link": run.ways.link, "user": run.ways.user}, found["way"]) | found
    entity = table.removesuffix("s")
    return {entity if name == "name" else name: column for name, column in found.items()}


def _columns(table: Table) -> Columns:
    """The columns that a table has, by their names in JSON."""
    return {
        name: getattr(table, identifier(name)) for name in meanings(type(table)) if table.has(name)
    }


def _melted(plan: Plan, run: Run, table: str) -> Columns:
    """Matrices over time with one row for each sample of each path, link or the like."""
    times, owners = run.series.t_s, OWNERS[table](plan, run)
    wide = len(next(iter(owners.values())))
    values = {name: matrix.ravel() for name, matrix in _columns(_at(run, table)).items()}
    return {
        "t_s": np.repeat(times, wide),
        **{name: np.tile(np.asarray(column), len(times)) for name, column in owners.items()},
        **values,
    }


def _of_classes(plan: Plan, run: Run, found: Columns) -> Columns:
    """Classes with their controllers and the mean rates of their users."""
    flows = np.asarray(run.flows.class_)
    rates = {
        name: [run.flows.column(name)[flows == one.name].mean() for one in plan.classes]
        for name, meaning in meanings(type(run.flows)).items()
        if meaning.unit == "bit/s" and run.flows.has(name)
    }
    return {
        "class": found.pop("name"),
        "controller": [None if one.protocol == "udp" else one.controller for one in plan.classes],
        "users": [one.count for one in plan.classes],
        **rates,
        **found,
    }


def _of_internals(plan: Plan, run: Run) -> Columns:
    """Internals of controllers, with one row for each sample of each quantity of a path."""
    table, times = run.series.internals, run.series.t_s
    owners = _picked(_of_paths(plan, run), table.path) | {"name": np.asarray(table.name, str)}
    return {
        "t_s": np.tile(times, len(table.name)),
        **{name: np.repeat(column, len(times)) for name, column in owners.items()},
        "value": table.value.ravel(),
    }


def _of_hops(plan: Plan, run: Run, found: Columns) -> Columns:
    """Hops with times and names in the place of numbers; to all stations is an empty name."""
    stations = [[*(one.name for one in medium.stations), ""] for medium in plan.media]
    media = found.pop("medium")
    ends = {
        end: [
            stations[medium][number] for medium, number in zip(media, found.pop(end), strict=True)
        ]
        for end in ("from", "to")
    }
    return {
        "t_s": run.series.t_s[found.pop("sample")],
        "medium": [plan.media[number].name for number in media],
        **ends,
        **found,
    }


def _of_flows(plan: Plan, run: Run) -> Columns:
    return {"class": run.flows.class_, "user": run.flows.user}


def _of_paths(plan: Plan, run: Run) -> Columns:
    return {**_picked(_of_flows(plan, run), run.paths.flow), "path": run.paths.path}


def _of_links(plan: Plan, run: Run) -> Columns:
    return {"link": [one.name for one in plan.links]}


def _of_stations(plan: Plan, run: Run) -> Columns:
    return {"medium": run.stations.medium, "station": run.stations.name}


def _of_nodes(plan: Plan, run: Run) -> Columns:
    return {"node": [one.name for one in plan.nodes]}


OWNERS: dict[str, Callable[[Plan, Run], Columns]] = {
    "series.paths": _of_paths,
    "series.flows": _of_flows,
    "series.links": _of_links,
    "series.stations": _of_stations,
    "series.nodes": _of_nodes,
}
"""For each matrix over time, the function that names its columns."""


def _picked(columns: Columns, rows: Any) -> Columns:
    """Rows of columns by their numbers."""
    return {name: np.asarray(column)[rows] for name, column in columns.items()}


def _units(table: type[Table]) -> dict[str, str]:
    return {name: meaning.unit for name, meaning in meanings(table).items()}


def _at(run: Run, place: str) -> Any:
    """The table of a run at a place such as "series.paths"."""
    found: Any = run
    for name in place.split("."):
        found = getattr(found, name)
    return found


def _has(run: Run, place: str) -> bool:
    """Whether a run has the table at a place; tables that were not requested are None there."""
    found: Any = run
    for name in place.split("."):
        if found is None or not found.has(name):
            return False
        found = getattr(found, name)
    return found is not None


ASKED = {
    "series": "series=True (on the command line --series)",
    "events_log": "events=True (--events)",
}
"""Options that make a run keep a table that it does not keep by default."""


def _check(run: Run, table: str) -> None:
    """Raises ValueError for a table that the run does not have."""
    if _has(run, table):
        return
    first = table.split(".")[0]
    if first in ASKED and run.has("seed") and not _has(run, first):
        raise ValueError(f"the result has no {first}; run it with {ASKED[first]}")
    there = ", ".join(name for name in TABLES if _has(run, name))
    raise ValueError(f"the world of this result has no table {table}; it has {there}")


def _optional(name: str) -> Any:
    """A library that the package does not need otherwise. Raises ImportError."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(
            f"this needs {name}, which is not installed: pip install 'anabranch[frames]'", name=name
        ) from None
