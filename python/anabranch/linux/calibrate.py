"""Calibration: measures, before a run, whether the emulated links have the delays and rates of the
plan.

UDP packets cross the same devices and links as the connections. Single small packets measure the
one-way delay, a stream above the rate measures the rate. It takes about a second.
"""

from __future__ import annotations

import socket
import statistics
import struct
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..plan import Plan
from ..planned_network import Link
from ..records import Record
from ..runs import EmulatorReport, LinkErrors
from .emulation import Emulation
from .wiring import FIRST_PORT, Network, receiver_address, sender_address

RATE_TOLERANCE = 0.01
DELAY_TOLERANCE_S = 0.3e-3

PROBES = 21
"""Single packets on each path; their median counts."""
JITTER_ERRORS = 3.0
"""Standard errors that a median may be off: that of uniform values from 0 to J is about J/(2√n)."""

STREAM_S = 0.4
MOST_STREAM_S = 1.5
LEAST_PACKETS = 15
"""A stream of fewer packets does not determine a rate."""

OVERLOAD = 1.3
MOST_RATE_BPS = 200e6
"""Faster links are not measured: this side of the devices cannot fill them."""

MOST_ROUTES = 16
"""Sequences of links to probe; classes often share theirs."""

_PROBE_BYTES = 128
_UDP_HEADERS_BYTES = 28
_SO_TIMESTAMPNS = 35
_SO_RCVBUFFORCE = 33
_SETTLED = 0.25  # the part of a stream that fills queues


@dataclass
class Probe:
    """A way of user 0 of a class through links, with a socket at each end."""

    class_: int
    links: tuple[int, ...]
    sender: socket.socket
    receiver: socket.socket

    def send(self, size_bytes: int) -> None:
        """Sends an IP packet of this size with the time in it."""
        payload = struct.pack("<q", time.time_ns()).ljust(size_bytes - _UDP_HEADERS_BYTES, b"\0")
        self.sender.send(payload)

    def arrivals(self) -> list[tuple[float, float]]:
        """Delay and time of arrival in seconds of all packets that have arrived, by the kernel's
        clock.
        """
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


@dataclass(frozen=True, kw_only=True)
class MeasuredDelay(Record):
    """The one-way delay of a sequence of links."""

    what: Literal["delay"] = "delay"
    links: list[str]
    expected_s: float
    measured_s: float
    """The median; NaN if no packet arrived."""
    noise_s: float
    """Error of the median that jitter of the links explains."""
    packets: int

    @property
    def judged(self) -> bool:
        """Whether enough packets arrived to compare with the expected value."""
        return True

    def verdict(self) -> str:
        """Describes the error in words; empty if it is within the tolerance."""
        where = " → ".join(self.links)
        if self.packets < PROBES // 3:
            return f"only {self.packets} of {PROBES} single packets came through {where}"
        if abs(self.measured_s - self.expected_s) > DELAY_TOLERANCE_S + self.noise_s:
            return (
                f"the delay of {where} is {self.measured_s * 1e3:.2f} ms, "
                f"not {self.expected_s * 1e3:.2f} ms"
            )
        return ""


@dataclass(frozen=True, kw_only=True)
class MeasuredRate(Record):
    """The rate of a link, from a stream through it."""

    what: Literal["rate"] = "rate"
    links: list[str]
    expected_bps: float
    measured_bps: float
    expected_packets: int
    packets: int

    @property
    def judged(self) -> bool:
        """Whether enough packets arrived to compare with the expected value."""
        return self.packets > LEAST_PACKETS

    def verdict(self) -> str:
        """Describes the error in words; empty if it is within the tolerance.

        A stream that has few packets even at the full rate, on a slow link, is not judged.
        """
        where = " → ".join(self.links)
        if self.packets < self.expected_packets / 2 and self.expected_packets > LEAST_PACKETS:
            return (
                f"only {self.packets} of {self.expected_packets} packets of a stream came through "
                f"{where}"
            )
        if abs(self.measured_bps / self.expected_bps - 1) > RATE_TOLERANCE:
            return (
                f"the rate of {where} is {self.measured_bps / 1e6:.3f} Mb/s, "
                f"not {self.expected_bps / 1e6:.3f} Mb/s"
            )
        return ""


Measured: TypeAlias = MeasuredDelay | MeasuredRate


