"""Has `anabranch linux status --shared` find shared bottlenecks on emulated links, where the answer
is known.

    sudo .venv/bin/python tools/watch_on_linux.py [--first N] [--networks N] [-c CONTROLLER]

Networks are those of tools/detect_on_linux.py; each runs in real time, and the command reads from
some seconds after its start on. Under a law with `+sbd` the answer of the process that couples is
beside it, which has every round trip. Prints a line for each network.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from threading import Thread
from typing import Any

from anabranch import Scenario, linux
from anabranch.linux.observe import status
from anabranch.linux.selection import Selection
from anabranch.sharing import document, draw
from detect_on_linux import RANGES, SEED

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()", "linux", "status"]
AFTER_S = 2.0
"""Time from the first look at which the connection has two subflows."""


def own() -> list[str]:
    """The controllers of this process that have a connection with two subflows."""
    begins = f"ab{os.getpid()}_"
    return [
        one.controller
        for one in status(Selection()).connections
        if one.controller.startswith(begins) and len(one.subflows) == 2
    ]


def watch(seconds: float, found: list[dict[str, Any]]) -> None:
    """Runs the command beside a replication."""
    while not (names := own()):
        time.sleep(0.5)
    time.sleep(AFTER_S)
    words = [*COMMAND, "--shared", f"{seconds:g}", "--json", "--controller", names[0]]
    done = subprocess.run(words, capture_output=True, text=True)
    found.append(json.loads(done.stdout) if done.stdout else {"error": done.stderr})


def main(numbers: range, controller: str, seconds: float) -> None:
    """Runs each network and compares."""
    for number in numbers:
        network = draw(number, SEED, RANGES)
        scenario = Scenario.written(document(network, controller))
        live: list[dict[str, Any]] = []
        thread = Thread(target=watch, args=(seconds, live), daemon=True)
        thread.start()
        run = linux.run(scenario, (1,), keep_invalid=True).runs[0]
        thread.join(60)
        row: dict[str, Any] = {"number": number, "shared": network.shared, "valid": run.valid}
        for groups in run.kernel.groups.values():
            row["coupler"] = [len(set(one)) == 1 for one in groups]
        for one in live:
            row["readings"] = one.get("readings")
            for found in one.get("connections", ()):
                row["samples"] = [subflow["samples"] for subflow in found["subflows"]]
                row["live"] = [(pair["confidence"], pair["said"]) for pair in found["pairs"]]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--networks", type=int, default=10)
    parser.add_argument("-c", "--controller", default="lia+sbd")
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    wanted = range(asked.first, asked.first + asked.networks)
    main(wanted, asked.controller, asked.seconds)
