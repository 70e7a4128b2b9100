"""The tables of a store as views of DuckDB: what a question needs of them is read, and no more."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .columns import one_unit
from .libraries import library
from .parts import AGAIN, CLASSES, KEYS, RUNS, StoreError, arranged, is_axis
from .store import Store
from .verifying import broken

if TYPE_CHECKING:
    import pandas

MEMORY = "2GB"
"""What DuckDB takes before it uses the disk; a question may begin with `set memory_limit='8GB';`."""

TWICE = "_twice"
"""The table of runs that are in several parts."""


def tables(store: Store) -> list[str]:
    """The tables that a store has, runs first."""
    found = {file.stem for name in store.names() for file in (store.parts / name).glob("*.parquet")}
    return sorted(found, key=lambda name: (name != RUNS, name != CLASSES, name))


def answer(store: Store, sql: str) -> pandas.DataFrame:
    """The answer to a question over the tables of a store, each run once. Rows of a question
    without an order are sorted.

    Raises ValueError with what DuckDB says, StoreError, ImportError.
    """
    duckdb = library("duckdb")
    for _ in range(AGAIN):
        names = store.names()
        there = tables(store)
        try:
            with connected() as connection:
                make(connection, store, [name for name in there if named(name, sql)] or there)
                return asked(connection, sql)
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) and store.names() != names:
                continue  # parts were merged since
            if faults := broken(store):
                raise StoreError(faults[0]) from None
            raise ValueError(
                f"{error}\nhelp: the tables are {', '.join(there) or 'none'}"
            ) from None
    raise StoreError(f"{store.folder} is being changed all the time; try again")


@contextmanager
def connected() -> Iterator[Any]:
    """A database in memory whose answers are the same bytes each time: sums depend on the order of
    threads, so it has one.
    """
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        config = {
            "threads": 1,
            "memory_limit": MEMORY,
            "temp_directory": folder,
            "python_enable_replacements": False,  # variables of this program are no tables
        }
        connection = library("duckdb").connect(config=config)
        try:
            yield connection
        finally:
            connection.close()


def named(table: str, sql: str) -> bool:
    """Whether a question may be about a table."""
    return re.search(rf"\b{re.escape(table)}\b", sql, re.IGNORECASE) is not None


def make(connection: Any, store: Store, names: Sequence[str]) -> None:
    """Makes the views. Raises StoreError, duckdb.Error."""
    if not names:
        return
    doubled = twice(connection, store.each(RUNS, Path))
    for table in names:
        own = store.each(table, Path)
        source = f"read_parquet({listed(own)}, union_by_name=true, hive_partitioning=false"
        described = rows(connection, f"describe select * from {source})")
        kinds = {row[0]: row[1] for row in described}
        casts = numbers(connection, f"{source})", kinds)
        select = f"select {', '.join(casts.get(name, quoted(name)) for name in arranged(kinds))}"
        if doubled and len(own) > 1:
            whole, keys = f"{source}, filename=true)", ", ".join(KEYS)
            connection.execute(
                f'create temp table "{TWICE}_{table}" as select {keys}, min({PART}) as "{TWICE}" '
                f'from {whole} semi join "{TWICE}" using ({keys}) group by all'
            )
            view = (
                f'{select} from {whole} left join "{TWICE}_{table}" using ({keys}) '
                f'where "{TWICE}" is null or "{TWICE}" = {PART}'
            )
        else:
            view = f"{select} from {source})"
        connection.execute(f"create view {quoted(table)} as {view}")


PART = r"regexp_extract(filename, '([^/]+)/[^/]+$', 1)"
"""The name of the part that a row is in."""


def twice(connection: Any, runs: Sequence[Path]) -> bool:
    """Whether runs are in several parts; makes the table of them."""
    if len(runs) < 2:
        return False
    keys = ", ".join(KEYS)
    connection.execute(
        f'create temp table "{TWICE}" as select {keys} from read_parquet({listed(runs)}, '
        f"hive_partitioning=false) group by all having count(*) > 1"
    )
    return bool(rows(connection, f'select 1 from "{TWICE}" limit 1'))


def listed(own: Sequence[Path]) -> str:
    """Files as a list of SQL; DuckDB takes their names as patterns."""
    plain = (re.sub(r"([*?\[])", r"[\1]", str(file.absolute())) for file in own)
    return f"[{', '.join(literal(name) for name in plain)}]"


def numbers(connection: Any, source: str, kinds: Mapping[str, str]) -> dict[str, str]:
    """The columns of axes that are numbers in a view, as SQL: those whose texts are all numbers of
    one unit.
    """
    axes = [name for name, kind in kinds.items() if is_axis(name) and kind == "VARCHAR"]
    if not axes:
        return {}
    lists = ", ".join(f"list(distinct {quoted(name)})" for name in axes)
    (found,) = rows(connection, f"select {lists} from {source}")
    casts = {}
    for name, values in zip(axes, found, strict=True):
        known = one_unit([value for value in values or [] if value])
        if known:
            column = quoted(name)
            bare = f"left({column}, length({column}) - {len(known.unit)})"
            kind = "bigint" if known.whole else "double"
            casts[name] = f"cast(cast(nullif({bare}, '') as double) as {kind}) as {column}"
    return casts


def rows(connection: Any, sql: str, *values: str) -> list[tuple[Any, ...]]:
    """All rows of a small answer. Raises duckdb.Error."""
    found: list[tuple[Any, ...]] = connection.execute(sql, list(values)).fetchall()
    return found


def quoted(name: str) -> str:
    """A name of SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"


def asked(connection: Any, sql: str) -> pandas.DataFrame:
    """The answer of the last statement. Raises ValueError where it gives none, duckdb.Error."""
    statements = connection.extract_statements(sql)
    if not statements:
        raise ValueError("the question is empty; write one such as select * from runs limit 5")
    for one in statements[:-1]:
        connection.execute(one).fetchall()
    text = statements[-1].query.strip().rstrip(";")
    relation = connection.sql(f"{text}\norder by all" if unordered(connection, text) else text)
    if relation is None:
        raise ValueError(f"{text!r} gives no rows; end with a question such as select * from runs")
    found: pandas.DataFrame = relation.df()
    return found


def unordered(connection: Any, text: str) -> bool:
    """Whether a statement is a question whose rows have no order and no limit."""
    ((tree,),) = rows(connection, "select json_serialize_sql(?)", text)
    content = json.loads(tree)
    if content["error"]:
        return False  # it is no question
    node = content["statements"][0]["node"]
    if node.get("from_table", {}).get("type") == "SHOW_REF":
        return False  # of `show` and `describe`, which take no order
    kinds = {one["type"] for one in node.get("modifiers", [])}
    return not kinds & {"ORDER_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER"}
