"""Where a command makes its runs, and where it keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..makers import Maker

THREADS = "threads"

OnOption = Annotated[
    str,
    typer.Option(
        "--on",
        help="Where runs execute: threads; dask, for processes on this machine; the address of a Dask scheduler; "
        "FILE.yaml of a cluster; or FILE.py:FUNCTION that returns a cluster.",
    ),
]
KeptOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Store every run in this folder, as `sweep` does; a repeated command only makes the missing runs.",
    ),
]
WorkersOption = Annotated[
    int,
    typer.Option(
        "--threads",
        "--workers",
        min=0,
        help="Threads, or workers of --on dask; 0 is one for each core.",
    ),
]


@dataclass(frozen=True)
class Making:
    """The options of a command that say where its runs are made and kept."""

    on: str = THREADS
    store: Path | None = None
    workers: int = 0

    @classmethod
    def of(cls, on: str, store: Path | None, workers: int) -> Making:
        """Reads the options. Raises ValueError for a number of workers that is out of range."""
        from .options import checked_threads

        return cls(on, store, checked_threads(workers))

    @contextmanager
    def maker(self) -> Iterator[Maker]:
        """Yields the maker of the runs. Raises the errors of `sweeps.results.maker`."""
        from ..makers import Core  # takes numpy, and --help does without

        if self.on == THREADS and self.store is None:  # needs no library of sweeps
            yield Core(self.workers)
            return
        from ..sweeps.results import maker

        with maker(self.on, self.store, self.workers) as made:
            yield made
