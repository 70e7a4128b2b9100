"""Our TCP and Multipath TCP endpoints between real hosts, on TUN devices.

`Host` of the compiled module has neither clock nor I/O. `Driver` gives it both: packets come from
TUN devices and go to them by their source address.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import select
import struct
import time
from collections.abc import Callable, Mapping

from ._core import Host

__all__ = ["Driver", "Host", "open_tun", "random_number"]

TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x1001
PACKET = 65_536

Meddling = Callable[[bytes, bool], list[bytes]]
"""What a network makes of a packet that leaves the host (True) or comes to it (False)."""


def random_number() -> int:
    """A random number of 64 bits that nobody else can guess."""
    return secrets.randbits(64)


def open_tun(name: str) -> int:
    """The file descriptor of a new TUN device `name`, which carries IP packets without a header.

    Raises OSError where the process may not make one.
    """
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    try:
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN_NO_PI))
    except OSError:
        os.close(device)
        raise
    return device


class Driver:
    """Drives a host on the wall clock, in one thread.

    `unsent` counts packets for which a device had no room.
    """

    def __init__(
        self, host: Host, devices: Mapping[str, int], meddle: Meddling | None = None
    ) -> None:
        """`devices` has the file descriptor of the TUN device of each local address, as text.
        `meddle`, if given, stands between the host and the devices.
        """
        self.host = host
        self.by_source = {
            bytes(int(part) for part in address.split(".")): device
            for address, device in devices.items()
        }
        self.meddle = meddle
        self.began = time.monotonic()
        self.unsent = 0

    def now(self) -> float:
        """Seconds since the driver began."""
        return time.monotonic() - self.began

    def flush(self) -> None:
        """Sends all packets that the host has."""
        while (packet := self.host.poll(self.now())) is not None:
            for out in self.meddle(packet, True) if self.meddle else (packet,):
                device = self.by_source.get(packet[12:16])
                try:
                    if device is not None:
                        os.write(device, out)
                except BlockingIOError:
                    self.unsent += 1  # the device's queue is full: a loss

    def turn(self, longest_s: float = 0.05) -> None:
        """Waits for packets, at most until the next deadline and `longest_s`, and processes them."""
        self.flush()
        wait = max(0.0, min(longest_s, self.host.next_deadline_s() - self.now()))
        readable, _, _ = select.select(list(set(self.by_source.values())), [], [], wait)
        for device in readable:
            for _ in range(64):
                try:
                    packet = os.read(device, PACKET)
                except BlockingIOError:
                    break
                for arrived in self.meddle(packet, False) if self.meddle else (packet,):
                    self.host.on_packet(self.now(), arrived)
        if self.host.next_deadline_s() <= self.now():
            self.host.on_deadline(self.now())
        self.flush()
