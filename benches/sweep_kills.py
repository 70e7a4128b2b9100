"""Sweeps whose driver, workers and scheduler are killed at random moments, until so many kills are
done; then the sweep is left to end, and its store is checked.

    .venv/bin/python benches/sweep_kills.py --kills 200 --seed 1

The scheduler and the workers of Dask are processes of their own. Whatever has ended, killed or not,
is started again, as a batch system would. Each time the sweep is complete it gets more seeds, until
the kills are done. Prints the kills of each kind, and how many runs were begun more than once. Ends
with status 1 if a run is missing, is there twice, or does not give its digest when made again.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as parquet

from anabranch.sweeps import Store

KINDS = ("driver", "worker", "scheduler")

WORKERS = 2

ENDS = (0, 2, -signal.SIGKILL)
"""How drivers may end: complete, with the error that the scheduler is gone, or killed."""

EARLY = 0.25
"""Part of the kills that come while processes start; the others come while tasks are at work."""

START_S = (0.0, 3.0)
"""From a kill to an early one."""

WORK_S = (0.0, 1.5)
"""From the first task that is begun after a kill to the next one."""

MOST_S = 60.0
"""After a kill within which a task begins, unless something hangs."""

AXIS = "link.ap1.rate=1 Mb/s,2 Mb/s"

CONFIGURATIONS = 2
"""Values of the axis."""

SHORT = ["duration=2s", "warmup=1s", "flow.multipath.spread=1s", "flow.single-path.spread=1s"]

COUNTING = """
import os
from anabranch.sweeps import work

def counted(task):
    with open(os.environ["BEGUN"], "a") as out:
        out.write(f"{len(task)}\\n")
    return work.whole(task)

if not hasattr(work, "whole"):  # Dask loads this twice
    work.whole = work.work
    counted.__module__, counted.__qualname__ = "anabranch.sweeps.work", "work"
    work.work = counted
