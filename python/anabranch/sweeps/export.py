"""A table of a store as one file of another format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .libraries import library
from .scan import plain
from .store import Store

if TYPE_CHECKING:
    import pyarrow

SLICE = 65_536
"""Rows that are written at a time."""


def _csv(file: Path, schema: pyarrow.Schema) -> Any:
    return library("pyarrow.csv").CSVWriter(file, schema)


def _parquet(file: Path, schema: pyarrow.Schema) -> Any:
    return library("pyarrow.parquet").ParquetWriter(file, schema)


def _feather(file: Path, schema: pyarrow.Schema) -> Any:
    ipc = library("pyarrow.ipc")
    return ipc.new_file(str(file), schema, options=ipc.IpcWriteOptions(compression="lz4"))


FORMATS: dict[str, Callable[[Path, pyarrow.Schema], Any]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".feather": _feather,
}
"""What writes tables, by the suffix of the file."""


def export(store: Store, table: str, file: Path, suffix: str) -> None:
    """Writes a table into a file of the format of a suffix: each run once, sorted by configuration,
    seed and version. Raises StoreError, OSError, and ValueError where the store has no such table.
    """
    rows = store.read(table, coded=True)
    with FORMATS[suffix](file, plain(rows.slice(0, 0)).schema) as out:
        for first in range(0, rows.num_rows, SLICE):
            out.write_table(plain(rows.slice(first, SLICE)))
