"""From rows to answers: frames, questions in SQL, and figures of a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import plot
from ..frames import TABLES
from ..offers import lookup
from ..records import meanings
from ..statistics import Interval, interval
from .libraries import library
from .numbers import NUMBER
from .parts import is_axis
from .store import CLASSES, RUNS, Store

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from matplotlib.figure import Figure


def numbers(table: pyarrow.Table) -> tuple[pyarrow.Table, dict[str, str]]:
    """The table with numbers in the place of texts where all values of a column are numbers of one
    unit, and those units.
    """
    arrow = library("pyarrow")
    units: dict[str, str] = {}
    for place, name in enumerate(table.column_names):
        if not is_axis(name) or not arrow.types.is_string(table.schema.field(name).type):
            continue
        column = table.column(name)
        known = {value: NUMBER.match(value) for value in column.unique().to_pylist() if value}
        found = {match[2] or "" for match in known.values() if match}
        if not known or not all(known.values()) or len(found) > 1:
            continue
        value_of = {value: float(match[1]) for value, match in known.items() if match}
        values = [value_of.get(value) for value in column.to_pylist()]
        if all(value is None or value.is_integer() for value in values):
            own = arrow.array([None if v is None else int(v) for v in values], arrow.int64())
        else:
            own = arrow.array(values, arrow.float64())
        table = table.set_column(place, name, own)
        if unit := found.pop():
            units[name] = unit
    return table, units


def frame(store: Store, table: str = CLASSES) -> pandas.DataFrame:
    """A table of all runs; its units are in `.attrs["units"]`. Raises StoreError, ImportError."""
    library("pandas")
    found, units = numbers(store.read(table))
    own: pandas.DataFrame = found.to_pandas()
    own.attrs["units"] = units_of(table) | units
    return own


def units_of(table: str) -> dict[str, str]:
    """The units of a table's own columns; classes have the rates of their flows too."""
    own = [TABLES[table]] if table in TABLES else []
    if table == CLASSES:
        own.append(TABLES["flows"])
    return {name: one.unit for each in own for name, one in meanings(each).items() if one.unit}


def query(store: Store, sql: str) -> pandas.DataFrame:
    """The answer to a question in SQL over the tables of a store, such as
    `select controller, class, avg(throughput_bps) from classes group by all`.

    Raises ValueError with what DuckDB says, StoreError, ImportError.
    """
    duckdb = library("duckdb")
    connection = duckdb.connect()
    for table in tables(store):
        connection.register(table, numbers(store.read(table))[0])
    try:
        found: pandas.DataFrame = connection.sql(sql).df()
    except (duckdb.Error, AttributeError) as error:
        there = ", ".join(tables(store)) or "none"
        raise ValueError(f"{error}\nhelp: the tables are {there}") from None
    return found


def tables(store: Store) -> list[str]:
    """The tables that a store has, runs first."""
    names = store.names()
    found = {file.stem for name in names for file in (store.parts / name).glob("*.parquet")}
    return sorted(found, key=lambda name: (name != RUNS, name != CLASSES, name))


@dataclass(frozen=True)
class Question:
    """What a figure of a sweep shows."""

    x: str
    y: str
    by: str = "controller"
    where: Mapping[str, str] | None = None
    table: str = CLASSES


def draw(store: Store, asked: Question, **options: Any) -> Figure:
    """A metric over an axis of a sweep, with 95 % intervals over the seeds; a line for each group,
    a panel for each class, link or station. Rows of one run, such as its flows, are averaged first.

    Raises ValueError for a column that there is not, and where a point of the figure would be of
    several configurations: what differs is to be drawn, or fixed by `where`.
    """
    table = fixed(store.read(asked.table), asked.where or {})
    names = table.column_names
    known = "the columns are"
    x, y, by = (lookup("column", name, names, known) for name in (asked.x, asked.y, asked.by))
    if y not in metrics(table):
        raise ValueError(f"{y} is no number; columns of numbers are {', '.join(metrics(table))}")
    columns = table.to_pydict()
    units = units_of(asked.table)
    panel = next(
        (columns[name] for name in PANELS if name in columns and name not in (x, by)), None
    )
    cells = gathered(columns, panel or [""] * table.num_rows, (x, y, by))
    scale = 1e-6 if units.get(y) == "bit/s" else 1.0
    points: dict[str, dict[str, dict[str, Interval]]] = {}
    for (title, group, at), runs in cells.items():
        means = [scale * sum(own) / len(own) for own in runs.values()]
        points.setdefault(title, {}).setdefault(group, {})[at] = interval(means)
    values = ordered(columns[x])
    seeds = {len(runs) for runs in cells.values()}
    many = f"{min(seeds)} to {max(seeds)}" if len(seeds) > 1 else f"{max(seeds, default=0)}"
    unit = "Mb/s" if units.get(y) == "bit/s" else units.get(y, "")
    words = y.removesuffix("_bps").removesuffix("_s").replace("_", " ")
    return plot.swept(
        points,
        values=values,
        labels=(axis_label(x, values), f"{words} ({unit})" if unit else words),
        note=" · ".join([*dict.fromkeys(columns["scenario"]), f"{many} seeds, 95 % intervals"]),
        **options,
    )


