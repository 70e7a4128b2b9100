"""Packet-hops per second of a processor against another simulator that runs the same workload, in
pairs of runs in turn.

    python3 benches/against.py w3 "duration=1500 ms" -- ./htsim-dumbbell 1000 10000 33333 1.5
    python3 benches/against.py w1 "duration=100 s" -- ./htsim-dumbbell 20 100 333 100
    python3 benches/against.py w1-one-hop "duration=200 s" -- ./htsim-dumbbell 20 100 333 200 1
    python3 benches/against.py w2-droptail "duration=1500 s" -- ./htsim-two-links 1500

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

from measure import PROGRAM, WORKLOADS, build

PAIRS = 9


def hops_per_second(command: list[str]) -> float:
    """Packet-hops of one run over its seconds of a processor, start-up included."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    hops = re.search(r"hops (\d+)", output)
    assert hops, f"{command[0]} prints no `hops N`: {output[:200]}"
    return int(hops[1]) / (usage.ru_utime + usage.ru_stime)


def main() -> None:
    """Prints a line for each pair and the median."""
    if "--" not in sys.argv[2:-1]:
        sys.exit(__doc__)
    split = sys.argv.index("--")
    own = [str(PROGRAM), str(WORKLOADS / f"{sys.argv[1]}.toml"), "1", *sys.argv[2:split]]
    peer = sys.argv[split + 1 :]
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
