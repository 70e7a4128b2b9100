"""Counts that do not depend on the clock: instructions per packet-hop, memory per flow, the curve
over flows.

Needs valgrind. Takes about ten minutes; `--quick` leaves out the 100,000 flows. Instructions per
hop are the difference of two durations of one workload, so that start-up does not count.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKLOADS = ROOT / "benches/workloads"
PROGRAM = ROOT / "target/release/examples/hops"


def build() -> None:
    """Builds the program that runs a workload."""
    command = ["cargo", "build", "--quiet", "--release", "-p", "simulator", "--example", "hops"]
    subprocess.run(command, cwd=ROOT, check=True)


def counted(workload: str, *overrides: str) -> tuple[int, int]:
    """Packet-hops and instructions of one run."""
    with tempfile.NamedTemporaryFile() as out:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}"]
        command = [*tool, str(PROGRAM), str(WORKLOADS / f"{workload}.toml"), "1", *overrides]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    hops = re.search(r"^hops (\d+)", done.stdout, re.M)
    instructions = re.search(r"Collected : (\d+)", done.stderr)
    assert hops and instructions, done.stderr
    return int(hops[1]), int(instructions[1])


def per_hop(workload: str, shorter: str, longer: str, *overrides: str) -> float:
    """Instructions per packet-hop between two durations."""
    less = counted(workload, f"duration={shorter}", *overrides)
    more = counted(workload, f"duration={longer}", *overrides)
    return (more[1] - less[1]) / (more[0] - less[0])


def memory_per_flow() -> float:
    """Bytes of resident memory per flow: 20,000 less 10,000 flows in their first second, nearly
    idle.
    """
    peak = []
    for flows in (10_000, 20_000):
        idle = (f"flow.bulk.count={flows}", "flow.bulk.start=10 s", "duration=11 s")
        command = [str(PROGRAM), str(WORKLOADS / "curve.toml"), "1", *idle]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, command
        peak.append(usage.ru_maxrss * 1024)
    return (peak[1] - peak[0]) / 10_000


def per_frame() -> float:
    """Instructions per packet that ten saturated stations of 802.11g deliver, between 10 and 20 s."""
    command = ["cargo", "build", "--quiet", "--release", "-p", "network", "--example", "air"]
    subprocess.run(command, cwd=ROOT, check=True)
    found = []
    for seconds in ("10", "20"):
        program = str(ROOT / "target/release/examples/air")
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(
            [*tool, program, "10", seconds], capture_output=True, text=True, check=True
        )
        frames = re.search(r"^frames (\d+)", done.stdout, re.M)
        instructions = re.search(r"Collected : (\d+)", done.stderr)
        assert frames and instructions, done.stderr
        found.append((int(frames[1]), int(instructions[1])))
    (frames_0, instructions_0), (frames_1, instructions_1) = found
    return (instructions_1 - instructions_0) / (frames_1 - frames_0)


def per_second(scenario: str) -> tuple[float, float]:
    """Instructions for each simulated second of a shipped scenario, between 10 and 20 s, and how
    many seconds it simulates in one of a processor (the best of five runs of 20 s, which is a
    measure of this machine)."""
    command = [str(PROGRAM), str(ROOT / f"scenarios/{scenario}.toml"), "1"]
    found = []
    for seconds in (10, 20):
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(
            [*tool, *command, f"duration={seconds} s"], capture_output=True, text=True, check=True
        )
        instructions = re.search(r"Collected : (\d+)", done.stderr)
        assert instructions, done.stderr
        found.append(int(instructions[1]))
    spent = []
    for _ in range(5):
        process = subprocess.Popen([*command, "duration=20 s"], stdout=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        spent.append(usage.ru_utime + usage.ru_stime)
    return (found[1] - found[0]) / 10, 20 / min(spent)


def scaled(flows: int) -> tuple[str, ...]:
    """Overrides of the curve workload: 1 Mb/s and 3.3 packets of queue for each flow."""
    return (
        f"flow.bulk.count={flows}",
        f"link.bottleneck.rate={flows} Mb/s",
        f"link.bottleneck-back.rate={flows} Mb/s",
        f"link.bottleneck.queue.droptail.packets={flows * 33 // 10} packets",
    )


def main() -> None:
    """Prints every figure."""
    if not shutil.which("valgrind"):
        sys.exit("valgrind is missing, which counts the instructions; install its package")
    build()
    print(f"memory per idle flow: {memory_per_flow():.0f} B")
    print(f"W1: {per_hop('w1', '20 s', '40 s'):.0f} instructions per packet-hop")
    print(f"W2: {per_hop('w2', '100 s', '200 s'):.0f} instructions per packet-hop")
    print(f"W3: {per_hop('w3', '400 ms', '600 ms'):.0f} instructions per packet-hop")
    print(f"802.11g, ten stations: {per_frame():.0f} instructions per packet delivered")
    cost, ratio = per_second("cs218/manet")
    print(
        f"18 nodes that move: {cost:.3g} instructions a simulated second, {ratio:.0f} times real time"
    )
    curve = {10: "4 s", 100: "2 s", 1_000: "800 ms", 10_000: "400 ms", 100_000: "400 ms"}
    if "--quick" in sys.argv:
        del curve[100_000]
    first = None
    for flows, longer in curve.items():
        cost = per_hop("curve", "200 ms", longer, *scaled(flows))
        first = first or cost
        print(f"{flows} flows: {cost:.0f} instructions per packet-hop, {cost / first:.2f} times")


if __name__ == "__main__":
    main()
