"""Two namespaces, and between them a wire whose fate of every data packet a test decides.

Slower than the emulator and without a queue, but it can mark, and drop or hold back a certain
packet. What is held back waits for what the sender does and not for some time: so a busy machine
changes nothing.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from anabranch.linux import settings
from anabranch.linux.device import Device
from anabranch.linux.namespace import Namespace, read_setting, write_setting

SENDER, RECEIVER = "10.8.0.1", "10.8.0.2"
MTU = 1500
DELAY_S = 0.005
"""One way, at least."""

CE = 3
"""Congestion experienced (RFC 3168 section 5)."""

DEFAULTS = {
    "net.ipv4.tcp_slow_start_after_idle": "1",
    "net.ipv4.tcp_early_retrans": "3",
    "net.ipv4.tcp_ecn": "1",  # by default only asked for by the other end; here both ends ask
    "net.ipv4.tcp_moderate_rcvbuf": "1",
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.tcp_wmem": "4096 16384 4194304",
}
"""What an operator's kernel has, where `settings.FIXED` has something else."""


OVERTAKERS = 8
"""Packets that go ahead of one that is overtaken; more than `tcp_reordering` allows for."""


class Fate(Enum):
    """Of a data packet."""

    PASS = auto()
    MARK = auto()
    DROP = auto()
    STALL = auto()
    """It waits, and all behind it, until the sender repeats something: nothing is lost, but late."""
    AHEAD = auto()
    """It waits alone, and comes just ahead of its own repetition."""
    BEHIND = auto()
    """It waits alone, and comes just behind its own repetition."""
    OVERTAKEN = auto()
    """It waits alone, until `OVERTAKERS` others have passed."""


ALONE = (Fate.AHEAD, Fate.BEHIND, Fate.OVERTAKEN)


@dataclass(frozen=True)
class Data:
    """A data packet: the bytes of the stream that it carries, counted from 0, and which packet it
    is.
    """

    begin: int
    end: int
    number: int
    again: bool
    """Whether the end has passed here before."""


def marked(packet: bytes) -> bytes:
    """The packet with CE, if its sender takes part in ECN; the checksum follows (RFC 1624, equation
    3).
    """
    if not packet[1] & CE:
        return packet
    before, after = packet[:2], bytes((packet[0], packet[1] | CE))
    sum_ = ~int.from_bytes(packet[10:12]) & 0xFFFF
    sum_ += (~int.from_bytes(before) & 0xFFFF) + int.from_bytes(after)
    while sum_ >> 16:
        sum_ = (sum_ & 0xFFFF) + (sum_ >> 16)
    return after + packet[2:10] + (~sum_ & 0xFFFF).to_bytes(2) + packet[12:]


class Relay:
    """The wire. One connection at a time is told apart by its SYN."""

    def __init__(
        self,
        fate: Callable[[Data], Fate],
        chosen: Mapping[str, str] = DEFAULTS,
        delay_s: float = DELAY_S,
    ) -> None:
        """`fate` is asked for each packet with data from the sender to the receiver, unless all
        wait; `chosen` are settings of both ends beside `settings.FIXED`."""
        from pyroute2 import IPRoute

        self._fate, self._delay_s = fate, delay_s
        self._begin = self._most = self._number = 0
        self._stalled: list[bytes] = []
        self._alone: list[tuple[Data, Fate, bytes]] = []
        self.sender, self.receiver = Namespace(), Namespace()
        self._devices: list[Device] = []
        for namespace, own in ((self.sender, SENDER), (self.receiver, RECEIVER)):
            with namespace.inside(), IPRoute() as route:
                for name, value in (settings.FIXED | dict(chosen)).items():
                    if read_setting(name) is not None:
                        write_setting(name, value)
                device = Device("wire", MTU, route)
                self._devices.append(device)
                route.addr("add", index=device.index, address=own, prefixlen=24)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def counter(self, name: str) -> int:
        """A counter of the sender's kernel, such as TCPDeliveredCE."""
        # Of the thread: the process' own file would tell of the namespace that it began in.
        with self.sender.inside(), open("/proc/thread-self/net/netstat") as file:
            names, values = (file.readline().split() for _ in range(2))
        return int(values[names.index(name)])

    def close(self) -> None:
        """Takes it down."""
        self._ending.set()
        self._thread.join()
        for device in self._devices:
            device.close()
        for namespace in (self.sender, self.receiver):
            namespace.close()

    def _carry(self) -> None:
        queue: deque[tuple[float, int, bytes]] = deque()
        there = {self._devices[i].fd: self._devices[1 - i].fd for i in (0, 1)}
        while not self._ending.is_set():
            wait = queue[0][0] - time.monotonic() if queue else 0.05
            for fd in select.select(list(there), [], [], max(wait, 0))[0]:
                packet = os.read(fd, MTU)
                data = self._data(packet) if fd == self._devices[0].fd else None
                for each in self._judged(packet, data) if data else [packet]:
                    queue.append((time.monotonic() + self._delay_s, there[fd], each))
            while queue and queue[0][0] <= time.monotonic():
                _, fd, packet = queue.popleft()
                os.write(fd, packet)

    def _data(self, packet: bytes) -> Data | None:
        """What a packet of the sender carries, if it carries any."""
        if packet[0] != 0x45 or packet[9] != 6:
            return None
        sequence = int.from_bytes(packet[24:28])
        if packet[33] & 2:  # SYN
            self._begin, self._most, self._number = sequence + 1, 0, 0
        size = len(packet) - 20 - 4 * (packet[32] >> 4)
        if not size:
            return None
        begin = (sequence - self._begin) % 2**32
        data = Data(begin, begin + size, self._number, begin + size <= self._most)
        self._number += 1
        self._most = max(self._most, data.end)
        return data

    def _judged(self, packet: bytes, data: Data) -> list[bytes]:
        """The packets that go now, in this order."""
        if self._stalled:
            self._stalled.append(packet)
            if not data.again:
                return []
            gone, self._stalled = self._stalled, []
            return gone
        fate = self._fate(data)
        gone = []
        if fate is Fate.STALL:
            self._stalled.append(packet)
        elif fate in ALONE:
            self._alone.append((data, fate, packet))
        elif fate is not Fate.DROP:
            gone.append(marked(packet) if fate is Fate.MARK else packet)
        return self._released(data, gone)

    def _released(self, data: Data, gone: list[bytes]) -> list[bytes]:
        """`gone` with the packets that waited for this one."""
        for row in list(self._alone):
            held, fate, packet = row
            if fate is Fate.OVERTAKEN:
                due = data.number - held.number >= OVERTAKERS
            else:
                due = data.begin == held.begin and data.number > held.number
            if due:
                self._alone.remove(row)
                gone = [packet, *gone] if fate is Fate.AHEAD else [*gone, packet]
        return gone
