"""Files of rows: how they are written, read, and put together.

Rows belong to runs, which `KEYS` tell apart. Columns have their unit and their meaning in the
metadata of the file's schema, and the schema the versions that made the rows.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .libraries import library

if TYPE_CHECKING:
    import pyarrow

KEYS = ("configuration", "seed", "version")
"""What tells runs apart."""


PLAIN_KEYS = ("duration", "warmup", "sample")
"""Keys of a scenario without a dot that a sweep may vary."""

KEPT = "tables"
"""The column of runs with the tables that are kept of each, by commas."""

MADE_BY = b"anabranch"
"""Of the metadata of a schema: the versions that made its rows, by commas."""

AGAIN = 8
"""How often a reader begins again because files were merged meanwhile."""

CHECKSUM = b"checksum"
"""Of the metadata of a file's schema: that of the rest, which Parquet has none for."""

ROWS_AT_ONCE = 32_768
"""Rows of a file that are packed together, so that few of many rows can be read."""

BYTES_AT_ONCE = 4 << 20
"""The same in bytes, which of whole runs are few."""

RUNS = "runs"
"""The table that every part has: a row for each run."""

CLASSES = "classes"
"""The other one: rates, round trips and so on of each class of users of each run."""


class StoreError(ValueError):
    """A store is not one, or something in it is broken; the text names the file."""


def write(file: Path, table: pyarrow.Table) -> None:
    """Writes rows, and has the disk keep them; equal rows are equal bytes. Raises OSError."""
    parquet = library("pyarrow.parquet")
    said = {**(table.schema.metadata or {}), CHECKSUM: checksum(table.schema)}
    with open(file, "wb") as out:
        parquet.write_table(
            table.combine_chunks().replace_schema_metadata(said),
            out,
            compression="zstd",
            write_page_checksum=True,
            row_group_size=max(
                1, min(ROWS_AT_ONCE, BYTES_AT_ONCE * table.num_rows // (table.nbytes + 1))
            ),
        )
        out.flush()
        os.fsync(out.fileno())


@contextmanager
def reading(file: Path, remedy: str) -> Iterator[None]:
    """Says in one StoreError what is wrong with a file, and what to do. Raises FileNotFoundError
    where it is gone, and OSError where it cannot be read.
    """
    arrow = library("pyarrow")
    try:
        yield
    except FileNotFoundError:
        raise
    except (arrow.ArrowException, OSError, EOFError, UnicodeDecodeError, KeyError) as error:
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, error.strerror or str(error), str(file)) from None
        raise StoreError(f"{file} is broken ({error}); {remedy}") from None


def opened(file: Path) -> Any:
    """A file of Parquet whose end is right. Raises as `reading` does."""
    with reading(file, remedy(file)):
        whole = library("pyarrow.parquet").ParquetFile(file, page_checksum_verification=True)
        schema = whole.schema_arrow
        said = (schema.metadata or {}).get(CHECKSUM)
        if said is not None and said != checksum(schema):
            why = "what it says of its columns is not what was written"
            raise StoreError(f"{file} is broken ({why}); {remedy(file)}")
        return whole


def checksum(schema: pyarrow.Schema) -> bytes:
    """Of the names of columns and of all that is said of them."""
    about = [(one.name, sorted((one.metadata or {}).items())) for one in schema]
    made_by = (schema.metadata or {}).get(MADE_BY)
    return f"{zlib.crc32(repr((about, made_by)).encode()):08x}".encode()


def remedy(file: Path) -> str:
    """What to do about a file of a part that is broken."""
    return f"delete its folder {file.parent.name}, and the sweep makes its runs again"


def read_part(
    file: Path, columns: Sequence[str] | None, *, but: Sequence[str] = (), coded: bool = False
) -> Any:
    """The rows of a file: some columns, where the file has them, or all `but` some. With `coded`,
    texts are dictionaries, which take less memory. Raises as `reading` does.
    """
    arrow = library("pyarrow")
    whole = opened(file)
    there = whole.schema_arrow
    wanted = there.names if columns is None else columns
    names = [name for name in wanted if name in there.names and name not in but]
    if coded:
        texts = [name for name in names if arrow.types.is_string(there.field(name).type)]
        with reading(file, remedy(file)):
            whole = library("pyarrow.parquet").ParquetFile(
                file,
                metadata=whole.metadata,
                page_checksum_verification=True,
                read_dictionary=texts,
            )
    with reading(file, remedy(file)):
        return whole.read(names)


def read_runs(file: Path, runs: set[tuple[str, int, str]]) -> Any:
    """The rows of a file that belong to runs, given by what `KEYS` name. Raises as `reading` does."""
    arrow, compute = library("pyarrow"), library("pyarrow.compute")
    keys = arrow.array(sorted({key for key, _, _ in runs}), arrow.string())
    whole = opened(file)
    with reading(file, remedy(file)):
        found = whole.schema_arrow.empty_table()
        for number in range(whole.num_row_groups):
            of = whole.read_row_group(number, ["configuration"]).column("configuration")
            if compute.any(compute.is_in(of, keys)).as_py():
                rows = whole.read_row_group(number)
                rows = rows.filter(compute.is_in(rows.column("configuration"), keys))
                own = zip(*(rows.column(key).to_pylist() for key in KEYS), strict=True)
                rows = rows.filter(arrow.array([one in runs for one in own], arrow.bool_()))
                found = arrow.concat_tables([found, rows])
    return found


def check_file(file: Path) -> int:
    """Reads a file, a piece at a time, and gives the number of its rows. Raises as `reading` does."""
    whole = opened(file)
    rows = 0
    for group in range(whole.num_row_groups):
        with reading(file, remedy(file)):
            rows += whole.read_row_group(group).num_rows
    return rows


