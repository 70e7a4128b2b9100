"""Tables and progress on the terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import typer
from rich.console import Console, Group
from rich.markup import escape

from ..files import is_standard_output
from ..telling import Lines
from . import INTERRUPTED
from .formats import FORMATS, TEXT
from .tables import Table

VERDICT_STYLES = {
    "reproduced": "green",
    "not_reproduced": "red",
    "undecided": "yellow",
    "not_run": "dim",
    "meets": "green",
    "misses": "red",
    "not_evaluated": "dim",
}


@dataclass
class Output:
    """Destination and form of tables, from the options of the current command."""

    reserved: bool = False
    """Whether standard output carries a file only: tables and notes then go to standard error."""
    format: str = TEXT
    """A name of `--format`; but for text, standard output has the tables and nothing else."""


output = Output()


class Printer(Console):
    """A console that writes tables in the form that was asked for."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Prints; notes go to standard error where tables are for a program."""
        if output.format == TEXT:
            super().print(*objects, **options)
            return
        for each in objects:
            if isinstance(each, Group):
                self.print(*each.renderables)
            elif isinstance(each, Table):
                text = FORMATS[output.format](each.title, each.head, each.plain(), each.left)
                self.file.write(f"{text}\n")
                self.file.flush()  # a reader of --watch waits for it
            else:
                Console(stderr=True, width=self.width).print(each, **options)


def console() -> Printer:
    """Standard output, or error where the output is a file's; wide enough for tables when neither
    a terminal nor COLUMNS limits it.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return Printer(width=int(columns), stderr=output.reserved)
    stream = sys.stderr if output.reserved else sys.stdout
    return Printer(width=None if stream.isatty() else 160, stderr=output.reserved)


def table(
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: int = 1,
    spare: Sequence[str] = (),
) -> Table:
    """A table whose first `left` columns are text; columns in `spare` may be left out."""
    return Table(title, head, rows, left, spare)


def columns(
    title: str, cells: Mapping[str, Sequence[str]], *, left: int = 1, spare: Sequence[str] = ()
) -> Table:
    """A table of columns, each with its heading."""
    return Table(title, list(cells), list(zip(*cells.values(), strict=True)), left, spare)


def named(text: str) -> str:
    """A name as it stands: brackets in it are no markup."""
    return escape(text)


def worded(verdict: str) -> str:
    """A verdict in its colour."""
    return f"[{VERDICT_STYLES[verdict]}]{verdict.replace('_', ' ')}[/]"


def stopped(finished: int, wanted: int) -> typer.Exit:
    """Says how much an interrupt left; the exit to raise."""
    console().print(f"interrupted: {finished} of {wanted} replications had finished")
    return typer.Exit(INTERRUPTED)


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Shows that `file` is being written and says when it is; an interrupt does not stop it.

    A pipe may have no reader, and opening it then blocks for ever: there an interrupt stops it.
    """
    before = signal.getsignal(signal.SIGINT)
    if not file.is_fifo():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with progress(f"writing {escape(str(file))}"):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    if not is_standard_output(file):
        console().print(f"written to {file}", highlight=False, markup=False)


class ReportProgress(Protocol):
    """Reports the work done, the work in all and, perhaps, the step at work."""

    def __call__(self, done: float, total: float, what: str = "") -> None:
        """Reports progress."""


@contextmanager
def progress(label: str) -> Iterator[ReportProgress]:
    """A progress bar on standard error; without a terminal, a line from time to time."""
    if not sys.stderr.isatty():
        yield Lines(sys.stderr, label).tell
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def tell(done: float, total: float, what: str = "") -> None:
            bar.update(task, completed=done, total=total, description=what or label)

        yield tell
