"""Results are shown first and written then: a file that cannot be written takes nothing with it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from ..files import is_standard_output
from . import message
from .terminal import writing

Write = Callable[[Path], object]
"""Writes a file; raises OSError."""


def show_and_write(show: Callable[[], object], *files: tuple[Path | None, Write]) -> None:
    """Shows a result, then writes it to each file that was asked for, None for one that was not.

    Each step is taken whatever became of those before: an interrupt while tables are printed, a
    full disk, a directory that was removed meanwhile. What cannot be written to its file is written
    to the directory for temporary files. Raises OSError at the end, saying so.
    """
    with ExitStack() as steps:
        for file, write in reversed(files):
            if file is not None:
                steps.callback(_written, file, write)
        show()


def _written(file: Path, write: Write) -> None:
    try:
        with writing(file):
            write(file)
    except OSError as error:
        place = None if is_standard_output(file) else _elsewhere(file.name, write)
        raise OSError(
            message(error) + (f"\nhelp: it was written to {place} instead" if place else "")
        ) from None


def _elsewhere(name: str, write: Write) -> Path | None:
    """Where else it was written; None if that failed too."""
    place: Path | None = None
    try:
        place = Path(tempfile.mkdtemp(prefix="anabranch-")) / name
        write(place)
    except OSError:
        if place:
            place.parent.rmdir()
        return None
    return place
