"""Tables and progress on the terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Protocol

import typer
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..files import is_standard_output
from . import INTERRUPTED
from .streams import writable

VERDICT_STYLES = {
    "reproduced": "green",
    "not_reproduced": "red",
    "undecided": "yellow",
    "not_run": "dim",
}


def reserve_output(reserved: bool) -> None:
    """Says whether standard output is for a file alone: then tables and notes go to standard error."""
    global _reserved
    _reserved = reserved


_reserved = False


def console() -> Console:
    """Standard output, or error where the output is a file's; wide enough for tables when neither
    a terminal nor COLUMNS limits it.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return Console(width=int(columns), stderr=_reserved)
    stream = sys.stderr if _reserved else sys.stdout
    return Console(width=None if stream.isatty() else 160, stderr=_reserved)


def table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1
) -> Table:
    """A table whose first `left` columns are text and whose others are numbers.

    Lines break between words only, numbers last. Where the terminal is too narrow for the words
    side by side, every cell has a line of its own.
    """
    spelled = partial(writable, stream=console().file)  # first, for it may be longer
    title, head, rows = spelled(title), [*map(spelled, head)], [[*map(spelled, r)] for r in rows]
    columns = [
        [Text.from_markup(cell) for cell in cells] for cells in zip(head, *rows, strict=True)
    ]
    for broken, padding in product((left, len(head)), (1, 0)):
        least = [_least(column, index < broken) for index, column in enumerate(columns)]
        room = console().width - (2 * padding + 1) * len(head) - 1  # a line beside each column
        if sum(least) <= room:
            break
    else:
        return _upright(title, head, rows)
    longest = [max(text.cell_len for text in column) for column in columns]
    result = Table(title=title, title_justify="left", padding=(0, padding))
    for index, (name, width) in enumerate(zip(head, _narrowed(longest, least, room), strict=True)):
        justify: JustifyMethod = "left" if index < left else "right"
        result.add_column(name, justify=justify, overflow="fold", width=width)
    for row in rows:
        result.add_row(*row)
    return result


def _least(column: Sequence[Text], broken: bool) -> int:
    """The least width of a column: headings break between words, cells only if `broken`."""
    head, *cells = column
    parts = [part for text in (column if broken else [head]) for part in text.plain.split()]
    whole = [] if broken else [text.plain for text in cells]
    return max((cell_len(part) for part in parts + whole), default=0)


def _narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fit into `room`: the widest columns give way, none below its least."""
    result = list(widths)
    while sum(result) > room:
        spare = [i for i, width in enumerate(result) if width > least[i]]
        result[max(spare, key=lambda i: result[i])] -= 1
    return result


def _upright(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """The cells of each row one below the other, with their headings beside them."""
    result = Table(title=title, title_justify="left", show_header=False)
    result.add_column(style="bold")
    result.add_column(overflow="fold")
    for row in rows:
        for name, cell in zip(head, row, strict=True):
            if cell:
                result.add_row(name, cell)
        result.add_section()
    return result


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
    """A progress bar on standard error; nothing when that is not a terminal."""
    if not sys.stderr.isatty():
        yield _silence
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


def _silence(done: float, total: float, what: str = "") -> None:
    """Reports nothing."""
