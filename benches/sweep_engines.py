"""What engines of sweeps cost, and that they all give the same rows.

    .venv/bin/python benches/sweep_engines.py --runs 10000
    .venv/bin/python benches/sweep_engines.py --scheduler 20000
    .venv/bin/python benches/sweep_engines.py --memory 20000

The first makes runs of scenario C on threads and on Dask workers, and compares the exported tables
byte for byte. Overhead is (wall time x workers - time of runs) / time of runs, where the time of
runs is what workers measure themselves; processes that start are not in the wall time. The second
has a Dask scheduler hand out empty tasks, as many ahead as the driver of a sweep does. The third
follows the memory of one worker.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet

import anabranch as ab
from anabranch.sweeps import Store, Sweep
from anabranch.sweeps.configuration import Configuration, Task
from anabranch.sweeps.engines import Dask, Engine, engine
from anabranch.sweeps.rows import checked_tables, version
from anabranch.sweeps.work import work

AHEAD = 2
"""Tasks for each worker that are handed out before it asks for them, as the driver does."""

ENGINES = (("threads", 0), ("dask", 1), ("dask", 2), ("dask", 4))
"""Engines and workers; 0 is one for each processor."""

SHORT = ("warmup=1 s", "flow.multipath.spread=1 s", "flow.single-path.spread=1 s")

SIMULATED_S = (2, 8)
"""Lengths of runs: some milliseconds, and the next longer ones, of about 10 ms."""

BATCHES_S = (1.0, 0.1)
"""How long tasks are."""


def handed(workers: Engine, function: Any, tasks: Iterator[Any]) -> Iterator[Any]:
    """What a function gives for tasks, as it comes, with AHEAD tasks for each worker at work."""
    at_work: set[Future[Any]] = set()
    while True:
        room = AHEAD * workers.workers - len(at_work)
        at_work |= {
            workers.submit(function, task) for _, task in zip(range(room), tasks, strict=False)
        }
        if not at_work:
            return
        ended, at_work = wait(at_work, return_when=FIRST_COMPLETED)
        for future in ended:
            yield future.result()


def tasks(of: Configuration, runs: int, many: int) -> Iterator[Task]:
    """Runs in tasks of so many seeds."""
    for first in range(1, runs + 1, many):
        seeds = tuple(range(first, min(first + many, runs + 1)))
        yield Task(((of, seeds),), checked_tables(()), version())


def hashes(store: Path) -> str:
    """A hash of the tables of a store, exported to Parquet."""
    found = hashlib.sha256()
    for table in ("runs", "classes"):
        file = store.parent / f"{table}.parquet"
        parquet.write_table(Store(store).read(table), file)
        found.update(file.read_bytes())
    return found.hexdigest()[:16]


def compare(runs: int) -> None:
    """Prints a line for each engine, length of runs and of batches."""
    print(f"{'':10}{'workers':>8}{'run':>9}{'batch':>8}{'runs/s':>9}{'overhead':>10}  rows")
    for simulated_s in SIMULATED_S:
        overrides = (f"duration={simulated_s} s", *SHORT)
        sweep = Sweep(ab.load("khalili/scenario-c"), overrides=overrides)
        (one,) = sweep.configurations
        probe = work(Task(((one, tuple(range(1, 51))),), checked_tables(()), version()))
        run_s = probe.took_s / probe.runs
        for batch_s in BATCHES_S:
            for on, many in ENGINES:
                each = max(1, round(batch_s / run_s))
                line(one, (on, many), runs, each)


def line(one: Configuration, on: tuple[str, int], runs: int, each: int) -> None:
    """Makes runs on an engine, in tasks of so many, and prints what that cost."""
    with tempfile.TemporaryDirectory() as folder, engine(*on) as workers:
        store = Store.make(Path(folder) / "store")
        warm = handed(workers, work, tasks(one, 4 * workers.workers, 1))
        assert all(outcome.runs for outcome in warm)  # workers have imported what they need
        began = time.perf_counter()
        busy_s = 0.0
        for outcome in handed(workers, work, tasks(one, runs, each)):
            assert not outcome.failures
            busy_s += outcome.took_s
            store.add(outcome.name, outcome.tables)
        took_s = time.perf_counter() - began
        many = workers.workers
        overhead = took_s * many / busy_s - 1
        print(
            f"{on[0]:10}{many:8}{1e3 * busy_s / runs:6.1f} ms{each:8}{runs / took_s:9.0f}"
            f"{overhead:10.1%}  {hashes(store.folder)}",
            flush=True,
        )


def memory(runs: int) -> None:
    """Prints the resident memory of a worker that makes so many runs, ten times on the way."""
    (one,) = Sweep(ab.load("khalili/scenario-c"), overrides=("duration=2 s", *SHORT)).configurations
    with engine("dask", 1) as workers:
        assert isinstance(workers, Dask)
        for tenth in range(1, 11):
            for outcome in handed(workers, work, tasks(one, runs // 10, 100)):
                assert outcome.runs
            (pages,) = workers.client.run(lambda: Path("/proc/self/statm").read_text()).values()
            bytes_ = int(pages.split()[1]) * os.sysconf("SC_PAGE_SIZE")
            print(f"{tenth * (runs // 10):8} runs {bytes_ / 1e6:8.1f} MB", flush=True)


def nothing(_: int) -> None:
    """A task."""


def scheduled(many: int) -> None:
    """Prints how many tasks a second a scheduler hands out."""
    for count in (1, 2, 4):
        with engine("dask", count) as workers:
            began = time.perf_counter()
            done = sum(1 for _ in handed(workers, nothing, iter(range(many))))
            took_s = time.perf_counter() - began
            print(f"{count} workers: {done / took_s:.0f} empty tasks a second", flush=True)


def main() -> None:
    """Measures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--scheduler", type=int, metavar="TASKS", help="only hand out tasks")
    parser.add_argument("--memory", type=int, metavar="RUNS", help="only follow a worker's memory")
    asked = parser.parse_args()
    if asked.memory:
        memory(asked.memory)
    elif asked.scheduler:
        scheduled(asked.scheduler)
    else:
        compare(asked.runs)


if __name__ == "__main__":
    main()
