"""What the controllers in the kernel cost: nanoseconds per ACK, and CPU per byte against the
kernel's Reno.

As root, on an idle machine: .venv/bin/python benches/kernel_cost.py [--json FILE]. Eight minutes.
An MPTCP connection has two subflows over veth with a token bucket, one ACK for each or each other
packet of 1500 B and no offloads, which is what costs a controller most. Nanoseconds are the
kernel's run statistics of the programs, whose two looks at a clock are part of them; of the
kernel's own controllers they come from samples (kernel_samples.py; needs perf). CPU is all that is
not idle, on all processors, of sender and receiver together; rounds take every controller in turn,
and ratios are within a round.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests/linux"))

from churn import SUBFLOW, Stage  # noqa: E402 the tests' namespaces
from kernel_samples import looks, received  # noqa: E402
from kernel_samples import per_ack as sampled_per_ack  # noqa: E402

from anabranch.linux.controllers import Attached, attached  # noqa: E402
from anabranch.linux.coupling import PASS_S, coupling  # noqa: E402
from anabranch.linux.namespace import read_setting, write_setting  # noqa: E402
from anabranch.linux.sockets import abort  # noqa: E402
from anabranch.linux.tcp_info import IPPROTO_MPTCP  # noqa: E402
from anabranch.statistics import Interval, ratio_of_means  # noqa: E402

LAWS = (
    *("reno", "lia", "olia", "balia", "ewtcp", "semicoupled", "fully-coupled", "coupled-cubic"),
    *("lia+sbd", "olia+sbd", "balia+sbd"),
)
"""`reno` is Reno in our shell: what the shell alone costs."""
COMPARED = ("reno", "lia", "olia", "balia", "lia+sbd")
BUILT_IN = "built-in"
OWN = {BUILT_IN: "reno", "built-in cubic": "cubic", "built-in bbr": "bbr"}
"""The kernel's own controllers; ratios are to the first."""
STATISTICS = "kernel.bpf_stats_enabled"
RATE_BPS = 150e6
"""Of each of the two paths; slow enough that they, and not the processors, are the limit."""
QUEUE_BYTES = 60_000
"""Of each path: short, so that windows are lost soon and the law is in charge."""
QUIET = 0.95
WARMUP_S = 0.7
DECIDING_S = 12.0
"""A detector of shared bottlenecks remembers ten seconds."""
PORT = 9000
CHUNK = memoryview(bytes(256 * 1024))
TICK_S = 0.001


class Transfer:
    """An MPTCP connection with two subflows, both ends in this process."""

    def __init__(self, controller: str, rate_bps: float) -> None:
        """Connected, with nothing sent yet."""
        self.stage = Stage(rate_bps, queue_bytes=QUEUE_BYTES)
        self.stage.set_endpoint(1, SUBFLOW)
        with self.stage.receiver.inside():
            self.server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        with self.stage.sender.inside():
            self.sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.server.bind(("10.9.0.2", PORT))
        self.server.listen(1)
        self.sender.bind(("10.9.0.1", 0))
        self.sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
        self.sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.sender.connect(("10.9.0.2", PORT))
        self.receiver, _ = self.server.accept()
        self.sender.setblocking(False)
        self.receiver.setblocking(False)
        self._buffer = bytearray(1 << 20)

    def step(self) -> int:
        """Writes what the socket takes, and reads what there is; how many bytes that was."""
        received = 0
        with suppress(BlockingIOError):
            while self.sender.send(CHUNK) == len(CHUNK):
                pass
        with suppress(BlockingIOError):
            while count := self.receiver.recv_into(self._buffer):
                received += count
        time.sleep(TICK_S)
        return received

    def last(self, seconds: float) -> int:
        """Bytes that pass in some time."""
        received, limit = 0, time.monotonic() + seconds
        while time.monotonic() < limit:
            received += self.step()
        return received

    def close(self) -> None:
        """Ends it, with its namespaces."""
        for end in (self.sender, self.receiver, self.server):
            abort(end)
        self.stage.close()


@contextmanager
def transfer(controller: str, rate_bps: float) -> Iterator[Transfer]:
    """A connection that is past its slow start."""
    made = Transfer(controller, rate_bps)
    try:
        made.last(WARMUP_S)
        yield made
    finally:
        made.close()


