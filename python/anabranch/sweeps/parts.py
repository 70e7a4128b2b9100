"""Files of rows: how they are written, read, and put together.

Rows belong to runs, which `KEYS` tell apart.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .libraries import library

if TYPE_CHECKING:
    import pyarrow

KEYS = ("configuration", "seed", "version")
"""What tells runs apart."""


PLAIN_KEYS = ("duration", "warmup", "sample")
"""Keys of a scenario without a dot that a sweep may vary."""


class StoreError(ValueError):
    """A store is not one, or something in it is broken; the text names the file."""


def write(file: Path, table: pyarrow.Table) -> None:
    """Writes rows; equal rows are equal bytes."""
    parquet = library("pyarrow.parquet")
    with open(file, "wb") as out:
        parquet.write_table(table, out, compression="zstd", write_page_checksum=True)
        out.flush()
        os.fsync(out.fileno())


def read_part(file: Path, columns: list[str] | None) -> Any:
    """The rows of a file. Raises StoreError if it is broken."""
    parquet, arrow = library("pyarrow.parquet"), library("pyarrow")
    try:
        whole = parquet.ParquetFile(file, page_checksum_verification=True)
        names = [name for name in columns or whole.schema_arrow.names]
        return whole.read([name for name in names if name in whole.schema_arrow.names])
    except (arrow.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, error.strerror or str(error), str(file)) from None
        raise StoreError(
            f"{file} is broken ({error}); delete its folder {file.parent.name}, and the sweep makes "
            "its runs again"
        ) from None


def joined(tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """Rows of tables one after the other; columns that one does not have are null there. Columns
    have one order: what tells runs apart, axes by name, then the table's own.
    """
    arrow = library("pyarrow")
    try:
        whole = arrow.concat_tables(tables, promote_options="default").combine_chunks()
    except arrow.ArrowException as error:
        raise StoreError(f"parts do not fit together, so one of them is broken: {error}") from None
    given = [name for name in (*KEYS, "scenario", "controller") if name in whole.column_names]
    axes = sorted(name for name in whole.column_names if is_axis(name))
    rest = [name for name in whole.column_names if name not in (*given, *axes)]
    return whole.select([*given, *axes, *rest])


def is_axis(name: str) -> bool:
    """Whether a column has the values of an axis: a key of a scenario."""
    return "." in name or name in PLAIN_KEYS


def once(tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """The rows of runs from tables in which a run may be twice: each run from the first table that
    has it, sorted; rows of a run keep their order.
    """
    arrow, compute = library("pyarrow"), library("pyarrow.compute")
    table = joined(tables)
    part = np.repeat(np.arange(len(tables)), [one.num_rows for one in tables])
    table = table.append_column("part", arrow.array(part))
    table = table.append_column("row", arrow.array(np.arange(table.num_rows)))
    if len(tables) > 1:
        first = table.group_by(list(KEYS), use_threads=False).aggregate([("part", "min")])
        pairs = table.select([*KEYS, "part", "row"]).join(first, keys=list(KEYS), use_threads=False)
        rows = pairs.filter(compute.equal(pairs["part"], pairs["part_min"]))["row"]
        table = table.take(np.sort(rows.to_numpy()))
    order = [(key, "ascending") for key in (*KEYS, "row")]
    return table.sort_by(order).drop_columns(["part", "row"])


def empty() -> pyarrow.Table:
    """No runs."""
    arrow = library("pyarrow")
    fields = [("configuration", arrow.string()), ("seed", arrow.uint64())]
    return arrow.schema([*fields, ("version", arrow.string())]).empty_table()
