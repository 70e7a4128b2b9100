"""Progress of long work, in a log (where no bar can move) and in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Any, TextIO

EVERY_S = 30.0
"""Between lines of a log. Work that takes less writes none."""

NOTEBOOK_S = 0.5
"""Seconds between updates in a notebook."""


def length(seconds: float) -> str:
    """A time in the unit that people would use."""
    for unit, of_unit in (("h", 3600.0), ("min", 60.0)):
        if seconds >= of_unit:
            return f"{seconds / of_unit:.3g} {unit}"
    return f"{seconds:.3g} s"


def left(done: float, total: float, passed_s: float) -> str:
    """Estimated time left at the current pace; empty while unknown."""
    if not 0 < done < total or passed_s <= 0:
        return ""
    return f"{length(passed_s * (total - done) / done)} left"


@dataclass
class Lines:
    """Writes a line from time to time."""

    out: TextIO
    label: str
    every_s: float = EVERY_S
    began_s: float = field(default_factory=time.monotonic)
    said_s: float = field(default_factory=time.monotonic)

    def tell(self, done: float, total: float, what: str = "") -> None:
        """Reports work done, work in all, and the current item."""
        now_s = time.monotonic()
        if now_s - self.said_s < self.every_s or not total:
            return
        self.said_s = now_s
        rest = left(done, total, now_s - self.began_s)
        words = [f"{what or self.label}: {done / total:.0%}", *([rest] if rest else [])]
        print(", ".join(words), file=self.out, flush=True)


@contextmanager
def telling(label: str) -> Iterator[Callable[[float, float, str], None]]:
    """Progress reporter for calls from Python: a line that is rewritten in a notebook or on a
    terminal, else lines of a log. Terminal and log use standard error.
    """
    if in_notebook():
        with _in_notebook(label) as tell:
            yield tell
    elif sys.stderr.isatty():
        try:
            yield _on_terminal
        finally:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    else:
        yield Lines(sys.stderr, label).tell


def in_notebook() -> bool:
    """Whether this process runs in a Jupyter notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _on_terminal(done: float, total: float, what: str = "") -> None:
    print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


@contextmanager
def _in_notebook(label: str) -> Iterator[Callable[[float, float, str], None]]:
    """A line below the cell, which is gone at the end."""
    display: Any = sys.modules["IPython"].display
    handle = display.display(display.HTML(""), display_id=True)
    said_s = 0.0

    def tell(done: float, total: float, what: str = "") -> None:
        nonlocal said_s
        if time.monotonic() - said_s >= NOTEBOOK_S:
            said_s = time.monotonic()
            bar = f'<progress value="{done}" max="{max(total, 1)}"></progress> '
            handle.update(display.HTML(bar + escape(what or label)))

    try:
        yield tell
    finally:
        handle.update(display.HTML(""))