@contextmanager
def run_statistics() -> Iterator[None]:
    """The kernel keeps statistics of programs as long as the block lasts."""
    before = read_setting(STATISTICS)
    if before is None:
        sys.exit("this kernel keeps no statistics of programs (kernel.bpf_stats_enabled)")
    write_setting(STATISTICS, "1")
    try:
        yield
    finally:
        write_setting(STATISTICS, before)


def shell(law: str) -> str:
    """A law in our shell; `reno` alone is the kernel's own, and laws with `+sbd` are ours alone."""
    return law if law.endswith("+sbd") else f"kernel:{law}"


def per_ack(law: str, seconds: float, rate_bps: float) -> dict[str, float]:
    """What the callbacks of a controller cost, in congestion avoidance of two subflows."""
    name = shell(law)
    with (
        attached([name]) as there,
        coupling(there),
        transfer(there.kernel_name(name), rate_bps) as made,
    ):
        before, counted = there.cost()[law], there.counters()[law]
        received = made.last(seconds)
        after, counters = there.cost()[law], there.counters()[law]
    calls, ns = (after["ab_on_ack"][i] - before["ab_on_ack"][i] for i in (0, 1))
    total = sum(after[name][1] - before[name][1] for name in after)
    return {
        "acks": calls,
        "ns_per_ack": ns / calls,
        "ns_per_ack_all_callbacks": total / calls,
        "coupled": (counters["coupled"] - counted["coupled"]) / calls,
        "losses": counters["losses"] - counted["losses"],
        "rate_bps": 8 * received / seconds,
    }