def joined(tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """Rows of tables one after the other, with columns in one order; those that a table does not
    have are null there. Raises StoreError for tables that do not fit together.
    """
    arrow = library("pyarrow")
    try:
        whole = arrow.concat_tables(tables, promote_options="default")
        whole = whole.unify_dictionaries().combine_chunks()
    except arrow.ArrowException as error:
        raise StoreError(f"parts do not fit together, so one of them is broken: {error}") from None
    names = arranged(whole.column_names)
    about, made_by = _metadata(tables)
    fields = [whole.schema.field(name).with_metadata(about.get(name)) for name in names]
    schema = arrow.schema(fields, {MADE_BY: made_by} if made_by else None)
    return arrow.Table.from_arrays([whole.column(name) for name in names], schema=schema)


def _metadata(tables: Sequence[pyarrow.Table]) -> tuple[dict[str, dict[bytes, bytes]], str]:
    """What the schemas of tables say of columns, and the versions; the order does not matter."""
    distinct: list[Any] = []
    for table in tables:
        if not distinct or not table.schema.equals(distinct[-1], check_metadata=True):
            distinct.append(table.schema)
    said: dict[str, list[tuple[tuple[bytes, bytes], ...]]] = {}
    versions: set[str] = set()
    for schema in distinct:
        made_by = (schema.metadata or {}).get(MADE_BY, b"").decode()
        versions |= set(made_by.split(", ")) - {""}
        for one in schema:
            if one.metadata:
                said.setdefault(one.name, []).append(tuple(sorted(one.metadata.items())))
    return {name: dict(min(own)) for name, own in said.items()}, ", ".join(sorted(versions))


def arranged(names: Collection[str]) -> list[str]:
    """The names of columns in their order: what tells runs apart, axes by name, the table's own."""
    given = [name for name in (*KEYS, "scenario", "controller") if name in names]
    axes = sorted(name for name in names if is_axis(name))
    return [*given, *axes, *(name for name in names if name not in (*given, *axes))]


def is_axis(name: str) -> bool:
    """Whether a column has the values of an axis: a key of a scenario."""
    return "." in name or name in PLAIN_KEYS


def once(tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """The rows of runs from tables in which a run may be twice: each run from the first table that
    has it, sorted; rows of a run keep their order. What is kept of a run is what any of them says.
    """
    table = joined(tables)
    if not table.num_rows:
        return table
    run = numbered(table)
    order = np.argsort(run, kind="stable")
    run = run[order]
    starts = np.flatnonzero(np.diff(run, prepend=-1))
    part = np.repeat(np.arange(len(tables)), [one.num_rows for one in tables])[order]
    own = part == np.repeat(part[starts], np.diff(starts, append=len(run)))
    if KEPT in table.column_names:
        table = _united(table, order, starts)
    rows = order[own]
    return table if np.array_equal(rows, np.arange(table.num_rows)) else table.take(rows)


def numbered(table: pyarrow.Table) -> NDArray[np.int64]:
    """The number of the run of each row, shape (rows,): runs count up as they are sorted by `KEYS`.

    Raises StoreError for rows without a run.
    """
    run = np.zeros(table.num_rows, np.int64)
    for key in KEYS:
        if key not in table.column_names or table.column(key).null_count:
            raise StoreError(f"a part has rows without a {key}, so it is broken")
        texts, codes = coded(table.column(key))
        rank = np.empty(len(texts), np.int64)
        rank[library("pyarrow.compute").sort_indices(texts).to_numpy()] = np.arange(len(texts))
        run = run * len(texts) + rank[codes]  # below 2^63 for 10^9 runs
    return run


def coded(column: Any) -> tuple[Any, NDArray[np.int64]]:
    """The distinct values of a column, and which of them each row has; -1 is null."""
    arrow = library("pyarrow")
    if not arrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    if not column.num_chunks:
        return arrow.array([], column.type.value_type), np.zeros(0, np.int64)
    codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in column.chunks]
    return column.chunk(0).dictionary, np.concatenate(codes).astype(np.int64)


def _united(
    table: pyarrow.Table, order: NDArray[np.int64], starts: NDArray[np.int64]
) -> pyarrow.Table:
    """The table in whose rows of a run, `order` from each of `starts` on, all say what is kept of
    it in any of them.
    """
    arrow = library("pyarrow")
    texts, codes = coded(table.column(KEPT))
    codes = codes[order]
    differs = np.minimum.reduceat(codes, starts) != np.maximum.reduceat(codes, starts)
    if not differs.any():
        return table
    own = [set((text or "").split(",")) for text in texts.to_pylist()]
    every = sorted(set().union(*own))
    bits = np.array([sum(1 << every.index(name) for name in names) for names in own])
    of_run = np.bitwise_or.reduceat(bits[codes], starts)
    known = {
        int(one): ",".join(name for place, name in enumerate(every) if one >> place & 1)
        for one in np.unique(of_run[differs])
    }
    found = np.array([*texts.to_pylist(), *known.values()], object)
    place = {one: len(texts) + number for number, one in enumerate(known)}
    code = codes[starts].copy()
    code[differs] = [place[int(one)] for one in of_run[differs]]
    whole = np.empty(len(order), object)
    whole[order] = found[np.repeat(code, np.diff(starts, append=len(order)))]
    number = table.column_names.index(KEPT)
    field = table.schema.field(number)
    return table.set_column(number, field, arrow.array(whole, arrow.string()).cast(field.type))


def empty() -> pyarrow.Table:
    """No runs."""
    arrow = library("pyarrow")
    fields = [("configuration", arrow.string()), ("seed", arrow.uint64())]
    return arrow.schema([*fields, ("version", arrow.string())]).empty_table()
