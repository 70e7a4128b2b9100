"""Processor time of the runs that `reproduce` made when the goals for its time were set.

    .venv/bin/python benches/documents_then.py                      all five documents
    .venv/bin/python benches/documents_then.py khalili --as-then    an ACK for each packet, as then
    .venv/bin/python benches/documents_then.py tse --seeds 2 1      fewer replications

The 1,420 configurations are those of commit 77c34f8, read from the repository's history. They had
20 replications, those of sensitivity tables 10. They are run as the present scenarios define them:
the receivers of Khalili's scenarios A, B and C delay ACKs now, and their connections begin with a
handshake. The replications are made in one thread. `reproduce` also judges claims; that is not in
the time.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import anabranch as ab
from anabranch import _core

ROOT = Path(__file__).resolve().parent.parent

COMMIT = "77c34f8"

DOCUMENTS = ("khalili", "tse", "couple-plus", "wifi", "cs218")

LISTING = """
import json
from anabranch.papers import PAPERS

for name, paper in PAPERS.items():
    for key, cell in paper.cells_of("simulation").items():
        what = (cell.scenario, cell.controller, cell.overrides, cell.series, key in paper.sensitivity)
        print(json.dumps((name, *what)))
"""
"""What the package of then prints of each of its configurations."""

EACH_PACKET = ("transport.delayed_ack=0 s", "transport.handshake=false")


class Then(NamedTuple):
    """A configuration of that commit."""

    document: str
    scenario: str
    controller: str | None
    overrides: list[str]
    series: bool
    sensitivity: bool
    """Whether it is of a sensitivity table."""


def configurations() -> list[Then]:
    """All of them, by the Python of that commit over the present compiled module."""
    archive = ["git", "-C", str(ROOT), "archive", COMMIT, "python/anabranch"]
    packed = subprocess.run(archive, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as files:
            files.extractall(folder, filter="data")
        package = Path(folder, "python", "anabranch")
        shutil.copy(str(_core.__file__), package)
        environment = os.environ | {"PYTHONPATH": str(package.parent)}
        command = [sys.executable, "-c", LISTING]
        printed = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, check=True
        )
    return [Then(*json.loads(line)) for line in printed.stdout.splitlines()]


def spent(every: list[Then], seeds: tuple[int, int], *, as_then: bool) -> str:
    """Makes the runs, and says what they took."""
    begun, before, replications, hops = time.monotonic(), os.times(), 0, 0
    for one in every:
        changed = EACH_PACKET if as_then and one.scenario.startswith("khalili/scenario-") else ()
        result = ab.run(
            ab.load(one.scenario),
            range(1, seeds[one.sensitivity] + 1),
            controller=one.controller,
            overrides=(*changed, *one.overrides),
            series=one.series,
            threads=1,
        )
        replications += len(result.runs)
        hops += sum(int(run.packet_hops) for run in result.runs)
    after = os.times()
    taken_s = after.user + after.system - before.user - before.system
    return (
        f"{len(every)} configurations, {replications} replications, {hops:,} packet-hops: {taken_s:.1f} s"
        f" of a processor in {time.monotonic() - begun:.1f} s; load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    """Prints the time of each document's configurations."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("documents", nargs="*", metavar="DOCUMENT", help="all five by default")
    parser.add_argument(
        "--as-then", action="store_true", help="an ACK for each packet, no handshake"
    )
    parser.add_argument("--seeds", type=int, nargs=2, default=(20, 10), metavar="N")
    chosen = parser.parse_args()
    for name in chosen.documents:
        if name not in DOCUMENTS:
            parser.error(f"there is no document {name}; the documents are {', '.join(DOCUMENTS)}")
    there = configurations()
    for name in chosen.documents or DOCUMENTS:
        own = [one for one in there if one.document == name]
        print(f"{name}: {spent(own, chosen.seeds, as_then=chosen.as_then)}", flush=True)


if __name__ == "__main__":
    main()
