"""Where the runs of a sweep are made: threads of this process, or the workers of a Dask cluster.

An engine takes functions and gives futures, as `concurrent.futures` has them. Dask does the rest:
where workers are, what they are started by, and what becomes of tasks of a worker that dies.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from .libraries import library


class Engine(Protocol):
    """Workers."""

    @property
    def workers(self) -> int:
        """How many tasks they do at a time; a cluster may grow."""

    def submit(self, function: Callable[[Any], Any], task: Any) -> Future[Any]:
        """Has a worker do it."""


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

    def __init__(self, client: Any) -> None:
        """Those that a client of `dask.distributed` knows."""
        self.client = client
        self.executor = client.get_executor(pure=False)

    @property
    def workers(self) -> int:
        """Threads of all workers, at least one: they may still be on their way."""
        return max(sum(int(many) for many in self.client.nthreads().values()), 1)

    def submit(self, function: Callable[[Any], Any], task: Any) -> Future[Any]:
        """Has a worker do it."""
        found: Future[Any] = self.executor.submit(function, task)
        return found


@contextmanager
def engine(on: str = "threads", workers: int = 0) -> Iterator[Engine]:
    """The engine that a text names: `threads`; `dask` for workers on this machine; the address of a
    scheduler, such as `tcp://host:8786`; or `FILE.py:FUNCTION`, which returns a cluster or a client.

    `workers` says how many, on this machine; 0 is one for each processor. Raises ValueError for
    another text, ImportError without Dask, OSError where no scheduler answers.
    """
    many = workers or len(os.sched_getaffinity(0))
    if on == "threads":
        with ThreadPoolExecutor(many) as executor:
            try:
                yield Threads(executor, many)
            except BaseException:
                executor.shutdown(wait=True, cancel_futures=True)
                raise
        return
    distributed = library("distributed")
    if on == "dask":
        with (
            distributed.LocalCluster(
                n_workers=many, threads_per_worker=1, dashboard_address=None, silence_logs=40
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield Dask(client)
        return
    if "://" in on:
        with distributed.Client(on, timeout="10s") as client:
            yield Dask(client)
        return
    made = _made(on)
    if isinstance(made, distributed.Client):
        with made as client:
            yield Dask(client)
        return
    with made as cluster, distributed.Client(cluster) as client:
        yield Dask(client)


def _made(on: str) -> Any:
    """The cluster that a function in a file returns. Raises ValueError."""
    file, colon, name = on.rpartition(":")
    if not colon or not file.endswith(".py"):
        raise ValueError(
            f"--on is {on!r}; write threads, dask, the address of a scheduler such as "
            "tcp://host:8786, or FILE.py:FUNCTION for a function that returns a cluster"
        )
    if not Path(file).is_file():
        raise ValueError(f"--on is {on!r}; there is no file {file}")
    spec = importlib.util.spec_from_file_location(f"anabranch_cluster_{Path(file).stem}", file)
    if spec is None or spec.loader is None:
        raise ValueError(f"--on is {on!r}; {file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise ValueError(f"--on is {on!r}; {file} has no function {name}")
    return function()
