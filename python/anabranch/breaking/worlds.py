"""Where replications of a search run: threads of this process, an engine of sweeps, or
(`on_linux`) the real kernel.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Protocol, Self

from ..controller import ControllerLike, given_name
from ..makers import Core, Maker, Wanted
from ..result import Result, run
from ..scenario import Scenario


@dataclass(frozen=True)
class Replication:
    """A run of a scenario with a seed."""

    scenario: Scenario
    seed: int
    series: bool
    """Whether it keeps samples over time."""
    controller: ControllerLike | None
    """A Python class that is under test; other controllers are in the scenario."""


class World(Protocol):
    """Runs replications. Work that an interrupt leaves is dropped at the end of its context."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def start(self, wanted: Replication) -> Callable[[], Result | None]:
        """Starts a replication; the function that is returned waits for it, and gives None for one
        that is not valid.
        """


@dataclass
class Threads:
    """Threads of this process."""

    threads: int = 0
    """0 is one for each processor."""
    _pool: ThreadPoolExecutor | None = field(default=None, repr=False)

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(self.threads or os.cpu_count() or 1)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._pool is not None
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None

    def start(self, wanted: Replication) -> Callable[[], Result]:
        """Puts it into the queue of the threads."""
        assert self._pool is not None, "threads work inside of their context"
        one = partial(
            run,
            wanted.scenario,
            (wanted.seed,),
            controller=wanted.controller,
            threads=1,
            series=wanted.series,
        )
        return self._pool.submit(one).result


@dataclass
class Engine:
    """An engine of sweeps, which has workers and perhaps a store."""

    maker: Maker

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Whoever made the engine ends it."""

    def start(self, wanted: Replication) -> Callable[[], Result]:
        """Announces it: a worker begins when it is free."""
        own = wanted.controller
        name = None if own is None else given_name(own)
        seeds = (wanted.seed,)
        self.maker.announce([Wanted(wanted.scenario, seeds, name, series=wanted.series)])
        return lambda: self.maker.run(wanted.scenario, seeds, controller=own, series=wanted.series)


def world_of(maker: Maker) -> World:
    """The world of a maker: the threads of this process are used for many runs at once."""
    return Threads(maker.threads) if isinstance(maker, Core) else Engine(maker)
