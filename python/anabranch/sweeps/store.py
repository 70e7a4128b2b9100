"""The store of a sweep: a folder of Parquet files, which is the truth about what has been run.

    STORE/store.json                  what the folder is
    STORE/configurations/KEY.json     what was run, so that it can be run again
    STORE/parts/NAME/TABLE.parquet    rows, of some runs
    STORE/failures/NAME.json          runs that gave an error

A part is written beside its place and moved there, so that it is whole or absent. Parts that two
drivers have made of the same runs may both be there: readers take each run from the first one that
has it. Nothing is ever changed but by `compact`.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import atomic_write
from .configuration import Configuration, digest
from .parts import KEYS, StoreError, empty, once, read_part, write

if TYPE_CHECKING:
    import pyarrow

FORMAT = 1
"""Of stores; a newer one is refused."""

RUNS = "runs"
"""The table that every part has: a row for each run."""

TEMPORARY = ".part-"
"""What names of parts that are being written begin with."""


@dataclass(frozen=True)
class Failure:
    """A run that gave an error instead of rows."""

    configuration: str
    seed: int
    version: str
    reason: str
    where: str
    """The traceback of the user's own code, or nothing."""


class Store:
    """The store in a folder."""

    def __init__(self, folder: str | Path) -> None:
        """A store that is there. Raises StoreError if the folder is none."""
        self.folder = Path(folder)
        self.parts = self.folder / "parts"
        about = self.folder / "store.json"
        try:
            content = json.loads(about.read_text(encoding="utf-8"))
            format_ = int(content["format"])
        except FileNotFoundError:
            raise StoreError(
                f"{self.folder} is no store: it has no store.json; `anabranch sweep` makes one"
            ) from None
        except (ValueError, KeyError, TypeError):
            raise StoreError(f"{about} is broken: it is not what a sweep wrote") from None
        if format_ > FORMAT:
            raise StoreError(
                f"{about} says format {format_}, and this version has stores up to format {FORMAT}"
            )

    @classmethod
    def make(cls, folder: str | Path) -> Store:
        """A store that may be there already. Raises StoreError where a folder has other things, and
        OSError where it cannot be written.
        """
        place = Path(folder)
        about = place / "store.json"
        if not about.exists():
            if place.is_file():
                raise StoreError(f"{place} is a file; a store is a folder")
            if place.is_dir() and any(place.iterdir()):
                raise StoreError(f"{place} has other things in it; name an empty or a new folder")
            for sub in ("parts", "configurations", "failures"):
                (place / sub).mkdir(parents=True, exist_ok=True)
            atomic_write(about, json.dumps({"kind": "anabranch sweep", "format": FORMAT}) + "\n")
        store = cls(place)
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=store.parts):
            pass  # tells now if nothing can be written
        return store

    def keep(self, configurations: Iterable[Configuration]) -> None:
        """Writes what is going to be run. Raises OSError."""
        for one in configurations:
            file = self.folder / "configurations" / f"{one.key}.json"
            if not file.exists():
                atomic_write(file, json.dumps(one.to_json(), indent=1) + "\n")

    def configuration(self, key: str) -> Configuration:
        """What has this key. Raises StoreError."""
        file = self.folder / "configurations" / f"{key}.json"
        try:
            found = Configuration.from_json(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            raise StoreError(f"{file} is missing or broken") from None
        return found

    def add(self, name: str, tables: Mapping[str, pyarrow.Table]) -> None:
        """Adds a part. Raises OSError; then nothing of it is there."""
        if (self.parts / name).exists():
            return
        with self._beside() as folder:
            for table, rows in tables.items():
                write(folder / f"{table}.parquet", rows)
            self._move(folder, self.parts / name)

    def fail(self, name: str, failures: Iterable[Failure]) -> None:
        """Keeps failures. Raises OSError."""
        content = [vars(one) for one in failures]
        atomic_write(self.folder / "failures" / f"{name}.json", json.dumps(content, indent=1))

    @contextmanager
    def _beside(self) -> Iterator[Path]:
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=self.parts))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _move(self, folder: Path, target: Path) -> None:
        """Moves a part into its place; one that is there already has the same rows."""
        try:
            os.rename(folder, target)
        except OSError:
            if not target.is_dir():
                raise

    def names(self) -> list[str]:
        """The names of its parts, sorted."""
        try:
            entries = [one.name for one in os.scandir(self.parts)]
        except FileNotFoundError:
            raise StoreError(f"{self.parts} is missing") from None
        return sorted(name for name in entries if not name.startswith(TEMPORARY))

    def read(self, table: str = RUNS, columns: list[str] | None = None) -> pyarrow.Table:
        """A table of all runs, each once, sorted by configuration, seed and version; it has no rows
        in an empty store. Raises StoreError for a part that is broken, ValueError where no part has
        the table.
        """
        wanted = None if columns is None else list(dict.fromkeys([*KEYS, *columns]))
        tables: list[pyarrow.Table] = []
        for name in self.names():
            file = self.parts / name / f"{table}.parquet"
            if file.exists():
                tables.append(read_part(file, wanted))
            elif table == RUNS:
                raise StoreError(f"{file} is missing; delete the folder {name}")
        if tables:
            return once(tables)
        if table != RUNS:
            raise ValueError(f"{self.folder} has no table {table}")
        return empty()

    def done(self, version: str) -> set[tuple[str, int]]:
        """The configurations and seeds that this version has run."""
        return {(key, seed) for key, seed, other in self._keys() if other == version}

    def _keys(self) -> set[tuple[str, int, str]]:
        """What tells the runs that are there apart."""
        rows = self.read(RUNS, list(KEYS))
        return set(zip(*(rows.column(key).to_pylist() for key in KEYS), strict=True))

    def compact(self) -> tuple[int, int]:
        """Writes all parts into one, each run once, and removes the others and what drivers that
        were killed have left; how many parts there were and are. Raises StoreError, OSError.
        """
        names = self.names()
        if len(names) > 1:
            tables = {file.stem for name in names for file in (self.parts / name).glob("*.parquet")}
            whole = {table: self.read(table) for table in sorted(tables)}
            self.add(digest("compact", *names), whole)
        for name in names if len(names) > 1 else []:
            os.rename(self.parts / name, self.parts / f"{TEMPORARY}{name}")  # gone at once
        for left in self.parts.glob(f"{TEMPORARY}*"):
            shutil.rmtree(left, ignore_errors=True)
        return len(names), len(self.names())

    def failures(self) -> list[Failure]:
        """The runs that gave an error, and no rows since, each once. Raises StoreError."""
        found: dict[tuple[str, int, str], Failure] = {}
        for file in sorted((self.folder / "failures").glob("*.json")):
            try:
                content = [Failure(**one) for one in json.loads(file.read_text(encoding="utf-8"))]
            except (ValueError, TypeError):
                raise StoreError(f"{file} is broken: it is not what a sweep wrote") from None
            found |= {(one.configuration, one.seed, one.version): one for one in content}
        if not found:
            return []
        made = self._keys()
        return [one for key, one in sorted(found.items()) if key not in made]
