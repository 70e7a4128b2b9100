"""Calibration: whether the emulated links are what the plan says, measured before anything is believed.

UDP packets cross the very devices and links that connections will. Single small packets tell the one-way
delay, a stream above the rate tells the rate. About a second in all.
"""

from __future__ import annotations

import socket
import statistics
import struct
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from .emulation import Emulation
from .errors import LinuxError
from .wiring import FIRST_PORT, Network, receiver_address, sender_address

RATE_TOLERANCE = 0.01
DELAY_TOLERANCE_S = 0.3e-3

PROBES = 21
"""Single packets on each path, of which the median counts."""

STREAM_S = 0.4
MOST_STREAM_S = 1.5
LEAST_PACKETS = 15
"""Fewer packets of a stream say nothing about a rate."""

OVERLOAD = 1.3
MOST_RATE_BPS = 200e6
"""Faster links are not measured: this side of the devices cannot fill them."""

MOST_PATHS = 12
"""Paths that are probed; those of many classes mostly cross the same links."""

_PROBE_BYTES = 128
_UDP_HEADERS_BYTES = 28
_SO_TIMESTAMPNS = 35
_SO_RCVBUFFORCE = 33
_SETTLED = 0.25  # the part of a stream that fills queues


@dataclass
class Probe:
    """A path of user 0 of a class, with a socket at each end."""

    class_: int
    path: int
    links: tuple[int, ...]
    sender: socket.socket
    receiver: socket.socket

    def send(self, size_bytes: int) -> None:
        """Sends an IP packet of this size with the time in it."""
        payload = struct.pack("<q", time.time_ns()).ljust(size_bytes - _UDP_HEADERS_BYTES, b"\0")
        self.sender.send(payload)

    def arrivals(self) -> list[tuple[float, float]]:
        """Delay and time of arrival in seconds of all packets that have arrived, by the kernel's clock."""
        found: list[tuple[float, float]] = []
        while True:
            try:
                data, notes, _, _ = self.receiver.recvmsg(8, 64)
            except BlockingIOError:
                return found
            seconds, nanoseconds = struct.unpack("<qq", notes[0][2][:16])
            arrived = seconds * 10**9 + nanoseconds
            (sent,) = struct.unpack("<q", data)
            found.append(((arrived - sent) * 1e-9, arrived * 1e-9))


def calibrate(
    plan: dict[str, Any], network: Network, emulation: Emulation
) -> dict[str, list[dict[str, Any]] | dict[str, Any]]:
    """Measures delays and rates; what came out. Raises LinuxError when one is beyond its tolerance.

    `emulation` has not started yet, and is over afterwards.
    """
    with ExitStack() as stack:
        probes = [probe(plan, network, *which, stack) for which in distinct(plan)]
        emulation.start()
        try:
            delays = measured_delays(plan, probes)
            rates = measured_rates(plan, probes)
        finally:
            emulation.stop()
    report = emulation.report()["emulator"]
    most = max(planned["packet_bytes"] for planned in plan["classes"])
    wrong = [text for row in (*delays, *rates) if (text := verdict(row))]
    if report["largest_packet_bytes"] > most:
        wrong.append(f"a packet had {report['largest_packet_bytes']} B, more than {most} B")
    if wrong:
        raise LinuxError(
            "the emulated links are not what the scenario says: "
            + "; ".join(wrong)
            + "\nhelp: is something else using the processors? Run again when they are idle"
        )
    return {"delays": delays, "rates": rates, "emulator": report}