PANELS = ("class", "link", "station", "name")
"""Columns of which each value has a panel: the first one that a table has."""

Cell = tuple[str, str, str]
"""Panel, group and place along the axis of a point."""


def gathered(
    columns: Mapping[str, Sequence[Any]], panel: Sequence[Any], names: tuple[str, str, str]
) -> dict[Cell, dict[int, list[float]]]:
    """The values of each point by seed. Raises ValueError where one is of several configurations."""
    x, y, by = names
    found: dict[Cell, dict[int, list[float]]] = {}
    first: dict[Cell, int] = {}
    for row, value in enumerate(columns[y]):
        if value is None or columns[x][row] is None:
            continue  # of another table's row, or from before the axis was there
        cell = str(panel[row]), str(columns[by][row]), str(columns[x][row])
        other = first.setdefault(cell, row)
        if any(columns[key][row] != columns[key][other] for key in ("configuration", "version")):
            raise ValueError(mixed(columns, other, row, {x, by}))
        found.setdefault(cell, {}).setdefault(columns["seed"][row], []).append(float(value))
    return found


def mixed(columns: Mapping[str, Sequence[Any]], one: int, other: int, drawn: set[str]) -> str:
    """What differs between the configurations of two rows, for an error."""
    own = (
        set(meanings(TABLES[CLASSES])) | set(meanings(TABLES["flows"])) | {"configuration", "seed"}
    )
    for name, values in columns.items():
        if name not in own | drawn and values[one] != values[other]:
            return (
                f"{name} varies ({values[one]}, {values[other]}) and is not in the figure: draw it "
                f"with --x or --by, or fix it with --where {name}={values[one]}"
            )
    keys = columns["configuration"][one], columns["configuration"][other]
    return (
        f"a point of the figure would be of two configurations, {keys[0]} and {keys[1]}, which differ "
        f"in what is no column; fix one with --where configuration={keys[0]}"
    )


def fixed(table: pyarrow.Table, where: Mapping[str, str]) -> pyarrow.Table:
    """The rows in which columns have these values. Raises ValueError where none has."""
    compute = library("pyarrow.compute")
    for name, value in where.items():
        known = lookup("column", name, table.column_names, "the columns are")
        texts = table.column(known).cast("string")
        kept = table.filter(compute.equal(texts, value))
        if not kept.num_rows:
            there = ", ".join(sorted({str(one) for one in texts.unique().to_pylist()})[:12])
            raise ValueError(f"no row has {known} = {value!r}; its values are {there}")
        table = kept
    return table


def metrics(table: pyarrow.Table) -> list[str]:
    """The columns that are numbers."""
    arrow = library("pyarrow")
    numeric = (arrow.types.is_floating, arrow.types.is_integer)
    return [one.name for one in table.schema if any(test(one.type) for test in numeric)]


def ordered(values: Sequence[Any]) -> list[str]:
    """The values of an axis as texts, each once: numbers by size, others as they come."""
    texts = list(dict.fromkeys(str(value) for value in values))
    known = [NUMBER.match(text) for text in texts]
    if all(known) and len({match[2] for match in known if match}) == 1:
        return sorted(texts, key=lambda text: float(NUMBER.match(text)[1]))  # type: ignore[index]
    return texts


def axis_label(key: str, values: Sequence[str]) -> str:
    """What an axis is called, with the unit of its values."""
    units = {match[2] or "" for value in values if (match := NUMBER.match(value))}
    unit = units.pop() if len(units) == 1 else ""
    return f"{key} ({unit})" if unit else key
