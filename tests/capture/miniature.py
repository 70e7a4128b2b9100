"""Shipped scenarios in two seconds, and one that turns on everything, as they are recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anabranch as ab
from anabranch import plan as plans
from anabranch.plan import Plan
from anabranch.result import Recording
from anabranch.scenario import Scenario, load, shipped
from anabranch.tables import Paths

LENGTH_S = 2.0
"""How long a shipped scenario is here."""

EVERYTHING = "everything"

NAMES = [
    *(name for name in shipped() if any(c.protocol == "tcp" for c in load(name).plan().classes)),
    EVERYTHING,
]

TEXT = """
name = "everything"
duration = "4 s"
warmup = "0 s"

[[link]]
name = "marking"
rate = "10 Mb/s"
delay = "10 ms"
queue = { red = { limit = "60 packets", min = "5 packets", max = "30 packets", max_p = 0.1, ecn = true } }
loss = { probability = 0.01 }
duplicate = 0.01

[[link]]
name = "reordering"
rate = "5 Mb/s"
delay = "30 ms"
queue = { droptail = { packets = "40 packets" } }
reorder = { probability = 0.02, delay = "5 ms" }

[[flow]]
name = "modern"
count = 2
controller = "lia"
transport = { handshake = true, ecn = true, rack = true, tlp = true, dsack = true, eifel = true }
path = [ { links = ["marking"], leave = "2 s" }, { links = ["reordering"], join = "1 s" } ]

[[flow]]
name = "open"
controller = "olia"
path = [
  { links = ["marking"], leave = "2500 ms" },
  { links = ["reordering"], join = "500 ms", leave = "3 s" },
  { links = ["reordering"], backup = true },
]

[[flow]]
name = "short"
controller = "cubic"
count = 5
transfer = "100 kB"
transport = { handshake = true, sack = false }
path = [ { links = ["marking"] } ]

[[flow]]
name = "datagrams"
protocol = "udp"
app_rate = "1 Mb/s"
path = [ { links = ["reordering"] } ]
"""
"""Handshakes with and without, ECN, RACK, probes, DSACK, undo, random loss, copies, reordering,
joins and leaves, a backup, transfers without SACK, and UDP."""


@dataclass(frozen=True)
class Recorded:
    """A run with what was written down of it."""

    result: ab.Result
    pcap: Path
    qlog: Path

    @property
    def paths(self) -> Paths:
        """The table of its paths."""
        return self.result.runs[0].paths


def scenario(name: str) -> Scenario:
    """A scenario by its name here."""
    return Scenario.parse(TEXT, EVERYTHING) if name == EVERYTHING else ab.load(name)


def hurried(scenario: Scenario) -> list[str]:
    """Overrides by which all that users and paths do in a scenario happens within two seconds, and
    nothing is left out of what is counted: users start within half a second, later times shrink
    with the duration. Links change when they do."""
    plan = scenario.plan()
    shrunk = 1e3 * LENGTH_S / plan.duration_s
    words = [f"duration={LENGTH_S} s", "warmup=0 s"]
    flows = scenario.document()["flow"]
    planned = {c.name for c in plan.classes}  # flows without users are not
    idle = [flow["name"] for flow in flows if "start" in flow and flow["name"] not in planned]
    words += [f"flow.{name}.start=0 s" for name in idle]
    arriving = {flow["name"] for flow in flows if "arrivals" in flow}  # over the whole run
    for c in plan.classes:
        flow = f"flow.{c.name}"
        if c.start_s:
            words.append(f"{flow}.start={shrunk * c.start_s:.3f} ms")
        if c.spread_s and c.name not in arriving:
            words.append(f"{flow}.spread={min(500, 1e3 * c.spread_s):.3f} ms")
        for number, path in enumerate(c.paths):
            times = {"join": path.join_s, "leave": path.leave_s}
            words += [
                f"{flow}.path.{number}.{key}={shrunk * at_s:.3f} ms"
                for key, at_s in times.items()
                if at_s
            ]
    return words


def over_tcp(plan: Plan) -> list[str]:
    """Overrides that put TCP in the place of TFRC and of coded paths, whose datagrams have tests of
    their own.
    """
    words = []
    for c in plan.classes:
        flow = f"flow.{c.name}"
        if "tfrc" in c.controller:
            words.append(f"{flow}.controller=lia")
        if any(path.coding for path in c.paths):
            paths = ", ".join(f"{{ links = {named(plan, path)} }}" for path in c.paths)
            words.append(f"{flow}.path=[{paths}]")
    return words


def named(plan: Plan, path: plans.Path) -> list[str]:
    """The names of the links of a path."""
    return [plan.links[number].name for number in path.links]


def record(name: str, folder: Path, *, tcp: bool = True, **how: Any) -> Recorded:
    """Runs a scenario in its short form, over TCP unless told, and has it written down in `folder`."""
    chosen = scenario(name)
    plan = chosen.plan()
    overrides = [] if name == EVERYTHING else hurried(chosen)
    overrides += over_tcp(plan) if tcp and name != EVERYTHING else []
    files = folder / "run.pcapng", folder / "run.qlog"
    recording = Recording(pcap=files[0], qlog=files[1], **how)
    result = ab.run(chosen, [1], overrides=overrides, series=True, recording=recording)
    return Recorded(result, *files)
