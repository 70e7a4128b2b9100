"""The set-up of the trial that saw one half instead of two thirds: a token bucket on a router
between two hosts, drop-tail, no propagation delay; two uncoupled subflows beside one TCP
(docs/explanation/linux.md)."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, suppress
from typing import Any

from churn import SUBFLOW

from anabranch.linux.namespace import Namespace, write_setting
from anabranch.linux.sockets import abort
from anabranch.linux.tcp_info import IPPROTO_MPTCP

RATE_BPS = 10e6
PACKETS = 40
PACKET_BYTES = 1514  # what a token bucket counts
FIRST, SECOND, SERVER = "10.7.0.1", "10.7.0.3", "10.7.1.2"
GATEWAYS = ("10.7.0.254", "10.7.1.254")
WARMUP_S = 5.0
HOST = {
    "net.ipv4.tcp_congestion_control": "reno",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv4.tcp_slow_start_after_idle": "0",
}


class Hosts:
    """A sender, a router whose queue is the bottleneck, and a receiver."""

    def __init__(self, delayed_acks: bool) -> None:
        self.sender, self.router, self.receiver = Namespace(), Namespace(), Namespace()
        try:
            self._build(delayed_acks)
        except BaseException:
            self.close()
            raise

    def _build(self, delayed_acks: bool) -> None:
        from pyroute2 import MPTCP, IPRoute

        with self.router.inside(), IPRoute() as route:
            for number, host in enumerate((self.sender, self.receiver)):
                peer = {"ifname": "host", "net_ns_fd": host._fd}
                route.link("add", ifname=f"to{number}", kind="veth", peer=peer)
                port = without_offloads(route, f"to{number}")
                route.addr("add", index=port, address=GATEWAYS[number], prefixlen=24)
            limit = PACKETS * PACKET_BYTES
            rate = int(RATE_BPS / 8)
            route.tc("add", "tbf", port, 0x10000, rate=rate, burst=PACKET_BYTES + 26, limit=limit)
            write_setting("net.ipv4.ip_forward", "1")
        ends = ((self.sender, (FIRST, SECOND)), (self.receiver, (SERVER,)))
        for number, (host, addresses) in enumerate(ends):
            with host.inside(), IPRoute() as route:
                index = without_offloads(route, "host")
                for address in addresses:
                    route.addr("add", index=index, address=address, prefixlen=24)
                metrics = {"quickack": 0 if delayed_acks else 1}
                route.route("add", dst="default", gateway=GATEWAYS[number], metrics=metrics)
                for name, value in HOST.items():
                    write_setting(name, value)
                with MPTCP() as paths:
                    paths.limits("set", subflows=2)
                    if host is self.sender:
                        paths.endpoint("add", addr=SECOND, flags=SUBFLOW, id=2)

    def close(self) -> None:
        """Lets go of it all."""
        for namespace in (self.sender, self.router, self.receiver):
            namespace.close()


def without_offloads(route: Any, name: str) -> int:
    """The index of a device, up, that sends packets one by one."""
    (index,) = route.link_lookup(ifname=name)
    route.link("set", index=index, state="up", gso_max_segs=1)
    return int(index)


def connected(hosts: Hosts, port: int, protocol: int, stack: ExitStack) -> list[socket.socket]:
    """Both ends of a connection."""
    with hosts.receiver.inside():
        server = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol))
    with hosts.sender.inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    server.bind((SERVER, port))
    server.listen(1)
    sender.bind((FIRST, 0))
    sender.connect((SERVER, port))
    receiver, _ = server.accept()
    for end in (sender, receiver):
        stack.callback(abort, end)
        end.setblocking(False)
    return [sender, receiver]


def share_of_two(seconds: float, delayed_acks: bool) -> float:
    """What two subflows of MPTCP have of the bytes received, beside one TCP, all under the kernel's
    Reno.
    """
    received = [0, 0]
    with ExitStack() as stack:
        hosts = Hosts(delayed_acks)
        stack.callback(hosts.close)
        both = [connected(hosts, 9000, IPPROTO_MPTCP, stack), connected(hosts, 9001, 0, stack)]
        begun = time.monotonic()
        while (now := time.monotonic()) < begun + WARMUP_S + seconds:
            for number, (sender, receiver) in enumerate(both):
                with suppress(BlockingIOError):
                    while True:
                        sender.send(bytes(1 << 16))
                with suppress(BlockingIOError):
                    while data := receiver.recv(1 << 20):
                        received[number] += len(data) if now > begun + WARMUP_S else 0
            time.sleep(0.001)
    return received[0] / sum(received)
