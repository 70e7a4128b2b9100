"""Tables and progress on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.table import Table

VERDICT_STYLES = {
    "reproduced": "green",
    "not_reproduced": "red",
    "undecided": "yellow",
    "not_run": "dim",
}


def console() -> Console:
    """Standard output; wide enough for tables when it is not a terminal."""
    return Console() if sys.stdout.isatty() else Console(width=160)


def table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1
) -> Table:
    """A table whose first `left` columns are text and whose others are numbers."""
    result = Table(title=title, title_justify="left")
    for index, name in enumerate(head):
        result.add_column(name, justify="left" if index < left else "right", overflow="fold")
    for row in rows:
        result.add_row(*row)
    return result


def worded(verdict: str) -> str:
    """A verdict in its colour."""
    return f"[{VERDICT_STYLES[verdict]}]{verdict.replace('_', ' ')}[/]"


class Tell(Protocol):
    """Is told the work done, the work in all and, perhaps, what is being done."""

    def __call__(self, done: float, total: float, what: str = "") -> None:
        """Takes the news."""


@contextmanager
def progress(label: str) -> Iterator[Tell]:
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
    """Tells nobody."""