def distinct(plan: dict[str, Any]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Class, path and links of one path for each sequence of links."""
    found: dict[tuple[int, ...], tuple[int, int, tuple[int, ...]]] = {}
    for class_, planned in enumerate(plan["classes"]):
        for number, path in enumerate(planned["paths"]):
            links = tuple(path["links"])
            settled = all(steady(plan["links"][link]) for link in links)
            if settled:
                found.setdefault(links, (class_, number, links))
    return list(found.values())[:MOST_PATHS]


def steady(link: dict[str, Any]) -> bool:
    """Whether a link stays as it is while it is measured."""
    return all(change["at_s"] > 5 for change in link["changes"])


def probe(
    plan: dict[str, Any],
    network: Network,
    class_: int,
    path: int,
    links: tuple[int, ...],
    stack: ExitStack,
) -> Probe:
    """The sockets of a path; `stack` closes them."""
    target = receiver_address(class_, path), FIRST_PORT
    with network.receivers[class_].namespace.inside():
        receiver = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        receiver.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 8 * 2**20)
        receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        receiver.setblocking(False)
        receiver.bind(target)
    with network.senders[class_].namespace.inside():
        sender = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        sender.bind((sender_address(class_, path), 0))
        sender.connect(target)
    return Probe(class_, path, links, sender, receiver)


def measured_delays(plan: dict[str, Any], probes: Sequence[Probe]) -> list[dict[str, Any]]:
    """One row for each path: names of its links, expected and median one-way delay."""
    expected = [delay_s(plan, one.links, _PROBE_BYTES) for one in probes]
    sending = [
        max((transmission_s(plan["links"][i], _PROBE_BYTES) for i in one.links), default=0.0)
        for one in probes
    ]
    for _ in range(PROBES):
        for one, busy in zip(probes, sending, strict=True):
            one.send(_PROBE_BYTES)
            time.sleep(min(0.003 + 2 * busy, 0.05))
    time.sleep(max(expected, default=0.0) + 0.02)
    rows = []
    for one, delay in zip(probes, expected, strict=True):
        delays = [found for found, _ in one.arrivals()]
        rows.append(
            {
                "what": "delay",
                "links": names(plan, one.links),
                "expected_s": delay,
                "measured_s": statistics.median(delays) if delays else float("nan"),
                "packets": len(delays),
            }
        )
    return rows


def measured_rates(plan: dict[str, Any], probes: Sequence[Probe]) -> list[dict[str, Any]]:
    """One row for each link that is the slowest of a path: its name, expected and measured rate."""
    waiting: dict[int, Probe] = {}
    for one in probes:
        rated = [i for i in one.links if plan["links"][i]["rate_bps"]]
        after = any(plan["links"][i]["loss_place"] == "after" for i in one.links)
        if rated and not after:
            slowest = min(rated, key=lambda i: plan["links"][i]["rate_bps"])
            if plan["links"][slowest]["rate_bps"] <= MOST_RATE_BPS:
                waiting.setdefault(slowest, one)
    rows = []
    while waiting:
        together: dict[int, Probe] = {}
        used: set[int] = set()
        for link, one in list(waiting.items()):
            crossed = {i for i in one.links if plan["links"][i]["rate_bps"]}
            if not crossed & used:
                together[link] = waiting.pop(link)
                used |= crossed
        rows += streams(plan, together)
    return rows


def streams(plan: dict[str, Any], together: dict[int, Probe]) -> list[dict[str, Any]]:
    """Fills links that no two of the paths share, all at once, and measures what arrives."""
    sizes = {i: int(plan["classes"][one.class_]["packet_bytes"]) for i, one in together.items()}
    rates = {i: float(plan["links"][i]["rate_bps"]) for i in together}
    needed = max(40 * 8 * sizes[i] / rates[i] for i in together)
    length = min(max(STREAM_S, needed), MOST_STREAM_S)
    begin, sent = time.monotonic(), dict.fromkeys(together, 0)
    while (passed := time.monotonic() - begin) < length:
        for link, one in together.items():
            due = int(OVERLOAD * rates[link] * passed / 8 / sizes[link]) + 1
            for _ in range(due - sent[link]):
                one.send(sizes[link])
            sent[link] = due
        time.sleep(0.001)
    arrived: dict[int, list[float]] = {link: [] for link in together}
    end = begin + length + max(delay_s(plan, one.links, 0) for one in together.values()) + 0.05
    while time.monotonic() < end:
        time.sleep(0.02)
    for link, one in together.items():
        arrived[link] = [at for _, at in one.arrivals()]
    wall = time.time() - time.monotonic()
    rows = []
    for link, one in together.items():
        first = wall + begin + delay_s(plan, one.links, 0) + _SETTLED * length
        last = wall + begin + delay_s(plan, one.links, 0) + length
        times = [at for at in arrived[link] if first <= at <= last]
        known = len(times) > LEAST_PACKETS
        span = times[-1] - times[0] if known else float("nan")
        rows.append(
            {
                "what": "rate",
                "links": [plan["links"][link]["name"]],
                "expected_bps": rates[link],
                "measured_bps": 8 * sizes[link] * (len(times) - 1) / span,
                "packets": len(times),
            }
        )
    return rows


def verdict(row: dict[str, Any]) -> str:
    """What is wrong with a row, in words; nothing if it is within its tolerance.

    A stream of too few packets, on a slow link, is not judged.
    """
    where = " → ".join(row["links"])
    if row["what"] == "delay":
        if row["packets"] < PROBES // 3:
            return f"only {row['packets']} of {PROBES} single packets came through {where}"
        error = row["measured_s"] - row["expected_s"]
        if abs(error) > DELAY_TOLERANCE_S:
            return (
                f"the delay of {where} is {row['measured_s'] * 1e3:.2f} ms, "
                f"not {row['expected_s'] * 1e3:.2f} ms"
            )
        return ""
    error = row["measured_bps"] / row["expected_bps"] - 1
    if abs(error) > RATE_TOLERANCE:
        return (
            f"the rate of {where} is {row['measured_bps'] / 1e6:.3f} Mb/s, "
            f"not {row['expected_bps'] / 1e6:.3f} Mb/s"
        )
    return ""


def delay_s(plan: dict[str, Any], links: Sequence[int], size_bytes: int) -> float:
    """One-way delay of a packet that finds empty queues."""
    through = [plan["links"][i] for i in links]
    return sum(float(link["delay_s"]) + transmission_s(link, size_bytes) for link in through)


def transmission_s(link: dict[str, Any], size_bytes: int) -> float:
    """How long a link sends at a packet."""
    return 8 * size_bytes / float(link["rate_bps"]) if link["rate_bps"] else 0.0


def names(plan: dict[str, Any], links: Sequence[int]) -> list[str]:
    """Names of links."""
    return [plan["links"][i]["name"] for i in links]
