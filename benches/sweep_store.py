"""What a store of many runs costs: time, memory and bytes of each thing that is done with it.

    .venv/bin/python benches/sweep_store.py [--runs 10000 100000 1000000] [--of-part 200]

Runs are made up: two classes each, and numbers that do not compress. Each measurement is a process
of its own, and its memory the most that it took, less what an import of the package takes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas  # noqa: F401 pyarrow imports it; what imports take is not measured
import pyarrow as arrow
import pyarrow.compute
import pyarrow.parquet  # noqa: F401
import scipy.stats  # noqa: F401

import anabranch as ab
from anabranch.sweeps import Configuration, Store, Sweep, axis
from anabranch.sweeps.answers import Question, draw, query
from anabranch.sweeps.configuration import Task, digest
from anabranch.sweeps.rows import version
from anabranch.sweeps.summary import summary
from anabranch.sweeps.until import Until
from anabranch.sweeps.work import work

SEEDS = 100
"""Runs of each configuration."""

CONTROLLERS = ("lia", "olia")

COUNTS = 50
"""Values of the first axis; the second one has as many as there are runs for."""

ADDED = 200
"""Parts of `add`."""

ONE_RATE = {"link.ap1.rate": "1 Mb/s"}


def keys(many: int) -> list[str]:
    """Keys as configurations have them."""
    return [digest(str(number)) for number in range(many)]


def templates() -> dict[str, Any]:
    """The rows of one run, by table."""
    axes = axis("flow.multipath.count=5"), axis("link.ap1.rate=1 Mb/s")
    sweep = Sweep(ab.load("khalili/scenario-c"), axes, ("lia",), 1, ("duration=40 s",))
    (one,) = sweep.configurations
    return work(Task(((one, (1,)),), ("classes",), version())).tables


def made_up(of: Any, table: str, numbers: np.ndarray, names: list[str]) -> Any:
    """Rows of the runs with these numbers, with the schema of those of one run."""
    times = of.num_rows
    run = np.repeat(numbers, times)
    random = np.random.default_rng(int(numbers[0]))
    configuration = run // SEEDS
    own: dict[str, Any] = {
        "configuration": [names[number] for number in configuration],
        "seed": run % SEEDS + 1,
        "controller": [CONTROLLERS[number % 2] for number in configuration],
        "flow.multipath.count": [str(5 + number // 2 % COUNTS) for number in configuration],
        "link.ap1.rate": [f"{1 + number // 2 // COUNTS} Mb/s" for number in configuration],
        "digest": [f"{word:016x}" for word in random.integers(0, 2**63, len(run))],
    }
    columns = []
    for field in of.schema:
        values = own.get(field.name)
        if values is None and field.type == arrow.float64():
            values = random.normal(1e6, 1e5, len(run))
        elif values is None and field.name in ("events", "packet_hops"):
            values = random.integers(10**4, 10**6, len(run))
        elif values is None:
            values = of.column(field.name).to_pylist() * len(numbers)
        columns.append(arrow.array(values, field.type))
    return arrow.Table.from_arrays(columns, schema=of.schema)


def make(folder: Path, runs: int, of_part: int) -> None:
    """Makes a store. The disk may keep it later: that is not what is measured."""
    os.fsync = lambda _: None
    store = Store.make(folder)
    names, of = keys(-(-runs // SEEDS)), templates()
    for first in range(0, runs, of_part):
        numbers = np.arange(first, min(first + of_part, runs))
        tables = {table: made_up(rows, table, numbers, names) for table, rows in of.items()}
        store.add(digest(f"part {first}"), tables)


def done(folder: Path, runs: int) -> str:
    """Asks for every run whether it is there."""
    found = Store(folder).done(version(), ["classes"])
    asked = keys(runs // SEEDS)
    began = time.perf_counter()
    missing = sum((key, seed) not in found for key in asked for seed in range(1, SEEDS + 1))
    return f"{len(found)} runs, {missing} missing, asked in {time.perf_counter() - began:.2f} s"


def status(folder: Path, runs: int) -> str:
    """What `anabranch sweep status` counts."""
    found = summary(Store(folder))
    return f"{found.runs} runs in {found.parts} parts, {found.bytes / 1e6:.1f} MB"


def read(folder: Path, runs: int) -> str:
    """Reads all rows of classes."""
    found = Store(folder).read("classes", coded=True)
    return f"{found.num_rows} rows, {found.nbytes / 1e6:.0f} MB"


def until(folder: Path, runs: int) -> str:
    """Asks which configurations need more seeds."""
    counts = dict.fromkeys(keys(runs // SEEDS), SEEDS)
    found = Until("throughput_bps", 0.01).wanted(Store(folder), version(), counts)
    return f"{len(found)} of {len(counts)} configurations need more"


def some(folder: Path, runs: int) -> str:
    """Reads the classes of 20 runs."""
    wanted = [(key, 1, version()) for key in keys(runs // SEEDS)[:: max(1, runs // SEEDS // 20)]]
    return f"{Store(folder).some('classes', wanted[:20]).num_rows} rows"


def sql(folder: Path, runs: int) -> str:
    """Asks in SQL for a mean by three columns."""
    question = 'select controller, class, "flow.multipath.count", avg(throughput_bps)'
    return f"{len(query(Store(folder), f'{question} from classes group by all'))} rows"


def lines(folder: Path, runs: int) -> str:
    """Draws a metric over an axis, with the other axis fixed."""
    return drawn(folder, Question("flow.multipath.count", where=ONE_RATE))


def maps(folder: Path, runs: int) -> str:
    """Draws a metric over two axes, for two controllers and two classes."""
    return drawn(folder, Question("flow.multipath.count", down="link.ap1.rate"))


def points(folder: Path, runs: int) -> str:
    """Draws two metrics, a point for each configuration."""
    return drawn(folder, Question("throughput_bps", "rtt_mean_s"))


def drawn(folder: Path, question: Question) -> str:
    """Draws and saves a figure."""
    figure = draw(Store(folder), question)
    ab.plot.save(figure, folder.parent / "figure.png")
    return f"{len(figure.axes)} panels, scales of colours among them"


def add(folder: Path, runs: int) -> str:
    """Adds parts of a row to another store, each on the disk before the next one."""
    store, rows = Store.make(folder.parent / "added"), templates()
    began = time.perf_counter()
    for number in range(ADDED):
        store.add(digest(f"added {number}"), rows)
    return f"{1e3 * (time.perf_counter() - began) / ADDED:.1f} ms a part, with fsync"


def tidy(folder: Path, runs: int) -> str:
    """Merges small parts."""
    store = Store(folder)
    merged = store.tidy()
    return f"{merged} parts merged, {len(store.names())} are left"


def compact(folder: Path, runs: int) -> str:
    """Merges all parts but large ones."""
    before, after = Store(folder).compact()
    return f"{before} parts became {after}"


def keep(folder: Path, runs: int) -> str:
    """Keeps a configuration for each run, and then again, where all are there."""
    text = ab.load("khalili/scenario-c").text
    given = []
    for key in keys(runs):
        one = Configuration(text, "scenario-c", {"flow.multipath.count": key}, "lia", (key,))
        vars(one)["key"] = key
        given.append(one)
    store = Store(folder)
    took = []
    for _ in range(2):
        began = time.perf_counter()
        store.keep(given)
        took.append(time.perf_counter() - began)
    bytes_ = sum(file.stat().st_size for file in store.kept.files())
    files = len(store.kept.files())
    return f"{took[0]:.2f} s, again {took[1]:.2f} s; {files} files, {bytes_ / 1e6:.1f} MB"


def nothing(folder: Path, runs: int) -> str:
    """What an import and an empty store take."""
    return ""


WHAT: dict[str, Callable[[Path, int], str]] = {
    one.__name__: one
    for one in (
        nothing,
        done,
        status,
        until,
        some,
        read,
        sql,
        lines,
        maps,
        points,
        add,
        tidy,
        compact,
        keep,
    )
}
ORDER = (
    *("nothing", "done", "status", "tidy", "done", "status", "until", "some", "read"),
    *("compact", "sql", "lines", "maps", "points", "add", "keep"),
)


def measured(name: str, folder: Path, runs: int) -> dict[str, Any]:
    """What a process says that did one thing."""
    words = [sys.executable, __file__, "--measure", name, "--store", str(folder)]
    done = subprocess.run([*words, "--runs", str(runs)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(name: str, folder: Path, runs: int) -> None:
    """Does one thing, and prints what it took as JSON."""
    began, busy = time.perf_counter(), time.process_time()
    said = WHAT[name](folder, runs)
    took_s, cpu_s = time.perf_counter() - began, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"took_s": took_s, "cpu_s": cpu_s, "bytes": peak, "said": said}))


def bench(folder: Path, runs: int, of_part: int) -> None:
    """Measures a store of so many runs."""
    began = time.perf_counter()
    make(folder, runs, of_part)
    print(f"\n{runs} runs, {of_part} in a part; made in {time.perf_counter() - began:.0f} s")
    base = 0
    for name in ORDER:
        found = measured(name, folder, runs)
        base = base or found["bytes"]
        print(
            f"{name:8} {found['took_s']:8.3f} s {found['cpu_s']:8.3f} s of processors "
            f"{1e6 * found['cpu_s'] / runs:7.2f} us/run {(found['bytes'] - base) / 1e6:6.0f} MB   "
            f"{found['said']}",
            flush=True,
        )


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--of-part", type=int, default=200)
    parser.add_argument("--measure", choices=WHAT)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, given.store, given.runs[0])
        return
    for runs in given.runs:
        folder = Path(tempfile.mkdtemp(prefix="sweep-store-"))
        try:
            bench(folder / "store", runs, given.of_part)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
