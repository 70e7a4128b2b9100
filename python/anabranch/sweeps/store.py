"""The store of a sweep: a folder of Parquet files, which is the truth about what has been run.

    STORE/store.json                   what the folder is
    STORE/configurations/NAME.parquet  what was run, so that it can be run again
    STORE/parts/NAME/TABLE.parquet     rows, of some runs
    STORE/failures/NAME.json           runs that gave an error

A part is written beside its place and moved there, so that it is whole or absent. Parts that two
drivers have made of the same runs may both be there: readers take each run from the first one that
has it. Nothing is ever changed but by `tidy` and `compact`, which merge parts. What is moved is on
the disk before.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..files import UMASK
from . import merging
from .configuration import Configuration, digest
from .disk import naming, sync, write_text
from .done import Done
from .kept import Kept
from .libraries import library
from .merging import REMOVED, TEMPORARY
from .parts import AGAIN as AGAIN
from .parts import (
    CLASSES,
    KEPT,
    KEYS,
    RUNS,
    StoreError,
    coded,
    empty,
    joined,
    once,
    read_part,
    read_runs,
    write,
)

if TYPE_CHECKING:
    import pyarrow

KIND = "anabranch sweep"
"""What store.json says a store is."""

FORMAT = 1
"""Of stores; a newer one is refused."""

FOLDERS = ("parts", "configurations", "failures")

LOCK = ".lock"
"""What who merges parts has locked."""

MERGES = ".merges"
"""A file that grows by a byte whenever parts are replaced."""

Found = TypeVar("Found")


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
        self.failed = self.folder / "failures"
        self.kept = Kept(self.folder / "configurations")
        self.lock = self.folder / LOCK
        self.merges = self.folder / MERGES
        check(self.folder)

    @classmethod
    def make(cls, folder: str | Path) -> Store:
        """A store that may be there already. Raises StoreError where a folder has other things, and
        OSError where it cannot be written.
        """
        place = Path(folder)
        about = place / "store.json"
        with naming(place):
            if not about.exists():
                if place.is_file():
                    raise StoreError(f"{place} is a file; a store is a folder")
                if place.is_dir() and any(not own(one.name) for one in place.iterdir()):
                    raise StoreError(
                        f"{place} has other things in it; name an empty or a new folder"
                    )
                place.mkdir(parents=True, exist_ok=True)
                write_text(about, json.dumps({"kind": KIND, "format": FORMAT}) + "\n")
            store = cls(place)
            for sub in FOLDERS:
                (place / sub).mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=store.parts):
                pass  # tells now if nothing can be written
        return store

    def keep(self, configurations: Iterable[Configuration]) -> None:
        """Keeps what is going to be run; writes nothing where it is there already. Raises OSError,
        StoreError for a file that is broken.
        """
        with naming(self.folder):
            self.kept.add(configurations)

    def configuration(self, key: str) -> Configuration:
        """What has this key. Raises StoreError."""
        return self.kept.find(key)

    def add(self, name: str, tables: Mapping[str, pyarrow.Table]) -> None:
        """Adds a part. Raises OSError; then nothing of it is there."""
        if (self.parts / name).exists():
            return
        with naming(self.folder), self._beside() as folder:
            for table, rows in tables.items():
                write(folder / f"{table}.parquet", rows)
            os.chmod(folder, 0o777 & ~UMASK)
            sync(folder)
            self._move(folder, self.parts / name)

    def fail(self, name: str, failures: Iterable[Failure]) -> None:
        """Keeps failures. Raises OSError."""
        content = [vars(one) for one in failures]
        with naming(self.folder):
            write_text(self.failed / f"{name}.json", json.dumps(content, indent=1))

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
        """The names of its parts, sorted. Raises StoreError."""
        for _ in range(AGAIN):
            before = self._merged()
            try:
                with os.scandir(self.parts) as entries:
                    names = [one.name for one in entries]
            except FileNotFoundError:
                raise StoreError(f"{self.parts} is missing") from None
            if self._merged() == before:
                return sorted(name for name in names if not name.startswith((TEMPORARY, REMOVED)))
        raise StoreError(self._changing())

    def _merged(self) -> int:
        """How often parts were replaced. Of a list that was made amid that, a merged part and those
        that it replaced may both be missing.
        """
        try:
            return self.merges.stat().st_size
        except FileNotFoundError:
            return 0

    def _changing(self) -> str:
        return f"{self.folder} is being changed all the time; try again"

    def check_filled(self) -> None:
        """Raises StoreError if no run is in it."""
        if not self.names():
            raise StoreError(f"{self.folder} has no runs yet; start its sweep")

    def read(
        self, table: str = RUNS, columns: Sequence[str] | None = None, *, coded: bool = False
    ) -> pyarrow.Table:
        """A table of all runs, each once, sorted by configuration, seed and version; it has no rows
        in an empty store. With `coded`, texts are dictionaries, which take less memory.

        Raises StoreError for a part that is broken, ValueError where no part has the table.
        """
        wanted = None if columns is None else list(dict.fromkeys([*KEYS, *columns]))
        tables = self._tables(table, wanted, coded=coded)
        if tables:
            return once(tables)
        if table not in (RUNS, CLASSES) and self.names():
            raise ValueError(
                f"{self.folder} has no table {table}; `sweep --tables {table}` keeps it, with the "
                "words of the sweep"
            )
        return empty()

    def some(self, table: str, runs: Iterable[tuple[str, int, str]]) -> pyarrow.Table:
        """The rows of a table that belong to these runs, in the order of `read`. A run is given by
        what `KEYS` name. Raises as `read` does.
        """
        wanted = set(runs)
        found = self.each(table, lambda file: read_runs(file, wanted))
        return once(found) if found else empty()

    def _tables(
        self, table: str, columns: Sequence[str] | None, *, coded: bool = False
    ) -> list[pyarrow.Table]:
        """A table of each part that has it, in the order of their names."""
        return self.each(table, lambda file: read_part(file, columns, coded=coded))

    def each(self, table: str, read: Callable[[Path], Found]) -> list[Found]:
        """What `read` gives of the file of a table in each part that has it, in the order of the
        names of parts. Begins again where parts are merged meanwhile. Raises what `read` raises,
        and StoreError for a part that lacks what every part has.
        """
        found: dict[str, Found | None] = {}
        for _ in range(AGAIN):
            names = self.names()
            found = {name: found[name] for name in names if name in found}  # parts do not change
            try:
                for name in names:
                    if name not in found:
                        file = self._file(name, table)
                        found[name] = None if file is None else read(file)
            except FileNotFoundError:
                continue  # it was merged with others since
            return [one for name in names if (one := found[name]) is not None]
        raise StoreError(self._changing())

    def _file(self, name: str, table: str) -> Path | None:
        """The file of a table of a part; None if it has none. Raises FileNotFoundError for a part
        that is gone, StoreError for one that lacks what every part has.
        """
        file = self.parts / name / f"{table}.parquet"
        if file.exists():
            return file
        if not file.parent.exists():
            raise FileNotFoundError(file)
        if table in (RUNS, CLASSES):
            raise StoreError(f"{file} is missing; delete the folder {name}")
        return None

    def done(self, version: str, tables: Iterable[str] = ()) -> Done:
        """The runs that this version has made, and kept these tables of. Raises StoreError."""
        arrow = library("pyarrow")
        found = self._tables(RUNS, [*KEYS, KEPT], coded=True)
        whole = joined(found) if found else empty()
        if not whole.num_rows:
            return Done(whole)
        texts, kept = coded(whole.column(KEPT))
        wanted = set(tables)
        enough = [wanted <= set((one or "").split(",")) for one in texts.to_pylist()]
        enough.append(not wanted)  # of rows that do not say, whose code is -1
        versions, made_by = coded(whole.column("version"))
        own = np.array([one == version for one in versions.to_pylist()])
        return Done(whole.filter(arrow.array(np.array(enough)[kept] & own[made_by])))

    def tidy(self) -> int:
        """Merges small parts where there are hundreds, so that readers stay fast; how many were
        merged. It costs next to nothing where there are few, and does nothing while another process
        merges. Raises OSError.
        """
        return merging.tidy(self)

    def compact(self) -> tuple[int, int]:
        """Merges all parts but large ones, each run once within what is merged, and removes what
        drivers that were killed left long ago, and failures of runs that have rows since; how many
        parts there were and are. Drivers and readers may be at work meanwhile.

        Raises StoreError, also while another one merges, and OSError.
        """
        found = merging.compact(self)
        files = self._failure_files()  # a driver may add others meanwhile
        self.forget(self.failures(), files)
        return found

    def failures(self) -> list[Failure]:
        """The runs that gave an error, and no rows since, each once. Raises StoreError."""
        found: dict[tuple[str, int, str], Failure] = {}
        for file in self._failure_files():
            try:
                content = [Failure(**one) for one in json.loads(file.read_text(encoding="utf-8"))]
            except FileNotFoundError:
                continue  # `compact` has put them into another file since
            except (ValueError, TypeError):
                raise StoreError(f"{file} is broken: delete it") from None
            found |= {(one.configuration, one.seed, one.version): one for one in content}
        made = {version: self.done(version) for version in {version for _, _, version in found}}
        return [
            one
            for (key, seed, version), one in sorted(found.items())
            if (key, seed) not in made[version]
        ]

    def forget(self, but: Sequence[Failure] = (), files: Sequence[Path] | None = None) -> None:
        """Removes all failures but these, from some files or all. Raises OSError."""
        files = self._failure_files() if files is None else files
        name = digest(*(f"{one.configuration}:{one.seed}:{one.version}" for one in but))
        if but and [file.stem for file in files] != [name]:
            self.fail(name, but)
        for file in files:
            if not but or file.stem != name:
                file.unlink(missing_ok=True)

    def _failure_files(self) -> list[Path]:
        return sorted(one for one in self.failed.glob("*.json") if one.name[0] != ".")


def check(folder: Path) -> None:
    """Raises StoreError if a folder is no store, or one that this version does not know."""
    about = folder / "store.json"
    if folder.is_file():
        raise StoreError(f"{folder} is a file; a store is a folder")
    try:
        content = json.loads(about.read_text(encoding="utf-8"))
        kind, format_ = content.get("kind"), content.get("format")
    except FileNotFoundError:
        raise StoreError(
            f"{folder} is no store: it has no store.json; `anabranch sweep` makes one"
        ) from None
    except (ValueError, AttributeError):
        raise StoreError(f"{about} is broken: it is not what a sweep wrote") from None
    if kind != KIND:
        raise StoreError(f"{folder} is no store of a sweep: {about.name} says kind {kind!r}")
    if type(format_) is not int or format_ < 1:
        raise StoreError(
            f"{about} is broken: its format is {format_!r}, and a number belongs there"
        )
    if format_ > FORMAT:
        raise StoreError(
            f"{about} says format {format_}, and this version has stores up to format {FORMAT}"
        )


def own(name: str) -> bool:
    """Whether a name in a folder is one that stores have there."""
    return name in (*FOLDERS, LOCK, MERGES) or name.startswith(".store.json.")
