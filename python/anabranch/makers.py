"""Makers of results: this process, or any object with the same methods.

A task with many runs, such as an audit, takes a maker. The task first announces its runs, so that a
maker with many workers can start them all, and then requests one result after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .controller import ControllerLike
from .result import Recording, Result, run
from .scenario import Scenario
from .seeds import Seeds

Tell = Callable[[float, float], object]
"""Called with the work done and the work in all, in any unit."""


@dataclass(frozen=True)
class Wanted:
    """A result that is going to be asked for; the fields are the parameters of `run`."""

    scenario: Scenario
    seeds: tuple[int, ...]
    controller: str | None = None
    overrides: tuple[str, ...] = ()
    series: bool = False
    events: bool = False


class Maker(Protocol):
    """Makes results."""

    def announce(self, wanted: Iterable[Wanted]) -> None:
        """Announces the runs that will be requested, in that order."""

    def run(
        self,
        scenario: Scenario,
        seeds: Seeds,
        *,
        controller: ControllerLike | None = None,
        overrides: Sequence[str] = (),
        series: bool = False,
        events: bool = False,
        recording: Recording | None = None,
        progress: Tell | None = None,
    ) -> Result:
        """The result of `anabranch.run`, with the same errors."""


@dataclass(frozen=True)
class Core:
    """The simulator's own threads in this process; 0 is one for each processor."""

    threads: int = 0

    def announce(self, wanted: Iterable[Wanted]) -> None:
        """Does nothing: all threads work on the result that is asked for."""

    def run(
        self,
        scenario: Scenario,
        seeds: Seeds,
        *,
        controller: ControllerLike | None = None,
        overrides: Sequence[str] = (),
        series: bool = False,
        events: bool = False,
        recording: Recording | None = None,
        progress: Tell | None = None,
    ) -> Result:
        """Simulates with all threads."""
        return run(
            scenario,
            seeds,
            controller=controller,
            overrides=overrides,
            threads=self.threads,
            series=series,
            events=events,
            recording=recording,
            progress=progress,
        )
