"""Connections opened and closed under a controller, and what the kernel keeps of them: nothing."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.linux import settings
from anabranch.linux.controllers import attached
from anabranch.linux.namespace import Namespace, read_setting, write_setting
from anabranch.linux.sockets import abort
from anabranch.linux.tcp_info import IPPROTO_MPTCP, MptcpReader

SERVER = "10.8.0.2", 9000
FIRST, SECOND = "10.8.0.1", "10.8.1.1"
SUBFLOW = 2  # MPTCP_PM_ADDR_FLAG_SUBFLOW


@dataclass(frozen=True)
class Kept:
    """What the kernel keeps."""

    maps: tuple[tuple[str, ...], ...]
    """Number, type, entries and memory of each map of this process."""
    sockets: int
    """TCP sockets of the namespace."""
    allocated: int
    """TCP sockets of the machine."""
    memory_pages: int
    """Of the buffers of all TCP sockets of the machine."""


def maps() -> tuple[tuple[str, ...], ...]:
    """The maps of BPF that this process holds."""
    found = set()
    for file in Path("/proc/self/fdinfo").glob("*"):
        with suppress(FileNotFoundError):  # that of the directory itself
            lines = file.read_text().splitlines()
        fields = dict(line.partition(":\t")[::2] for line in lines)
        if "map_type" in fields:
            words = ("map_id", "map_type", "max_entries", "key_size", "value_size", "memlock")
            found.add(tuple(fields[word] for word in words))
    return tuple(sorted(found))


def kept(namespace: Namespace) -> Kept:
    """As it is now."""
    with namespace.inside():
        lines = Path("/proc/thread-self/net/sockstat").read_text().splitlines()
    (row,) = [line.split() for line in lines if line.startswith("TCP:")]
    values = dict(zip(row[1::2], map(int, row[2::2]), strict=True))
    return Kept(maps(), values["inuse"], values["alloc"], values["mem"])


def alone() -> Namespace:
    """A namespace with addresses for two paths of its own to a server in it."""
    from pyroute2 import MPTCP, IPRoute

    namespace = Namespace()
    with namespace.inside():
        for name, value in settings.FIXED.items():
            if read_setting(name) is not None:
                write_setting(name, value)
        with IPRoute() as route, MPTCP() as paths:
            (loopback,) = route.link_lookup(ifname="lo")
            route.link("set", index=loopback, state="up")
            for address in (FIRST, SECOND, SERVER[0]):
                route.addr("add", index=loopback, address=address, prefixlen=32)
            paths.limits("set", subflows=2)
            paths.endpoint("add", addr=SECOND, flags=SUBFLOW, id=1)
    return namespace


def once(server: socket.socket, name: str, reader: MptcpReader, graceful: bool) -> None:
    """Opens a connection, sends a little, waits for its second path, closes it at both ends."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    sender.bind((FIRST, 0))
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    sender.connect(SERVER)
    receiver, _ = server.accept()
    sender.sendall(bytes(20_000))
    left = 20_000
    while left:
        left -= len(receiver.recv(left))
    limit = time.monotonic() + 0.1
    while len(reader.read(sender).subflows) < 2 and time.monotonic() < limit:
        time.sleep(0.0005)
    for end in (sender, receiver):
        if graceful:
            end.close()
        else:
            abort(end)


def counted(namespace: Namespace, name: str) -> int:
    """A counter of the kernel's MPTCP in a namespace."""
    with namespace.inside():
        lines = Path("/proc/thread-self/net/netstat").read_text().splitlines()
    for head, row in zip(lines[::2], lines[1::2], strict=True):
        fields = dict(zip(head.split()[1:], row.split()[1:], strict=True))
        if head.startswith("MPTcpExt") and name in fields:
            return int(fields[name])
    return 0


def open_and_close(count: int, law: str = "lia", per_second: float = 1e9) -> dict[str, Any]:
    """So many connections, every tenth closed gracefully; what was kept before and after."""
    namespace = alone()
    with attached([law]) as controllers, namespace.inside():
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        server.bind(SERVER)
        server.listen(64)
        name, reader = controllers.kernel_name(law), MptcpReader()
        begun = time.monotonic()
        before = kept(namespace)
        for number in range(count):
            once(server, name, reader, graceful=number % 10 == 0)
            time.sleep(max(0.0, begun + number / per_second - time.monotonic()))
        limit = time.monotonic() + 10
        while (after := kept(namespace)).sockets > before.sockets and time.monotonic() < limit:
            time.sleep(0.1)
        told = {
            "connections": count,
            "seconds": time.monotonic() - begun,
            "joined": counted(namespace, "MPJoinSynAckRx"),
            "counters": controllers.counters()[law],
            "before": before,
            "after": after,
        }
        server.close()
    namespace.close()
    return told
