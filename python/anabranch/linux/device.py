"""TUN devices: where packets leave the kernel for the emulator and come back."""

from __future__ import annotations

import fcntl
import os
import struct
from typing import Any

TUN = "/dev/net/tun"
QUEUE_PACKETS = 10_000
"""Length of a device's own queues: the emulator's queues are to drop, these never."""

_TUNSETIFF = 0x4004_54CA
_IFF_TUN = 0x0001
_IFF_NO_PI = 0x1000


class Device:
    """A TUN device in the namespace in which it is made; it exists while it is open.

    Reading `fd` returns an IP packet that the kernel sends; writing `fd` delivers one to the
    kernel. Without IFF_VNET_HDR the kernel offers no offloads, so each packet is as it would be on
    the wire.
    """

    def __init__(self, name: str, mtu: int, route: Any) -> None:
        """`mtu` in bytes; `route` is a `pyroute2.IPRoute` of the same namespace. Raises OSError."""
        self.name = name
        self.fd = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            request = struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI)
            fcntl.ioctl(self.fd, _TUNSETIFF, request)
            self.index: int
            (self.index,) = route.link_lookup(ifname=name)
            route.link("set", index=self.index, mtu=mtu, txqlen=QUEUE_PACKETS)
            route.link("set", index=self.index, state="up")
        except BaseException:
            os.close(self.fd)
            raise

    def dropped(self, route: Any) -> int:
        """Packets that the kernel dropped at the device since it was made; there should be none."""
        (link,) = route.get_links(index=self.index)
        stats = link.get_attr("IFLA_STATS64")
        names = ("tx_dropped", "rx_dropped", "tx_errors", "rx_errors")
        queued = [q.get_attr("TCA_STATS") for q in route.get_qdiscs(index=self.index)]
        return sum(int(stats[n]) for n in names) + sum(int(q["drop"]) for q in queued if q)

    def close(self) -> None:
        """Removes it."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
