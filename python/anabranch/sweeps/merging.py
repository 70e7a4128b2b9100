"""How parts of a store become fewer and larger, while drivers and readers are at work.

A merged part is written beside the others and moved to its place; it is read again before those
that it replaces are renamed away. Whoever is killed amid this leaves runs twice, which readers
count once, and the next merge removes.

Names of merged parts end in a hyphen and how often their rows were merged. `tidy` merges parts that
were merged equally often, FAN of them or more, so it writes a row again at most log_FAN(parts)
times, and leaves fewer than FAN small parts of each kind.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO

from .configuration import digest
from .disk import naming, size
from .parts import CLASSES, RUNS, StoreError, check_file, once, opened, read_part

if TYPE_CHECKING:
    import pyarrow

    from .kept import Kept

FAN = 256
"""Small parts that `tidy` waits for."""

SMALL_BYTES = 4 << 20
"""Below this a part is small: its files together, packed."""

MOST_BYTES = 128 << 20
"""Of the rows of a merged part in memory, about; so much is read at a time."""

CELL_BYTES = 16
"""Of a value in memory, about: a number takes 8, a key 20."""

REMOVED = ".old-"
"""What names of parts begin with that a merge has replaced."""

TEMPORARY = ".part-"
"""What names of parts that are being written begin with."""

STALE_S = 86_400.0
"""After which a file that is being written was left by a driver that was killed."""

NOT_LOCKED = (errno.EAGAIN, errno.EACCES, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
"""Errors where another process has the lock, or it is another user's, and of file systems that have
no locks."""


class Merging(Protocol):
    """What is needed of a store."""

    folder: Path
    parts: Path
    failed: Path
    kept: Kept
    lock: Path
    """What is locked while parts are merged."""
    merges: Path
    """A file that grows whenever parts are replaced."""

    def names(self) -> list[str]:
        """The names of its parts."""

    def add(self, name: str, tables: Mapping[str, pyarrow.Table]) -> None:
        """Adds a part."""


def tidy(store: Merging) -> int:
    """Merges small parts where there are many; how many parts were merged. Parts that are broken
    are left as they are, and all are while another process merges. Raises OSError.
    """
    try:
        lock = _locked(store.lock)
    except OSError as error:
        if error.errno in NOT_LOCKED:
            return 0
        raise
    merged = 0
    with lock, naming(store.folder):
        _remove_replaced(store)
        for times, names in _by_merges(store.names()).items():
            if len(names) < FAN:
                continue
            small = [name for name in names if size(store.parts / name) < SMALL_BYTES]
            if len(small) >= FAN:
                merged += sum(_merge(store, group, times) for group in _groups(store, small))
    return merged


def compact(store: Merging) -> tuple[int, int]:
    """Merges all parts but those that are large already, and removes what killed drivers left long
    ago; how many parts there were and are.

    Raises StoreError for a part that is broken and while another process merges, and OSError.
    """
    try:
        lock = _locked(store.lock)
    except BlockingIOError:
        raise StoreError(f"{store.folder} is being compacted by another process") from None
    with lock, naming(store.folder):
        _remove_replaced(store)
        names = store.names()
        times = max(_by_merges(names), default=0)
        for group in _groups(store, names, strict=True):
            _merge(store, group, times, strict=True)
        store.kept.merge()
        _remove_stale(store)
        return len(names), len(store.names())


def _by_merges(names: Iterable[str]) -> dict[int, list[str]]:
    """Names of parts by how often their rows were merged, the least first."""
    found: dict[int, list[str]] = {}
    for name in names:
        times = name.rpartition("-")[2]
        found.setdefault(int(times) if "-" in name and times.isdecimal() else 0, []).append(name)
    return dict(sorted(found.items()))


def _groups(store: Merging, names: Sequence[str], *, strict: bool = False) -> Iterator[list[str]]:
    """Parts to be merged together: at least two, and no more than MOST_BYTES of rows. One that has
    half of that is large, and left as it is. Raises StoreError for one that is broken, if `strict`.
    """
    group: list[str] = []
    total = 0
    for name in names:
        try:
            own = _weight(store.parts / name)
        except StoreError:
            if strict:
                raise
            continue
        if own > MOST_BYTES // 2:
            continue
        if total + own > MOST_BYTES:
            yield group
            group, total = [], 0
        group.append(name)
        total += own
    if len(group) > 1:
        yield group


def _weight(part: Path) -> int:
    """The bytes of the rows of a part in memory, about. Raises StoreError."""
    found = 0
    for file in part.glob("*.parquet"):
        about = opened(file).metadata
        packed = sum(
            about.row_group(number).total_byte_size for number in range(about.num_row_groups)
        )
        found += max(about.num_rows * about.num_columns * CELL_BYTES, packed)
    return found


def _merge(store: Merging, names: Sequence[str], times: int, *, strict: bool = False) -> int:
    """Writes parts into one and removes them; how many they were. Raises StoreError for one that is
    broken, if `strict`; else it is left as it is.
    """
    found: dict[str, list[pyarrow.Table]] = {}
    taken = []
    for name in names:
        try:
            own = _read(store.parts / name)
        except StoreError:
            if strict:
                raise
            continue
        taken.append(name)
        for table, rows in own.items():
            found.setdefault(table, []).append(rows)
    if len(taken) < 2:
        return 0
    whole = {table: once(found.pop(table)) for table in sorted(found)}
    target = f"{digest(*taken)}-{times + 1}"
    store.add(target, whole)
    for table, rows in whole.items():
        if check_file(store.parts / target / f"{table}.parquet") != rows.num_rows:
            raise StoreError(f"{store.parts / target} was not written whole")
    _replace(store, taken)
    return len(taken)


def _read(part: Path) -> dict[str, pyarrow.Table]:
    """The tables of a part. Raises StoreError."""
    found = {file.stem: read_part(file, None) for file in part.glob("*.parquet")}
    for table in (RUNS, CLASSES):
        if table not in found:
            raise StoreError(f"{part / table}.parquet is missing; delete the folder {part.name}")
    return found


def _replace(store: Merging, names: Sequence[str]) -> None:
    """Takes parts away, for which another one is there. Readers that list parts meanwhile see in
    the length of the file `merges` that they have to begin again.
    """
    with open(store.merges, "ab") as counter:
        counter.write(b".")
    for name in names:
        os.rename(store.parts / name, store.parts / f"{REMOVED}{name}")  # gone at once
    for name in names:
        shutil.rmtree(store.parts / f"{REMOVED}{name}", ignore_errors=True)


def _remove_replaced(store: Merging) -> None:
    """Removes what a merge that was killed had replaced."""
    for left in store.parts.glob(f"{REMOVED}*"):
        shutil.rmtree(left, ignore_errors=True)


def _remove_stale(store: Merging) -> None:
    """Removes what drivers that were killed had begun to write."""
    stale_s = time.time() - STALE_S
    ours = {  # other files, such as .gitignore, are the user's
        store.folder: ".store.json.*",
        store.parts: f"{TEMPORARY}*",
        store.kept.folder: ".*.parquet.*",
        store.failed: ".*.json.*",
    }
    for folder, names in ours.items():
        for left in folder.glob(names):
            if _changed_s(left) > stale_s:
                continue
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


def _changed_s(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except FileNotFoundError:  # it is in its place meanwhile
        return time.time()


def _locked(file: Path) -> TextIO:
    """A file that keeps other processes from merging until it is closed. Raises BlockingIOError
    while another one has it, OSError.
    """
    lock = open(file, "w", encoding="utf-8")  # noqa: SIM115 the caller closes it
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise
    return lock