def medians(
    laws: Sequence[str], repeat: int, seconds: float, rate_bps: float
) -> dict[str, dict[str, Any]]:
    """Of each law the measurement in the middle, and the nanoseconds of all of them; each law has
    its turn before the next measurement of any.
    """
    turns = [{law: per_ack(law, seconds, rate_bps) for law in laws} for _ in range(repeat)]
    found = {}
    for law in laws:
        rows = sorted((turn[law] for turn in turns), key=lambda row: row["ns_per_ack"])
        found[law] = rows[len(rows) // 2] | {"each_ns": [turn[law]["ns_per_ack"] for turn in turns]}
    return found


def built_in(controller: str, seconds: float, rate_bps: float) -> dict[str, Any]:
    """The same of a controller of the kernel's own, from samples."""
    with transfer(controller, rate_bps) as made:

        def work() -> tuple[int, int]:
            with made.stage.sender.inside():
                before = received()
            passed = made.last(seconds)
            with made.stage.sender.inside():
                return received() - before, passed

        found, (acks, passed) = looks(work)
    return sampled_per_ack(controller, found, acks) | {"rate_bps": 8 * passed / seconds}


def deciding(law: str, seconds: float, rate_bps: float) -> dict[str, float]:
    """What it costs to decide which of two subflows share: not for an ACK, but for a second."""
    name = shell(law)
    with attached([name]) as there, transfer(there.kernel_name(name), rate_bps) as made:
        taken, passes, limit = 0.0, 0, time.monotonic() + seconds
        while time.monotonic() < limit:
            made.last(PASS_S)
            taken += passed_s(there)
            passes += 1
    return {"passes": passes, "us_per_pass": 1e6 * taken / passes, "part": taken / passes / PASS_S}


def passed_s(there: Attached) -> float:
    """Processor time of one pass."""
    begun = time.thread_time()
    there.couple()
    return time.thread_time() - begun


def idle_s() -> float:
    """Seconds that all processors have been idle, summed."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def idle_part(seconds: float) -> float:
    """How idle the processors are."""
    idle, begun = idle_s(), time.monotonic()
    time.sleep(seconds)
    return (idle_s() - idle) / (time.monotonic() - begun) / (os.cpu_count() or 1)


def per_byte(controller: str, seconds: float, rate_bps: float) -> float:
    """CPU seconds per byte."""
    with transfer(controller, rate_bps) as made:
        idle, begun = idle_s(), time.monotonic()
        received = made.last(seconds)
        busy = (time.monotonic() - begun) * (os.cpu_count() or 1) - (idle_s() - idle)
    return busy / received


def rounds(count: int, seconds: float, rate_bps: float) -> dict[str, list[float]]:
    """CPU seconds per byte of each controller in each round; every round begins with another one."""
    found: dict[str, list[float]] = {name: [] for name in (*OWN, *COMPARED)}
    with attached(map(shell, COMPARED)) as there, coupling(there):
        names = {law: there.kernel_name(shell(law)) for law in COMPARED} | OWN
        order = list(found)
        for number in range(count):
            shift = number % len(order)
            for law in order[shift:] + order[:shift]:
                found[law].append(per_byte(names[law], seconds, rate_bps))
            print(f"\rround {number + 1} of {count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def ratios(found: dict[str, list[float]]) -> dict[str, tuple[float, Interval]]:
    """Of each controller to the built-in Reno: median over rounds, and the interval of the means'
    ratio.
    """
    base = found[BUILT_IN]
    return {
        law: (
            statistics.median(x / y for x, y in zip(values, base, strict=True)),
            ratio_of_means(values, base),
        )
        for law, values in found.items()
        if law != BUILT_IN
    }


def print_laws(rows: dict[str, dict[str, Any]]) -> None:
    """What the programs cost."""
    head = f"{'law':16}{'ns per ACK':>12}{'with all callbacks':>20}{'ACKs':>10}{'coupled':>9}{'Mb/s':>7}"
    print(head)
    for law, row in rows.items():
        print(
            f"{law:16}{row['ns_per_ack']:12.0f}{row['ns_per_ack_all_callbacks']:20.0f}"
            f"{row['acks']:10}{row['coupled']:9.0%}{row['rate_bps'] / 1e6:7.0f}"
        )


def print_built_in(rows: dict[str, dict[str, Any]]) -> None:
    """What the kernel's own cost."""
    print(f"\n{'built-in':16}{'ns per ACK':>12}{'95 %':>20}{'ACKs':>10}{'looks':>9}{'Mb/s':>7}")
    for name, row in rows.items():
        low, high = row["interval95"]
        print(
            f"{name:16}{row['ns_per_ack']:12.0f}{f'{low:.0f} to {high:.0f}':>20}"
            f"{row['acks']:10}{row['looks']:9}{row['rate_bps'] / 1e6:7.0f}"
        )


def main() -> None:
    """Measures and prints all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.5, help="of a measurement")
    parser.add_argument("--laws", nargs="+", default=LAWS, choices=LAWS, help="programs to measure")
    parser.add_argument("--repeat", type=int, default=1, help="measurements of each, in turn")
    parser.add_argument(
        "--looks", type=float, default=30.0, help="seconds of samples; 0 for none (needs perf)"
    )
    parser.add_argument("--rate", type=float, default=RATE_BPS / 1e6, help="of a path, Mb/s")
    parser.add_argument("--rounds", type=int, default=9, help="of CPU per byte; 0 for none")
    parser.add_argument("--json", type=Path, help="file for all figures")
    chosen = parser.parse_args()
    rate_bps = 1e6 * chosen.rate
    if (rest := idle_part(2)) < QUIET:
        print(f"the processors are {rest:.0%} idle: figures on a busy machine are no good")
    told: dict[str, Any] = {"kernel": os.uname().release, "processors": os.cpu_count()}
    with run_statistics():
        told["per_ack"] = medians(chosen.laws, chosen.repeat, chosen.seconds, rate_bps)
    print_laws(told["per_ack"])
    if chosen.looks:
        told["built_in"] = {name: built_in(name, chosen.looks, rate_bps) for name in OWN.values()}
        print_built_in(told["built_in"])
        told["deciding"] = deciding("lia+sbd", DECIDING_S, rate_bps)
        print(
            "\ndeciding which of two subflows share: {us_per_pass:.0f} µs".format(
                **told["deciding"]
            )
        )
    if chosen.rounds:
        found = rounds(chosen.rounds, chosen.seconds, rate_bps)
        told["cpu_ns_per_byte"] = {law: [1e9 * x for x in row] for law, row in found.items()}
        print(f"\nbuilt-in Reno: {1e9 * statistics.median(found[BUILT_IN]):.2f} ns of CPU per byte")
        told["ratios"] = {}
        for law, (median, mean) in ratios(found).items():
            told["ratios"][law] = {"median": median} | mean.to_json()
            print(f"{law:16}{median:8.3f} times, mean {mean}, {mean.n} rounds")
    if chosen.json:
        chosen.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
