"""The configurations that a store keeps: files of many, each written once.

    configurations/NAME.parquet   a row for each: its key, its scenario, and the rest as JSON

The name is the hash of the keys. A configuration may be in several files; all give its runs again.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .configuration import Configuration, digest
from .disk import placed
from .libraries import library
from .parts import AGAIN, StoreError, coded, reading

ROWS_AT_ONCE = 4096
"""Rows of a file that are packed together: what finding a single configuration reads."""

FILES = 64
"""Small files from which on they are merged."""

SMALL_BYTES = 1 << 20
"""Below this a file is small."""

FIELDS = tuple(one.name for one in dataclasses.fields(Configuration) if one.name != "text")
"""What is kept as JSON; the text of a scenario is packed once for all that have it."""

ENCODER = json.JSONEncoder(default=dict)
"""Of fields, where what is no dictionary but like one becomes one."""

Found = TypeVar("Found")


class Kept:
    """The configurations in a folder."""

    def __init__(self, folder: Path) -> None:
        """Those in this folder, which need not be there."""
        self.folder = folder

    def add(self, configurations: Iterable[Configuration]) -> None:
        """Keeps those that are not there yet, in one file. Raises OSError, StoreError."""
        given = {one.key: one for one in configurations}
        if new := self.missing(list(given)):
            self._write(table_of([given[key] for key in new]))

    def missing(self, keys: Sequence[str]) -> list[str]:
        """The keys that are not there, in their order. Raises StoreError for a broken file."""
        return self._asked(lambda files: self._missing(files, keys))

    def find(self, key: str) -> Configuration:
        """The configuration that has this key. Raises StoreError."""
        found = self._asked(lambda files: self._row(files, key))
        if found is None:
            raise StoreError(f"{self.folder} has no configuration {key}; start the sweep again")
        file, row = found
        try:
            content = json.loads(row["about"])
            content["overrides"] = tuple(content["overrides"])
            return Configuration(text=row["scenario"], **content)
        except (ValueError, TypeError, KeyError):
            raise StoreError(f"{file} is broken: it is not what a sweep wrote") from None

    def merge(self) -> None:
        """Writes small files into one, if there are many. Raises OSError, StoreError."""
        arrow = library("pyarrow")
        files = [file for file in self.files() if file.stat().st_size < SMALL_BYTES]
        if len(files) < FILES:
            return
        whole = arrow.concat_tables([self._read(file) for file in files]).unify_dictionaries()
        _, code = coded(whole.column("configuration"))
        _, first = np.unique(code, return_index=True)
        written = self._write(whole.take(np.sort(first)))
        for file in files:
            if file != written:
                file.unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """The files, sorted by name."""
        return sorted(one for one in self.folder.glob("*.parquet") if one.name[0] != ".")

    def _asked(self, ask: Callable[[list[Path]], Found]) -> Found:
        """An answer from all files. Begins again where they are merged meanwhile."""
        for _ in range(AGAIN):
            try:
                return ask(self.files())
            except FileNotFoundError:
                continue
        raise StoreError(f"{self.folder} is being changed all the time; try again")

    def _missing(self, files: Sequence[Path], keys: Sequence[str]) -> list[str]:
        arrow, compute = library("pyarrow"), library("pyarrow.compute")
        found = arrow.array(keys, arrow.string())
        for file in files:
            there = self._read(file, ["configuration"]).column("configuration")
            found = found.filter(compute.invert(compute.is_in(found, there.combine_chunks())))
        missing: list[str] = found.to_pylist()
        return missing

    def _row(self, files: Sequence[Path], key: str) -> tuple[Path, dict[str, str]] | None:
        compute = library("pyarrow.compute")
        for file in files:
            keys = self._read(file, ["configuration"]).column("configuration")
            row = compute.index(keys, key).as_py()
            if row >= 0:
                group, place = divmod(row, ROWS_AT_ONCE)
                with reading(file, remedy(file)):
                    return file, _opened(file).read_row_group(group).slice(place, 1).to_pylist()[0]
        return None

    def _read(self, file: Path, columns: list[str] | None = None) -> Any:
        with reading(file, remedy(file)):
            return _opened(file).read(columns)

    def _write(self, content: Any) -> Path:
        """Writes rows to a file with the name that belongs to them."""
        file = self.folder / f"{digest(*content.column('configuration').to_pylist())}.parquet"
        with placed(file) as place:
            library("pyarrow.parquet").write_table(
                content,
                place,
                compression="zstd",
                write_page_checksum=True,
                row_group_size=ROWS_AT_ONCE,
            )
            with open(place, "rb") as written:
                os.fsync(written.fileno())
        return file


def _opened(file: Path) -> Any:
    return library("pyarrow.parquet").ParquetFile(
        file, page_checksum_verification=True, read_dictionary=["scenario"]
    )


def remedy(file: Path) -> str:
    """What to do about a broken file of configurations."""
    return f"delete {file.name}, and start the sweep again"


def table_of(configurations: Sequence[Configuration]) -> Any:
    """Configurations as a table."""
    arrow = library("pyarrow")
    texts: dict[str, int] = {}
    code = [texts.setdefault(one.text, len(texts)) for one in configurations]
    scenario = arrow.DictionaryArray.from_arrays(
        arrow.array(code, arrow.int32()), arrow.array(list(texts), arrow.string())
    )
    keys = arrow.array([one.key for one in configurations], arrow.string())
    about = arrow.array([_written(one) for one in configurations], arrow.string())
    return arrow.table({"configuration": keys, "scenario": scenario, "about": about})


def _written(one: Configuration) -> str:
    return ENCODER.encode({name: getattr(one, name) for name in FIELDS})
