"""Packet-hops per second against another simulator that runs the same workload, in pairs of runs in
turn.

    python3 benches/against.py w3 -- ./htsim-dumbbell 1000 10000 33333 5
    python3 benches/against.py w1 -- ./htsim-dumbbell 20 100 333 1000

The peer prints `hops N`; `benches/peers` says how to build one. Times of a machine swing, so both
programs run in turn on one core, and what counts is the ratio of each pair: its median, least and
largest.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time

from measure import PROGRAM, WORKLOADS, build

PAIRS = 9


def hops_per_second(command: list[str]) -> float:
    """Packet-hops of one run over its wall-clock time, start-up included."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    elapsed = time.perf_counter() - begin
    hops = re.search(r"hops (\d+)", done.stdout)
    assert hops, f"{command[0]} prints no `hops N`: {done.stdout[:200]}"
    return int(hops[1]) / elapsed


def main() -> None:
    """Prints a line for each pair and the median."""
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    own = [str(PROGRAM), str(WORKLOADS / f"{sys.argv[1]}.toml"), "1"]
    peer = sys.argv[3:]
    build()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ratios = []
    for pair in range(1, PAIRS + 1):
        mine, theirs = hops_per_second(own), hops_per_second(peer)
        ratios.append(mine / theirs)
        print(
            f"{pair}: {mine / 1e6:.1f} against {theirs / 1e6:.1f} M hops/s, {ratios[-1]:.2f} times"
        )
    print(f"median {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) times")


if __name__ == "__main__":
    main()
