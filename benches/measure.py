"""What runs cost: instructions per packet-hop and per frame, memory per flow, the curve over
flows, and seconds of a processor where memory or start-up is what takes time.

Needs valgrind and what `make build` builds. Takes about ten minutes; `--quick` leaves out the
largest numbers of flows. `--documents` adds the processor time of every document in full: half an
hour or more. Instructions per hop are the difference of two durations of one workload, so that
start-up does not count.
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
    file = workload if workload.endswith(".toml") else str(WORKLOADS / f"{workload}.toml")
    with tempfile.NamedTemporaryFile() as out:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}"]
        command = [*tool, str(PROGRAM), file, "1", *overrides]
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


def per_hop_over_subflows(subflows: int) -> float:
    """Instructions per packet-hop of one LIA connection, each subflow over its own 10 Mb/s link."""
    link = """
[[link]]
name = "l{}"
rate = "10 Mb/s"
delay = "20 ms"
queue = {{ droptail = {{ packets = "40 packets" }} }}
"""
    paths = "".join(f'  {{ links = ["l{i}"], back = ["back"] }},\n' for i in range(subflows))
    text = 'name = "subflows"\nduration = "60 s"\n[[link]]\nname = "back"\ndelay = "20 ms"\n'
    text += "".join(link.format(i) for i in range(subflows))
    text += f'[[flow]]\nname = "multipath"\ncontroller = "lia"\npath = [\n{paths}]\n'
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        return per_hop(file.name, "5 s", "10 s")


def per_hop_of_rates(controller: str) -> float:
    """Instructions per packet-hop of a controller by rate over the sixteen empty paths of Tse's
    thesis."""
    file = str(ROOT / "scenarios/tse/independent.toml")
    empty = [f"flow.tcp-{path}.count=0" for path in range(1, 17)]
    own = f'flow.ensemble.controller="{controller}"'
    return per_hop(file, "100 s", "200 s", "warmup=20 s", own, *empty)


def cpu_seconds(*command: str, runs: int = 3) -> float:
    """Seconds of a processor that a command takes, the least of some runs. Python may keep what it
    has compiled, as it does for users."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    spent = []
    for _ in range(runs):
        process = subprocess.Popen(command, env=environment, **quiet)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, command
        spent.append(usage.ru_utime + usage.ru_stime)
    return min(spent)


def run_of_one_second(program: str) -> float:
    """Processor seconds of `anabranch run`, of which the simulation takes 0.003."""
    text = 'name = "one"\nduration = "1 s"\n[[link]]\nname = "there"\nrate = "10 Mb/s"\n'
    text += 'delay = "10 ms"\n[[link]]\nname = "back"\ndelay = "10 ms"\n'
    text += '[[flow]]\nname = "bulk"\ncontroller = "reno"\n'
    text += 'path = [{ links = ["there"], back = ["back"] }]\n'
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        return cpu_seconds(program, "run", file.name)


def startup() -> dict[str, float]:
    """Processor seconds of the parts of a start: of the interpreter, and of imports after it."""
    python = str(ROOT / ".venv/bin/python")
    parts = {
        "interpreter": "pass",
        "NumPy": "import numpy",
        "anabranch": "import anabranch",
        "all commands": "import anabranch.cli.application",
    }
    spent = {name: cpu_seconds(python, "-c", code) for name, code in parts.items()}
    alone = spent["interpreter"]
    return {name: it if name == "interpreter" else it - alone for name, it in spent.items()}


def start_of(flows: int) -> tuple[float, float]:
    """Processor seconds for the first 150 ms of so many flows, building them included, and of
    these for building and freeing them, with their first two packets."""
    command = (str(PROGRAM), str(WORKLOADS / "curve.toml"), "1", *scaled(flows))
    first = ("flow.bulk.spread=0 s", "duration=1 us")
    return cpu_seconds(*command, "duration=150 ms"), cpu_seconds(*command, *first)


