"""How runs are put into tasks, and what becomes of tasks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.sweeps import Store
from anabranch.sweeps.configuration import Configuration, Task
from anabranch.sweeps.driver import Driver, Pending
from anabranch.sweeps.keeper import together
from anabranch.sweeps.rows import version
from anabranch.sweeps.work import Outcome, work

SCENARIO = ab.load("khalili/scenario-c")
SHORT = ("duration=7 s", "warmup=5 s")
ONE = Configuration(SCENARIO.text, SCENARIO.name, overrides=SHORT)
TABLES = ("classes",)


class KilledWorker(Exception):
    """What Dask calls it."""


class Workers:
    """An engine that does tasks at once; those with a bad seed take their worker with them."""

    def __init__(self, workers: int = 1, bad: int = 0) -> None:
        self.workers, self.bad = workers, bad
        self.tasks: list[Task] = []

    def submit(self, function: Callable[[Any], Any], task: Any) -> Future[Any]:
        self.tasks.append(task)
        future: Future[Any] = Future()
        if any(self.bad in seeds for _, seeds in task.parts):
            future.set_exception(KilledWorker())
        else:
            future.set_result(Outcome(task.name(), runs=len(task), took_s=0.01 * len(task)))
        return future

    def sizes(self) -> list[int]:
        return [len(task) for task in self.tasks]


def drive(workers: Workers, runs: int, tables: Callable[[int], tuple[str, ...]]) -> list[Outcome]:
    kept: list[Outcome] = []
    Driver(workers, kept.extend).drive(
        Pending(ONE, seed, tables(seed)) for seed in range(1, runs + 1)
    )
    return kept


def test_tasks_take_about_a_second_once_it_is_known_what_a_run_takes() -> None:
    workers = Workers()
    kept = drive(workers, 350, lambda _: TABLES)
    assert workers.sizes() == [1, 1, 100, 100, 100, 48]
    assert sum(one.runs for one in kept) == 350


def test_a_configuration_of_which_no_run_has_ended_has_one_run_in_a_task() -> None:
    workers = Workers()
    other = replace(ONE, overrides=("duration=8 s", "warmup=5 s"))
    runs = [Pending(ONE, seed, TABLES) for seed in range(1, 30)]
    runs += [Pending(other, seed, TABLES) for seed in range(1, 30)]
    Driver(workers, lambda _: None).drive(runs)
    assert [len(seeds) for task in workers.tasks for one, seeds in task.parts if one == other][
        :2
    ] == [1, 1]


def test_outcomes_are_kept_where_a_task_that_ends_with_them_raises() -> None:
    class Faulty(Workers):
        def submit(self, function: Callable[[Any], Any], task: Any) -> Future[Any]:
            future = super().submit(function, task)
            if len(self.tasks) == 2:
                future = Future()
                future.set_exception(OSError("no"))
            return future

    kept: list[Outcome] = []
    with pytest.raises(OSError, match="no"):
        Driver(Faulty(), kept.extend).drive(Pending(ONE, seed, TABLES) for seed in range(1, 9))
    assert sum(one.runs for one in kept) == 1


def test_a_task_without_rows_is_not_in_the_name_of_a_part() -> None:
    rows = work(Task(((ONE, (1,)),), TABLES, version()))
    assert together([rows, Outcome("nothing")]).name == rows.name


def test_many_workers_get_longer_tasks_than_few() -> None:
    workers = Workers(workers=400)
    drive(workers, 3000, lambda _: TABLES)
    assert workers.sizes()[800:] == [400] * 5 + [200]  # of four seconds


def test_runs_with_other_tables_are_other_tasks_and_keep_their_order() -> None:
    workers = Workers()
    drive(workers, 9, lambda seed: (*TABLES, "links") if seed in (5, 6) else TABLES)
    assert [seeds for task in workers.tasks for _, seeds in task.parts] == [
        (1,),
        (2,),
        (3, 4),
        (5, 6),
        (7, 8, 9),
    ]


def test_one_run_that_kills_its_worker_fails_and_those_beside_it_do_not() -> None:
    workers = Workers(bad=50)
    kept = drive(workers, 102, lambda _: TABLES)
    failures = [failure for one in kept for failure in one.failures]
    assert [(one.seed, one.reason.split(",")[0]) for one in failures] == [(50, "its worker died")]
    assert sum(one.runs for one in kept) == 101


def test_outcomes_that_end_together_are_one_part_with_all_rows() -> None:
    tasks = [
        Task(((ONE, (seed,)),), tables, version())
        for seed, tables in enumerate([TABLES, (*TABLES, "links"), TABLES], start=1)
    ]
    outcomes = [work(task) for task in tasks]
    one = together(outcomes)
    assert one.runs == 3 and one.name not in {each.name for each in outcomes}
    assert one.tables["runs"].column("seed").to_pylist() == [1, 2, 3]
    assert set(one.tables["links"].column("seed").to_pylist()) == {2}
    assert together(outcomes[::-1]).name == one.name
    assert together(outcomes[:1]) is outcomes[0]


def test_a_part_has_the_name_of_the_runs_that_it_has() -> None:
    both, first = (Task(((ONE, seeds),), TABLES, version()) for seeds in ((1, 2), (1,)))
    assert both.name({(ONE.key, 2)}) == first.name() != both.name()


SCRIPT = """
import pytest

import anabranch as ab
swept = ab.sweep("khalili/scenario-c", seeds=2, overrides=["duration=7 s", "warmup=5 s"],
                 on="dask", workers=2, store="s")
print(len(swept.frame("runs")), __file__)
"""


def test_a_script_without_a_guard_runs_a_sweep_on_processes_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.split()[0] == "2" and done.stdout.rstrip().endswith("script.py")
    assert Store(tmp_path / "s").read().num_rows == 2