@dataclass(frozen=True, kw_only=True)
class Calibration(Record):
    """Measured delays and rates of the emulated links."""

    delays: list[MeasuredDelay]
    rates: list[MeasuredRate]
    unmeasured: dict[str, list[str]]
    """Names of the links without a measurement, by "delay" and "rate"."""
    emulator: EmulatorReport

    def largest_errors(self) -> LinkErrors:
        """The largest error of a delay, in seconds, and of a rate, as a part of it; NaN of
        nothing.
        """
        delays = [abs(one.measured_s - one.expected_s) for one in self.delays]
        rates = [abs(one.measured_bps / one.expected_bps - 1) for one in self.rates if one.judged]
        nothing = float("nan")
        return LinkErrors(
            delay_error_s=max(delays, default=nothing), rate_error=max(rates, default=nothing)
        )


def calibrate(plan: Plan, network: Network, emulation: Emulation) -> tuple[Calibration, list[str]]:
    """Measures delays and rates. Returns the calibration, and a description of each error beyond
    its tolerance.

    `emulation` must not have started; it has ended on return. Raises LinuxError when it does not
    start.
    """
    with ExitStack() as stack:
        ways = probes(plan, network, stack)
        try:
            emulation.start()
            delays = measured_delays(plan, ways)
            rates = measured_rates(plan, ways)
        finally:
            emulation.stop()
    report = emulation.report().emulator
    most = max(planned.packet_bytes for planned in plan.classes)
    measured: list[Measured] = [*delays, *rates]
    wrong = [text for row in measured if (text := row.verdict())]
    if report.largest_packet_bytes > most:
        wrong.append(f"a packet had {report.largest_packet_bytes} B, more than {most} B")
    unknown = unmeasured(plan, measured)
    return Calibration(delays=delays, rates=rates, unmeasured=unknown, emulator=report), wrong


def unmeasured(plan: Plan, rows: Sequence[Measured]) -> dict[str, list[str]]:
    """Names of the links without a measurement, by "delay" and "rate"."""
    found = {}
    for what in ("delay", "rate"):
        known = {name for row in rows if row.what == what and row.judged for name in row.links}
        links = [link for link in plan.links if what == "delay" or link.rate_bps]
        found[what] = sorted({link.name for link in links} - known)
    return found


def distinct(plan: Plan) -> dict[tuple[int, ...], tuple[int, int, bool]]:
    """For each sequence of links a class and a path that cross it, and whether with data or with
    ACKs.
    """
    found: dict[tuple[int, ...], tuple[int, int, bool]] = {}
    for forth in (True, False):
        for class_, planned in enumerate(plan.classes):
            for number, path in enumerate(planned.paths):
                links = tuple(path.links if forth else path.back)
                if all(steady(plan.links[link]) for link in links):
                    found.setdefault(links, (class_, number, forth))
    return dict(list(found.items())[:MOST_ROUTES])


def steady(link: Link) -> bool:
    """Whether a link keeps its settings while it is measured."""
    return not link.opportunities and all(change.at_s > 5 for change in link.changes)


def probes(plan: Plan, network: Network, stack: ExitStack) -> list[Probe]:
    """One for each sequence of links; `stack` closes their sockets."""
    ends: dict[tuple[int, int], tuple[socket.socket, socket.socket]] = {}
    found = []
    for links, (class_, path, forth) in distinct(plan).items():
        if (class_, path) not in ends:
            ends[class_, path] = sockets(network, class_, path, stack)
        sender, receiver = ends[class_, path][:: 1 if forth else -1]
        found.append(Probe(class_, links, sender, receiver))
    return found


def sockets(
    network: Network, class_: int, path: int, stack: ExitStack
) -> tuple[socket.socket, socket.socket]:
    """One at each end of a path of user 0 of a class, with each other's address; `stack` closes
    them.
    """
    made = []
    for sides, address in (
        (network.senders, (sender_address(class_, path), 0)),
        (network.receivers, (receiver_address(class_, path), FIRST_PORT)),
    ):
        with sides[class_].namespace.inside():
            end = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            end.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 8 * 2**20)
            end.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            end.setblocking(False)
            end.bind(address)
            made.append(end)
    sender, receiver = made
    sender.connect(receiver.getsockname())
    receiver.connect(sender.getsockname())
    return sender, receiver


