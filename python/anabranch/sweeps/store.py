"""The store of a sweep: a folder of Parquet files, which is the truth about what has been run.

    STORE/store.json                  what the folder is
    STORE/configurations/KEY.json     what was run, so that it can be run again
    STORE/parts/NAME/TABLE.parquet    rows, of some runs
    STORE/failures/NAME.json          runs that gave an error

A part is written beside its place and moved there, so that it is whole or absent. Parts that two
drivers have made of the same runs may both be there: readers take each run from the first one that
has it. Nothing is ever changed but by `compact`. What is moved is on the disk before.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import beside
from .configuration import Configuration, digest
from .parts import KEYS, StoreError, empty, once, read_part, write

if TYPE_CHECKING:
    import pyarrow

FORMAT = 1
"""Of stores; a newer one is refused."""

RUNS = "runs"
"""The table that every part has: a row for each run."""

CLASSES = "classes"
"""The other one: rates, round trips and so on of each class of users of each run."""

TEMPORARY = ".part-"
"""What names of parts that are being written begin with."""

REMOVED = ".old-"
"""What names of parts begin with that `compact` has replaced."""

STALE_S = 86_400.0
"""After which a part that is being written was left by a driver that was killed."""

AGAIN = 8
"""How often a reader begins again because parts were replaced meanwhile."""

FOLDERS = ("parts", "configurations", "failures")


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
            if place.is_dir() and any(not own(one.name) for one in place.iterdir()):
                raise StoreError(f"{place} has other things in it; name an empty or a new folder")
            place.mkdir(parents=True, exist_ok=True)
            write_text(about, json.dumps({"kind": "anabranch sweep", "format": FORMAT}) + "\n")
        store = cls(place)
        for sub in FOLDERS:
            (place / sub).mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=store.parts):
            pass  # tells now if nothing can be written
        return store

    def keep(self, configurations: Iterable[Configuration]) -> None:
        """Writes what is going to be run. Raises OSError."""
        for one in configurations:
            file = self.folder / "configurations" / f"{one.key}.json"
            text = json.dumps(one.to_json(), indent=1) + "\n"
            if not file.exists() or not file.stat().st_size:
                write_text(file, text)

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
            try:
                for table, rows in tables.items():
                    write(folder / f"{table}.parquet", rows)
                os.chmod(folder, 0o777 & ~umask())
                sync(folder)
                self._move(folder, self.parts / name)
            except OSError as error:
                why = error.strerror or str(error)
                raise OSError(error.errno, why, str(self.folder)) from None

    def fail(self, name: str, failures: Iterable[Failure]) -> None:
        """Keeps failures. Raises OSError."""
        content = [vars(one) for one in failures]
        write_text(self.folder / "failures" / f"{name}.json", json.dumps(content, indent=1))

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
        sync(self.parts)

    def names(self) -> list[str]:
        """The names of its parts, sorted."""
        try:
            entries = [one.name for one in os.scandir(self.parts)]
        except FileNotFoundError:
            raise StoreError(f"{self.parts} is missing") from None
        return sorted(name for name in entries if not name.startswith((TEMPORARY, REMOVED)))

    def read(self, table: str = RUNS, columns: list[str] | None = None) -> pyarrow.Table:
        """A table of all runs, each once, sorted by configuration, seed and version; it has no rows
        in an empty store. Raises StoreError for a part that is broken, ValueError where no part has
        the table.
        """
        wanted = None if columns is None else list(dict.fromkeys([*KEYS, *columns]))
        tables = self._tables(table, wanted)
        if tables:
            return once(tables)
        if table not in (RUNS, CLASSES) and self.names():
            raise ValueError(f"{self.folder} has no table {table}")
        return empty()

    def _tables(self, table: str, columns: list[str] | None) -> list[pyarrow.Table]:
        """A table of each part that has it, in the order of their names."""
        for _ in range(AGAIN):
            names = self.names()
            try:
                found = [self._part(name, table, columns) for name in names]
            except FileNotFoundError:
                continue  # `compact` has replaced a part since: the list begins anew
            return [one for one in found if one is not None]
        raise StoreError(f"{self.folder} is being changed all the time; try again")

    def _part(self, name: str, table: str, columns: list[str] | None) -> pyarrow.Table | None:
        """A table of a part; None if it has none. Raises FileNotFoundError for a part that is gone,
        StoreError for one that lacks what every part has.
        """
        file = self.parts / name / f"{table}.parquet"
        if file.exists():
            return read_part(file, columns)
        if not file.parent.exists():
            raise FileNotFoundError(file)
        if table in (RUNS, CLASSES):
            raise StoreError(f"{file} is missing; delete the folder {name}")
        return None

    def done(self, version: str, tables: Iterable[str] = ()) -> set[tuple[str, int]]:
        """The configurations and seeds that this version has run, and kept these tables of."""
        wanted = set(tables)
        return {
            (key, seed)
            for key, seed, other, kept in self._keys()
            if other == version and wanted <= set(kept.split(","))
        }

    def _keys(self) -> set[tuple[str, int, str, str]]:
        """What tells the runs that are there apart, and the tables that are kept of each."""
        names = [*KEYS, "tables"]
        return {
            row
            for part in self._tables(RUNS, names)
            for row in zip(*(part.column(name).to_pylist() for name in names), strict=True)
        }

    def compact(self) -> tuple[int, int]:
        """Writes all parts into one, each run once, and removes the others and what drivers that
        were killed left long ago; how many parts there were and are. Drivers and readers may be at
        work meanwhile.

        Raises StoreError, also while another one compacts the store, and OSError.
        """
        with self._alone():
            names = self.names()
            if len(names) > 1:
                self._replace(names)
            now = time.time()
            for left in [*self.parts.glob(f"{REMOVED}*"), *self.parts.glob(f"{TEMPORARY}*")]:
                if left.name.startswith(REMOVED) or now - left.stat().st_mtime > STALE_S:
                    shutil.rmtree(left, ignore_errors=True)
            return len(names), len(self.names())

    def _replace(self, names: list[str]) -> None:
        """Writes parts into one. They are removed when that one can be read."""
        tables = {file.stem for name in names for file in (self.parts / name).glob("*.parquet")}
        whole = {table: self.read(table) for table in sorted(tables)}
        target = digest("compact", *names)
        self.add(target, whole)
        for table, rows in whole.items():
            found = self._part(target, table, None)
            if found is None or found.num_rows != rows.num_rows:
                raise StoreError(f"{self.parts / target} was not written whole")
        for name in names:
            if name != target:
                os.rename(self.parts / name, self.parts / f"{REMOVED}{name}")  # gone at once

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps others from compacting. Raises StoreError while one does."""
        with open(self.folder / ".lock", "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StoreError(f"{self.folder} is being compacted by another process") from None
            yield

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
        made = {row[:3] for row in self._keys()}
        return [one for key, one in sorted(found.items()) if key not in made]


def own(name: str) -> bool:
    """Whether a name in a folder is one that stores have there."""
    return name in (*FOLDERS, ".lock") or name.startswith(".store.json.")


def umask() -> int:
    """The mask of new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(file: Path, text: str) -> None:
    """Writes a file that is there whole or not at all, and on the disk. Raises OSError."""
    with beside(file) as place:
        assert place is not None
        with open(place, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(place, 0o666 & ~umask())
    sync(file.parent)


def sync(folder: Path) -> None:
    """Has the disk keep what is in a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
