"""Makers of results: the threads of this process, or an engine of sweeps.

A command that needs many runs, such as an audit, is given a maker. It announces its runs first, so
that a maker with many workers has something to do for all of them. Then it asks for one result
after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict, Unpack

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


class Options(TypedDict, total=False):
    """The parameters of `run` beside scenario, seeds and threads."""

    controller: ControllerLike | None
    overrides: Sequence[str]
    series: bool
    events: bool
    recording: Recording | None
    progress: Tell | None


class Maker(Protocol):
    """Makes results."""

    def announce(self, wanted: Iterable[Wanted]) -> None:
        """Says what will be asked for, in that order."""

    def run(self, scenario: Scenario, seeds: Seeds, **options: Unpack[Options]) -> Result:
        """What `anabranch.run` gives, and raises."""


@dataclass(frozen=True)
class Core:
    """The simulator's own threads in this process; 0 is one for each processor."""

    threads: int = 0

    def announce(self, wanted: Iterable[Wanted]) -> None:
        """Does nothing: all threads work on the result that is asked for."""

    def run(self, scenario: Scenario, seeds: Seeds, **options: Unpack[Options]) -> Result:
        """Simulates with all threads."""
        return run(scenario, seeds, threads=self.threads, **options)
