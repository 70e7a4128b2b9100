"""The processes of `churn.py`, started, killed at random and started again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import left
from churn import Stage
from test_namespaces import TWO_PATHS, adopted, vanished, witness

from anabranch import _core
from anabranch.linux.errors import LinuxError
from anabranch.linux.namespace import Namespace
from anabranch.linux.observe import subflows
from anabranch.linux.pinned import load_for_good, unload_for_good

LAWS = ("lia", "olia", "balia")
FOR_GOOD = ("ewtcp", "semicoupled")
"""Loaded and unloaded under traffic as an operator does."""
PROGRAM = Path(__file__).with_name("churn.py")


class Child:
    """One of the processes; what it tells goes to a file."""

    def __init__(self, role: str, *arguments: object, fd: int | None = None) -> None:
        self.role, self.arguments, self.fd = role, arguments, fd
        self.out = tempfile.TemporaryFile("w+")  # noqa: SIM115 closed with this value
        inherited = [] if fd is None else [fd]
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, role, *map(str, [*inherited, *arguments])],
            stdin=subprocess.PIPE,
            stdout=self.out,
            stderr=subprocess.PIPE,
            pass_fds=inherited,
            env=left.environment(),
        )

    def told(self) -> list[dict[str, Any]]:
        """All lines so far; the last may not be whole yet."""
        with open(f"/proc/self/fd/{self.out.fileno()}") as again:
            return [json.loads(line) for line in again.read().split("\n")[:-1]]

    def first(self, key: str, within_s: float = 20.0) -> Any:
        """What it tells first under a key. Raises RuntimeError when it ends or does not come to
        that.
        """
        limit = time.monotonic() + within_s
        while True:
            for row in self.told():
                if key in row:
                    return row[key]
            if self.process.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"{self.role} did not tell {key}: {self.stop()}")
            time.sleep(0.02)

    def kill(self) -> None:
        """At once."""
        self.process.send_signal(signal.SIGKILL)
        self.stop()

    def stop(self) -> str:
        """Asks it to end, and takes what it said of an error."""
        try:
            _, said = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, said = self.process.communicate()
        return said.decode()


@dataclass
class ProcessPool:
    """Stages with their processes, and what has happened to them."""

    stages: int
    connections: int
    """On each stage."""
    chance: random.Random
    scene: left.Scene
    rate_bps: float = 6e6
    """Of each path of a stage."""
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    largest: float = 0.0
    """Window in segments."""

    def __post_init__(self) -> None:
        self.there: list[Stage] = []
        self.cast: dict[str, Child] = {}
        self.free = [law for law in FOR_GOOD if law not in _core.kernel_loaded()]
        """What no operator has loaded."""
        self.loaded: set[str] = set()
        self.directory = tempfile.TemporaryDirectory()
        self.names = Path(self.directory.name, "names")
        self.scenario = Path(self.directory.name, "two.toml")
        self.scenario.write_text(TWO_PATHS)
        self._witnesses = ExitStack()
        self._seen: list[Namespace] = []
        self._numbers: list[int] = []

    def __enter__(self) -> ProcessPool:
        try:
            self.cast["hold"] = Child("hold", *LAWS)
            self.name()
            for number in range(self.stages):
                self.there.append(Stage(self.rate_bps))
                stage = self.there[-1]
                for namespace in (stage.sender, stage.middle, stage.receiver):
                    self.watch(namespace)
                self.start(f"receive {number}")
                self.start(f"send {number}")
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *reason: object) -> None:
        self.end()

    def watch(self, namespace: Namespace) -> None:
        """Will say whether a namespace has gone."""
        self._seen.append(self._witnesses.enter_context(witness(namespace)))
        self._numbers.append(namespace.number)

    def start(self, name: str) -> None:
        """Starts a process, or starts it again."""
        role, _, number = name.partition(" ")
        if role == "receive":
            self.cast[name] = Child(role, fd=self.there[int(number)].receiver._fd)
            self.cast[name].first("ready")
        elif role == "send":
            rest = (self.connections, self.names, self.chance.randrange(1 << 30))
            self.cast[name] = Child(role, *rest, fd=self.there[int(number)].sender._fd)
        else:
            self.cast[name] = Child("hold", *LAWS)
            self.name()

    def name(self) -> None:
        """Tells the senders which controllers there are."""
        names = [*self.cast["hold"].first("names"), *(f"ab_{law}" for law in self.loaded)]
        aside = self.names.with_suffix(".new")
        aside.write_text("\n".join(names))
        os.replace(aside, self.names)

    def change_paths(self) -> None:
        """A path joins or leaves, on one of the stages."""
        self.counts[self.chance.choice(self.there).change(self.chance)] += 1

    def change_controllers(self) -> None:
        """Loads one for good, or takes it out while connections use it."""
        if not self.free:
            return
        law = self.chance.choice(self.free)
        if law in self.loaded:
            self.loaded.remove(law)
            self.name()
            self.counts["sockets under a controller when it was unloaded"] += unload_for_good(
                law, force=True
            )
            self.counts["unloaded"] += 1
        else:
            load_for_good(law)
            self.loaded.add(law)
            self.name()
            self.counts["loaded"] += 1

    def kill(self) -> None:
        """Kills one of the processes and starts it again."""
        name = self.chance.choice(sorted(self.cast))
        self.collect(name)
        self.cast[name].kill()
        self.counts[f"killed: {name.split()[0]}"] += 1
        self.start(name)

    def kill_run(self) -> None:
        """Kills a `linux run` somewhere between its first second and its end."""
        child = Child("run", self.scenario)
        try:
            held = child.first("namespaces")
            opened = [os.open(f"/proc/{child.process.pid}/fd/{fd}", os.O_RDONLY) for fd in held]
            for namespace in map(adopted, opened):
                self.watch(namespace)
                namespace.close()
            time.sleep(self.chance.uniform(0.2, 4))
        finally:
            child.kill()
        self.counts["killed: run"] += 1

    def look(self) -> None:
        """What the controllers publish: how many subflows a connection has, and how large windows
        are.
        """
        groups: Counter[int] = Counter()
        names = set(self.names.read_text().split())
        for row in subflows():
            if row.controller in names:
                groups[row.connection] += 1
                self.largest = max(self.largest, row.cwnd_segments)
        self.counts["most subflows of a connection"] = max(
            self.counts["most subflows of a connection"], *groups.values(), 0
        )
        self.counts["most connections at once"] = max(
            self.counts["most connections at once"], len(groups)
        )

    def collect(self, name: str) -> None:
        """Adds what a process has told last to the counts."""
        rows = self.cast[name].told()
        role = name.split()[0]
        if role == "send" and rows:
            self.counts.update(rows[-1])
        elif role == "hold" and len(rows) > 1:
            for counters in rows[-1]["counters"].values():
                self.counts.update({f"callbacks: {key}": n for key, n in counters.items()})

    def end(self) -> None:
        """Ends all of it, and looks at what is left."""
        for law in sorted(self.loaded):
            try:
                unload_for_good(law, force=True)
            except (LinuxError, OSError) as error:
                self.wrong.append(f"{law} could not be unloaded: {error}")
        self.loaded.clear()
        # Senders first: their connections end at once then.
        for name in sorted(self.cast, key=lambda name: not name.startswith("send")):
            child = self.cast[name]
            if name.startswith("receive"):
                child.process.kill()
            said = child.stop()
            self.collect(name)
            if said:
                self.wrong.append(f"{name}: {said.strip().splitlines()[-1]}")
        for stage in self.there:
            stage.close()
        for number, seen in zip(self._numbers, self._seen, strict=True):
            if not vanished(seen, 20):
                self.wrong.append(f"the namespace {number} is left")
            if left.inhabited(number):
                self.wrong.append(f"a process is left in the namespace {number}")
        self._witnesses.close()
        self.directory.cleanup()
        self.wrong += self.scene.wrong()
        self.counts["kernel warnings excused"] = len(self.scene.excused)


def churn(
    seconds: float, stages: int, connections: int, seed: int, rate_bps: float = 6e6
) -> ProcessPool:
    """Has all of it go on for some time; the pool when everything has ended."""
    chance = random.Random(seed)
    every = {"change_paths": 0.4 / stages, "change_controllers": 2.0, "kill": 2.0, "look": 2.0}
    if seconds > 60:
        every |= {"change_controllers": 5.0, "kill": 5.0, "look": 5.0, "kill_run": 20.0}
    with ProcessPool(stages, connections, chance, left.Scene(), rate_bps) as pool:
        due = {
            name: time.monotonic() + chance.expovariate(1 / mean) for name, mean in every.items()
        }
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            name = min(due, key=lambda name: due[name])
            time.sleep(max(0.0, due[name] - time.monotonic()))
            getattr(pool, name)()
            due[name] = time.monotonic() + chance.expovariate(1 / every[name])
        pool.look()
    return pool