"""
"""What workers load: it writes down how many runs each task has that is begun."""


@dataclass
class Cluster:
    """A scheduler, its workers and a driver, all of which are started again when they end."""

    folder: Path
    port: int
    chunk: int
    """Seeds that are added each time the sweep is complete."""
    seeds: int
    there: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    ends: Counter[int] = field(default_factory=Counter)
    """How often a driver ended with each status."""

    @property
    def store(self) -> Path:
        """The store of the sweep."""
        return self.folder / "kills.sweep"

    @property
    def begun(self) -> int:
        """Runs of all tasks that workers have begun."""
        file = self.folder / "begun"
        return sum(map(int, file.read_text().split())) if file.exists() else 0

    def command(self, name: str) -> list[str]:
        """What starts a process."""
        address = f"tcp://127.0.0.1:{self.port}"
        dask = ["-m", f"distributed.cli.dask_{name.split('-')[0]}", "--no-dashboard"]
        if name == "scheduler":
            return [*dask, "--host", "127.0.0.1", "--port", str(self.port)]
        if name.startswith("worker"):
            preload = ["--preload", str(self.folder / "counting.py")]
            return [*dask, address, "--nthreads", "1", "--no-nanny", *preload]
        own = [word for text in SHORT for word in ("--set", text)]
        words = ["sweep", "khalili/scenario-c", "--vary", AXIS, "--seeds", str(self.seeds), *own]
        place = ["--store", str(self.store), "--on", address]
        return ["-c", "from anabranch.cli import main; main()", *words, *place]

    def tend(self) -> bool:
        """Starts what is not running; whether the driver has ended with the sweep complete."""
        complete = False
        for name in ("scheduler", *(f"worker-{number}" for number in range(WORKERS)), "driver"):
            process = self.there.get(name)
            status = process.poll() if process else None
            if process and status is None:
                continue
            if name == "driver" and process:
                self.ends[process.returncode] += 1
                if status not in ENDS:
                    sys.exit(f"the driver ended with status {status}: {self.folder}/driver.log")
                if status == 0:
                    complete = True
                    continue
            with open(self.folder / f"{name}.log", "ab") as log:
                environment = os.environ | {"BEGUN": str(self.folder / "begun")}
                command = [sys.executable, *self.command(name)]
                self.there[name] = subprocess.Popen(
                    command, stdout=log, stderr=log, cwd=self.folder, env=environment
                )
        return complete

    def again(self, seeds: int) -> None:
        """Has the next driver make more seeds."""
        self.seeds = seeds
        del self.there["driver"]

    def kill(self, kind: str, chance: random.Random) -> None:
        """Kills a process of a kind at once."""
        name = f"worker-{chance.randrange(WORKERS)}" if kind == "worker" else kind
        if process := self.there.get(name):
            process.send_signal(signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        """Ends all."""
        for process in self.there.values():
            process.kill()
            process.wait()


def ended(
    cluster: Cluster, order: list[str], chance: random.Random
) -> tuple[Counter[str], Counter[str]]:
    """Kills in this order, and lets the sweep end; the kills of each kind, and those of them before
    a task had begun since the last kill.
    """
    kills: Counter[str] = Counter()
    early: Counter[str] = Counter()
    begun, since = 0, time.monotonic()
    due: float | None = since + chance.uniform(*START_S)
    while True:
        complete = cluster.tend()
        now = time.monotonic()
        if complete and not order:
            return kills, early
        if complete:
            cluster.again(cluster.seeds + cluster.chunk)
        if order and due is None and now > since + MOST_S:
            sys.exit(f"nothing has begun for {MOST_S:.0f} s: {cluster.folder}/*.log")
        if due is None and cluster.begun > begun:
            due = now + chance.uniform(*WORK_S)
        if order and due is not None and now > due:
            kind = order.pop()
            cluster.kill(kind, chance)
            kills[kind] += 1
            early[kind] += cluster.begun == begun
            begun, since = cluster.begun, now
            due = now + chance.uniform(*START_S) if chance.random() < EARLY else None
        time.sleep(0.02)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def faults(store: Path, seeds: int) -> list[str]:
    """What is wrong with a store that is to have so many seeds of each configuration."""
    found = Store(store).read()
    keys = (found.column(name).to_pylist() for name in ("configuration", "seed"))
    runs = list(zip(*keys, strict=True))
    wrong = []
    if len(set(runs)) != len(runs):
        wrong.append(f"{len(runs) - len(set(runs))} runs are there twice")
    if sorted({seed for _, seed in runs}) != list(range(1, seeds + 1)) or (
        len(runs) != CONFIGURATIONS * seeds
    ):
        wrong.append(f"{len(runs)} runs are there, of {CONFIGURATIONS} x {seeds}")
    words = ["-c", "from anabranch.cli import main; main()", "sweep", "verify", str(store)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    print(done.stdout.strip())
    if done.returncode:
        wrong.append(f"verify ends with status {done.returncode}: {done.stderr}")
    return wrong


def doubled(store: Path) -> int:
    """Rows that parts have beside the first of each run. What a killed driver had begun to write
    is not a part.
    """
    place = Store(store)
    files = [place.parts / name / "runs.parquet" for name in place.names()]
    return sum(parquet.read_metadata(file).num_rows for file in files) - place.read().num_rows


def main() -> None:
    """Kills, and checks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of kinds and moments")
    parser.add_argument("--chunk", type=int, default=1000, help="seeds that are added each time")
    parser.add_argument("--folder", type=Path, help="for the store and logs")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="sweep-kills-"))
    (folder / "counting.py").write_text(COUNTING)
    chance = random.Random(asked.seed)
    order = [KINDS[number % len(KINDS)] for number in range(asked.kills)]
    chance.shuffle(order)
    cluster = Cluster(folder, free_port(), asked.chunk, asked.chunk)
    began = time.monotonic()
    try:
        kills, early = ended(cluster, order, chance)
    finally:
        cluster.close()
    runs = Store(cluster.store).read().num_rows
    print(f"{'':10} {'kills':>6} {'before a task had begun':>24}")
    for kind in KINDS:
        print(f"{kind:10} {kills[kind]:6} {early[kind]:24}")
    took_s = time.monotonic() - began
    print(f"{runs} runs in {took_s:.0f} s; ends of drivers by status: {dict(cluster.ends)}")
    again, twice = cluster.begun - runs, doubled(cluster.store)
    print(f"{again} runs were begun again, {twice} of them are in two parts", flush=True)
    if wrong := faults(cluster.store, cluster.seeds):
        sys.exit(f"{folder}: " + "; ".join(wrong))
    print("each run is there once")


if __name__ == "__main__":
    main()
