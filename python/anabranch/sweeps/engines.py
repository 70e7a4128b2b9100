"""Where the runs of a sweep are made: threads of this process, or the workers of a Dask cluster.

An engine takes functions and gives futures, as `concurrent.futures` has them. Dask does the rest:
where workers are, what they are started by, and what becomes of tasks of a worker that dies.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from threading import Timer
from typing import Any, Protocol
from uuid import uuid4

from .clusters import cluster, quiet, uninterrupted, without_main
from .libraries import library
from .rows import version
from .work import OtherVersion

CONNECT = "10s"
"""How long a scheduler has to answer."""

FRESH_S = 1.0
"""How long the number of workers counts as known: asking takes a millisecond."""

GRACE_S = 10.0
"""How long tasks that workers have begun may take after an interrupt, before they are given up."""


class Engine(Protocol):
    """Workers."""

    @property
    def workers(self) -> int:
        """How many tasks they do at a time; a cluster may grow."""

    def submit(self, function: Callable[[Any], Any], task: Any) -> Future[Any]:
        """Has a worker do it. `cancel` of the future takes back what no worker has begun."""


class Threads:
    """Threads of this process; the simulator leaves the interpreter free while it runs."""

    def __init__(self, executor: ThreadPoolExecutor, workers: int) -> None:
        """`workers` threads."""
        self.executor, self.many = executor, workers

    @property
    def workers(self) -> int:
        """How many threads there are."""
        return self.many

    def submit(self, function: Callable[[Any], Any], task: Any) -> Future[Any]:
        """Has a thread do it."""
        return self.executor.submit(function, task)


class Dask:
    """The workers of a Dask cluster."""

    def __init__(self, client: Any, expected: int = 0) -> None:
        """Those that a client of `dask.distributed` knows. `expected` says how many have been asked
        for, and may still be on their way.
        """
        self.client, self.expected = client, expected
        self.known, self.asked_s = 0, -FRESH_S
        self.begun: set[str] | None = None
        self.at_work: dict[str, Handed] = {}

    @property
    def workers(self) -> int:
        """Threads of all workers, or as many as are expected; at least one."""
        if time.monotonic() - self.asked_s >= FRESH_S:
            with suppress(OSError):  # the scheduler is gone, as futures say
                self.known = sum(int(many) for many in self.client.nthreads().values())
            self.asked_s = time.monotonic()
        return max(self.known, self.expected, 1)

    def submit(self, function: Callable[[Any], Any], task: Any) -> Future[Any]:
        """Has a worker do it."""
        key = f"{function.__name__}-{uuid4().hex}"
        self.begun = None
        handed = Handed(self, key, self.client.submit(function, task, key=key, pure=False))
        self.at_work[key] = handed
        self.client.loop.add_callback(handed.follow)
        return handed

    def has_begun(self, key: str) -> bool:
        """Whether a worker was at a task when this was asked for the first time after the last one
        was submitted. From then on tasks have GRACE_S to end.
        """
        if self.begun is None:
            self.begun = set()
            with suppress(OSError):
                stacks = self.client.call_stack()
                self.begun = {one for of_worker in stacks.values() for one in of_worker}
            timer = Timer(GRACE_S, self._give_up)
            timer.daemon = True
            timer.start()
        return key in self.begun

    def _give_up(self) -> None:
        for handed in list(self.at_work.values()):
            handed.drop()


class Handed(Future[Any]):
    """A task in the hands of Dask: one that a worker has begun cannot be cancelled."""

    def __init__(self, engine: Dask, key: str, task: Any) -> None:
        """The task of an engine that has this key, a future of Dask."""
        super().__init__()
        self.engine, self.key, self.task = engine, key, task

    def cancel(self) -> bool:
        """Takes the task back, if no worker has begun it."""
        if self.done() or self.engine.has_begun(self.key):
            return self.cancelled()
        return self.drop()

    def drop(self) -> bool:
        """Takes the task back in any case."""
        self.task.cancel()
        return True

    async def follow(self) -> None:
        """Ends as the task ends. One whose scheduler is gone, also while it gave the result, is
        cancelled: the executor of Dask would leave it pending for ever.
        """
        try:
            found = await self.engine.client.gather(self.task, asynchronous=True)
        except (Exception, asyncio.CancelledError) as error:
            gone = isinstance(error, OSError | CancelledError | asyncio.CancelledError)
            if gone and self.task.status != "error":  # not an error of the task itself
                super().cancel()
                self.set_running_or_notify_cancel()  # wakes those who wait
            else:
                self.set_exception(error)
        else:
            self.set_result(found)
        finally:
            self.engine.at_work.pop(self.key, None)


@contextmanager
def engine(on: str = "threads", workers: int = 0) -> Iterator[Engine]:
    """The engine that a text names: `threads`, or what `clusters.cluster` takes: `dask`, the
    address of a scheduler, a file of YAML, or `FILE.py:FUNCTION`.

    `workers` says how many; 0 is one for each processor of this machine, or what the file says.
    Raises ValueError for another text, OtherVersion where a worker has another version of
    anabranch, ImportError without Dask, OSError where no scheduler answers.
    """
    if on == "threads":
        many = workers or len(os.sched_getaffinity(0))
        with ThreadPoolExecutor(many) as executor:
            try:
                yield Threads(executor, many)
            except BaseException:
                executor.shutdown(wait=True, cancel_futures=True)
                raise
        return
    with quiet(), without_main(), ExitStack() as opened:
        with uninterrupted():
            place, expected = cluster(on, workers)
            distributed = library("distributed")
            if isinstance(place, distributed.Client):
                client = opened.enter_context(place)
            else:
                if not isinstance(place, str):
                    opened.enter_context(place)
                try:
                    client = opened.enter_context(distributed.Client(place, timeout=CONNECT))
                except OSError as error:
                    raise ValueError(
                        f"--on is {on!r}, where no scheduler answers ({error}); start one with "
                        "`dask scheduler`, or write dask for processes on this machine"
                    ) from None
        check(client)
        yield Dask(client, expected)


def check(client: Any) -> None:
    """Raises OtherVersion if the scheduler, which unpacks tasks, or a worker that is there has
    another version of anabranch, or none.
    """
    own = version()
    there = {"the scheduler": _asked(client.run_on_scheduler, version)}
    for address, found in sorted(client.run(version, on_error="return").items()):
        there[f"the worker at {address}"] = found
    for name, found in there.items():
        if isinstance(found, CancelledError | OSError) or found == own:
            continue  # it is gone since, or right
        has = f"has anabranch {found}" if isinstance(found, str) else "cannot import anabranch"
        raise OtherVersion(f"{name} {has}, and the sweep is of {own}: install that there")


def _asked(ask: Callable[..., Any], function: Callable[[], Any]) -> Any:
    """What a function gives there, or the error in its place."""
    try:
        return ask(function)
    except Exception as error:
        return error