def measured_delays(plan: Plan, ways: Sequence[Probe]) -> list[MeasuredDelay]:
    """One row for each way: names of its links, expected and median one-way delay."""
    jitter = [sum(plan.links[i].jitter_s for i in one.links) for one in ways]
    expected = [
        delay_s(plan, one.links, _PROBE_BYTES) + random / 2
        for one, random in zip(ways, jitter, strict=True)
    ]
    sending = [
        max((transmission_s(plan.links[i], _PROBE_BYTES) for i in one.links), default=0.0)
        for one in ways
    ]
    for _ in range(PROBES):
        for one, busy in zip(ways, sending, strict=True):
            one.send(_PROBE_BYTES)
            time.sleep(min(0.003 + 2 * busy, 0.05))
    time.sleep(max(expected, default=0.0) + 0.02)
    rows = []
    for one, delay, random in zip(ways, expected, jitter, strict=True):
        delays = [found for found, _ in one.arrivals()]
        rows.append(
            MeasuredDelay(
                links=names(plan, one.links),
                expected_s=delay,
                measured_s=statistics.median(delays) if delays else float("nan"),
                noise_s=JITTER_ERRORS * random / (2.0 * PROBES**0.5),
                packets=len(delays),
            )
        )
    return rows


def measured_rates(plan: Plan, ways: Sequence[Probe]) -> list[MeasuredRate]:
    """One row for each link that is the slowest of a way: its name, expected and measured rate."""
    waiting: dict[int, Probe] = {}
    for one in ways:
        rated = {i: rate for i in one.links if (rate := plan.links[i].rate_bps)}
        after = any(plan.links[i].loss_place == "after" for i in one.links)
        if rated and not after:
            slowest = min(rated, key=lambda i: rated[i])
            if rated[slowest] <= MOST_RATE_BPS:
                waiting.setdefault(slowest, one)
    rows = []
    while waiting:
        together: dict[int, Probe] = {}
        used: set[int] = set()
        for link, one in list(waiting.items()):
            crossed = {i for i in one.links if plan.links[i].rate_bps}
            if not crossed & used:
                together[link] = waiting.pop(link)
                used |= crossed
        rows += streams(plan, together)
    return rows


def streams(plan: Plan, together: dict[int, Probe]) -> list[MeasuredRate]:
    """Sends at overload over routes that share no link, all at once, and measures the arrivals."""
    sizes = {i: int(plan.classes[one.class_].packet_bytes) for i, one in together.items()}
    rates = {i: float(rate) for i in together if (rate := plan.links[i].rate_bps)}
    needed = max(40 * 8 * sizes[i] / rates[i] for i in together)
    length = min(max(STREAM_S, needed), MOST_STREAM_S)
    begin, sent = time.monotonic(), dict.fromkeys(together, 0)
    arrived: dict[int, list[float]] = {link: [] for link in together}
    whole = length + max(delay_s(plan, one.links, 0) for one in together.values()) + 0.05
    while (passed := time.monotonic() - begin) < whole:
        for link, one in together.items():
            due = int(OVERLOAD * rates[link] * min(passed, length) / 8 / sizes[link]) + 1
            for _ in range(due - sent[link]):
                one.send(sizes[link])
            sent[link] = due
            arrived[link] += [at for _, at in one.arrivals()]
        time.sleep(0.001)
    wall = time.time() - time.monotonic()
    rows = []
    for link, one in together.items():
        first = wall + begin + delay_s(plan, one.links, 0) + _SETTLED * length
        last = wall + begin + delay_s(plan, one.links, 0) + length
        times = [at for at in arrived[link] if first <= at <= last]
        known = len(times) > LEAST_PACKETS
        span = times[-1] - times[0] if known else float("nan")
        rows.append(
            MeasuredRate(
                links=[plan.links[link].name],
                expected_bps=rates[link],
                measured_bps=8 * sizes[link] * (len(times) - 1) / span,
                expected_packets=int((last - first) * rates[link] / 8 / sizes[link]),
                packets=len(times),
            )
        )
    return rows


def delay_s(plan: Plan, links: Sequence[int], size_bytes: int) -> float:
    """One-way delay of a packet that finds empty queues."""
    through = [plan.links[i] for i in links]
    return sum(float(link.delay_s) + transmission_s(link, size_bytes) for link in through)


def transmission_s(link: Link, size_bytes: int) -> float:
    """Transmission time of a packet on a link, in seconds."""
    return 8 * size_bytes / float(link.rate_bps) if link.rate_bps else 0.0


def names(plan: Plan, links: Sequence[int]) -> list[str]:
    """Names of links."""
    return [plan.links[i].name for i in links]