def coded(window: int) -> float:
    """Processor seconds for 20 s of a coded path whose combinations are of so many segments."""
    setting = f"flow.multipath.path.1.coding.window={window}"
    return cpu_seconds(str(PROGRAM), str(WORKLOADS / "coded.toml"), "1", setting)


def moving(routing: str) -> tuple[float, float]:
    """163 nodes that move, on eight channels: processor seconds and MB for four simulated ones."""
    nodes = ("node.udp.count=160", "flow.udp.count=160", f"medium.air.routing={routing}")
    scenario = str(ROOT / "scenarios/cs218/manet.toml")
    command = [str(PROGRAM), scenario, "1", "duration=4 s", *nodes]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def peak_memory(workload: str, *overrides: str) -> int:
    """Bytes of resident memory that a run takes at most."""
    command = [str(PROGRAM), str(WORKLOADS / f"{workload}.toml"), "1", *overrides]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    peak = re.search(r"^peak (\d+) kB", printed, re.M)
    assert peak, printed
    return int(peak[1]) * 1024


def memory_per_flow() -> float:
    """Bytes of resident memory per flow: 20,000 less 10,000 flows in their first second, nearly
    idle.
    """
    idle = ("flow.bulk.start=10 s", "duration=11 s")
    few, many = (peak_memory("curve", f"flow.bulk.count={n}", *idle) for n in (10_000, 20_000))
    return (many - few) / 10_000


def memory_per_active_flow() -> float:
    """Bytes of resident memory per flow of W3 with its packets, beyond those of a program with one
    flow that has hardly begun."""
    one = ("flow.bulk.count=1", "flow.bulk.spread=0 s", "duration=1 us")
    return (peak_memory("w3") - peak_memory("w3", *one)) / 1000


