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


def show_and_write(
    show: Callable[[], object],
    *files: tuple[Path | None, Write],
    failure: OSError | None = None,
) -> None:
    """Shows a result, then writes it to each requested file; None stands for a file that was not
    requested.

    Each step runs even if earlier ones failed: an interrupt while tables are printed, a full disk,
    a directory that was removed meanwhile. A result that cannot be written to its file is written
    to the directory for temporary files. At the end raises one OSError that reports all failures,
    first `failure`, from an earlier write.
    """
    said = message(failure).splitlines() if failure else []
    with ExitStack() as steps:
        steps.callback(_tell, said)
        for file, write in reversed(files):
            if file is not None:
                steps.callback(_written, file, write, said)
        try:
            show()
        except OSError as error:
            said.append(message(error))


def _tell(said: list[str]) -> None:
    """Raises OSError if there is something to say; after the first line, each error is marked."""
    if said:
        raise OSError("\nerror: ".join(said)) from None


def _written(file: Path, write: Write, said: list[str]) -> None:
    """Writes a file; appends an error to `said`."""
    try:
        with writing(file):
            write(file)
    except OSError as error:
        place = None if is_standard_output(file) else _elsewhere(file.name, write)
        said.append(
            message(error) + (f"\nhelp: it was written to {place} instead" if place else "")
        )


def _elsewhere(name: str, write: Write) -> Path | None:
    """The other place where it was written; None if that failed too."""
    place: Path | None = None
    try:
        place = Path(tempfile.mkdtemp(prefix="anabranch-")) / name
        write(place)
    except OSError:
        if place:
            place.parent.rmdir()
        return None
    return place
