"""Files that are on the disk, whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..files import UMASK, beside


def write_text(file: Path, text: str) -> None:
    """Writes a file that is there whole or not at all, and on the disk. Raises OSError."""
    with placed(file) as place, open(place, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


@contextmanager
def placed(file: Path) -> Iterator[Path]:
    """A file to write and sync, which is moved to `file` at the end, and is on the disk then.

    Raises OSError; then nothing is left.
    """
    with beside(file) as place:
        assert place is not None
        yield place
        os.chmod(place, 0o666 & ~UMASK)
    sync(file.parent)


def sync(folder: Path) -> None:
    """Has the disk keep what is in a folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def naming(folder: Path) -> Iterator[None]:
    """Errors of files name the folder that the user named, not a file that is being written."""
    try:
        yield
    except OSError as error:
        cause = error.__cause__  # `beside` gives the number there
        own = cause if error.errno is None and isinstance(cause, OSError) else error
        raise OSError(own.errno, own.strerror or str(own), str(folder)) from None


def size(folder: Path) -> int:
    """The bytes of the files in a folder, not of folders in it."""
    with os.scandir(folder) as entries:
        return sum(one.stat().st_size for one in entries if one.is_file())