def per_frame(stations: int) -> float:
    """Instructions per packet that saturated stations of 802.11g deliver, between 1 and 2 s."""
    command = ["cargo", "build", "--quiet", "--release", "-p", "network", "--example", "air"]
    subprocess.run(command, cwd=ROOT, check=True)
    found = []
    for seconds in ("1", "2"):
        program = str(ROOT / "target/release/examples/air")
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(
            [*tool, program, str(stations), seconds], capture_output=True, text=True, check=True
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


def wifi_packets_per_second(stations: int) -> float:
    """Packets that stations of 802.11a with UDP deliver in a second of a processor. They offer
    54 Mb/s together, which is more than the medium carries."""
    text = 'name = "wifi"\nduration = "62 s"\nwarmup = "2 s"\n'
    text += '[transport]\npacket = "1500 B"\npayload = "1472 B"\n'
    text += '[[medium]]\nname = "air"\nstandard = "a"\n'
    for i in range(stations):
        text += f'[[link]]\nname = "up-{i}"\nmedium = "air"\nfrom = "sta-{i}"\nto = "ap"\n'
        text += f'[[flow]]\nname = "udp-{i}"\nprotocol = "udp"\nspread = "50 ms"\n'
        text += f'app_rate = "{54_000 // stations} kb/s"\npath = [{{ links = ["up-{i}"] }}]\n'
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        command = (str(PROGRAM), file.name, "1")
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        delivered = re.search(r"delivered: (\d+)", printed)
        assert delivered, printed
        return int(delivered[1]) / cpu_seconds(*command)


def papers() -> list[str]:
    """The shipped documents: each is a folder with a ledger."""
    ledgers = (ROOT / "python/anabranch/papers").glob("*/ledger.toml")
    return sorted(ledger.parent.name for ledger in ledgers if ledger.parent.name != "skeleton")


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
    print(f"memory per flow of W3: {memory_per_active_flow() / 1000:.1f} kB")
    three, one = per_hop("w1", "5 s", "15 s"), per_hop("w1-one-hop", "5 s", "15 s")
    print(f"W1: {three:.0f} instructions per packet-hop; over one link {one:.0f}")
    # A packet and its ACK make six hops or two; what is not a hop's is the endpoints'. Links that
    # change are woken for each packet, as that over one link is. That one is four matches nearer to
    # the root of the agenda's tournament, each of which takes ten instructions.
    changes = [
        f'link.{link}.change=[{{at="4 s",rate="1 Gb/s"}}]' for link in ("egress", "access-back")
    ]
    both = 2 * (one + 40)
    hop = (6 * per_hop("w1", "5 s", "15 s", *changes) - both) / 4
    print(f"endpoints: {both - 2 * hop:.0f} instructions per packet and its ACK, a hop {hop:.0f}")
    print(f"W2: {per_hop('w2-droptail', '50 s', '100 s'):.0f} instructions per packet-hop")
    print(f"W2, random: {per_hop('w2-random', '50 s', '100 s'):.0f} instructions per packet-hop")
    print(f"W3: {per_hop('w3', '400 ms', '500 ms'):.0f} instructions per packet-hop")
    for scenario in ("khalili/scenario-c", "tse/shared"):
        file = str(ROOT / f"scenarios/{scenario}.toml")
        cost = per_hop(file, "40 s", "80 s", "warmup=10 s")
        print(f"{scenario}: {cost:.0f} instructions per packet-hop")
    for controller in ("bilevel-tfrc:pooled", "bilevel-tfrc", "tfrc:fractional"):
        cost = per_hop_of_rates(controller)
        print(f"sixteen empty paths, {controller}: {cost:.0f} instructions per packet-hop")
    two, many = per_hop_over_subflows(2), per_hop_over_subflows(64)
    print(f"64 subflows: {many:.0f} instructions per packet-hop, {many / two:.2f} times two")
    for stations in (5, 50, 100):
        cost = per_frame(stations)
        print(f"802.11g, {stations} stations: {cost:.0f} instructions per packet delivered")
    print(f"802.11a with UDP, 50 stations: {wifi_packets_per_second(50):.0f} packets/s")
    quick = "--quick" in sys.argv
    for flows in (10_000, 100_000, 200_000, *([] if quick else [1_000_000])):
        whole, idle = start_of(flows)
        print(f"first 150 ms of {flows} flows: {whole:.2f} s of a processor, building {idle:.2f}")
    for routing in ("oracle", "aodv", "olsr"):
        seconds, megabytes = moving(routing)
        print(f"163 nodes that move, {routing}: {seconds:.2f} s of a processor, {megabytes:.0f} MB")
    narrow, wide = coded(6), coded(255)
    print(f"coding window 255: {wide:.2f} s of a processor, {wide / narrow:.1f} times window 6")
    program = str(ROOT / ".venv/bin/anabranch")
    print(f"--version: {cpu_seconds(program, '--version'):.3f} s of a processor")
    print(f"--help: {cpu_seconds(program, '--help'):.3f} s of a processor")
    print(f"run of one second: {run_of_one_second(program):.3f} s of a processor")
    for part, seconds in startup().items():
        print(f"  {part}: {seconds:.3f} s")
    cost, ratio = per_second("cs218/manet")
    print(
        f"18 nodes that move: {cost:.3g} instructions a simulated second, {ratio:.0f} times real time"
    )
    curve = {10: "4 s", 100: "2 s", 1_000: "800 ms", 10_000: "400 ms", 100_000: "400 ms"}
    if quick:
        del curve[100_000]
    first = None
    for flows, longer in curve.items():
        cost = per_hop("curve", "200 ms", longer, *scaled(flows))
        first = first or cost
        print(f"{flows} flows: {cost:.0f} instructions per packet-hop, {cost / first:.2f} times")
    if "--documents" in sys.argv:
        for paper in papers():
            spent = cpu_seconds(program, "reproduce", paper, runs=1)
            print(f"reproduce {paper}: {spent:.0f} s of a processor")


if __name__ == "__main__":
    main()
