"""Connections whose subflows come and go, and the processes that have them.

Two namespaces with some paths of veth, bridge and token bucket between them; receivers and senders
are processes, and so are the holders of controllers, for all of them are killed now and then. Run
as a program it is one of those processes: `churn.py receive|send|hold|run …`. Each tells what it
has done on its standard output, a line of JSON now and then.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import select
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

from anabranch.linux import settings
from anabranch.linux.namespace import CLONE_NEWNET, Namespace, read_setting, write_setting
from anabranch.linux.sockets import abort
from anabranch.linux.tcp_info import IPPROTO_MPTCP

PATHS = 4
MOST_JOINED = 8
"""Subflows beside the first that the kernel allows a connection."""
PORT = 9000
SUBFLOW, BACKUP = 2, 4  # MPTCP_PM_ADDR_FLAG_…
QUICK_END = {"net.mptcp.close_timeout": "2", "net.ipv4.tcp_fin_timeout": "2"}
"""What killed processes leave is gone after seconds, not after a minute."""

CHUNK = bytes(64 * 1024)
TICK_S = 0.04


class Stage:
    """Two namespaces, the paths between them through a third one, and MPTCP endpoints."""

    def __init__(
        self,
        rate_bps: float,
        queue_bytes: int = 30_000,
        paths: int = PATHS,
        slow: tuple[str, ...] = ("out",),
    ) -> None:
        """`slow`: towards whom each path has its bottleneck, `out` to the receiver and `in` to the
        sender.
        """
        self.rate_bps, self.queue_bytes, self.paths, self.slow = rate_bps, queue_bytes, paths, slow
        self.sender, self.middle, self.receiver = Namespace(), Namespace(), Namespace()
        self.present: set[int] = set()
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def _build(self) -> None:
        from pyroute2 import MPTCP, IPRoute

        for namespace in (self.sender, self.receiver):
            with namespace.inside():
                for name, value in (settings.FIXED | settings.EACH_ACK | QUICK_END).items():
                    if read_setting(name) is not None:
                        write_setting(name, value)
                with MPTCP() as paths:
                    paths.limits("set", subflows=min(self.paths, MOST_JOINED))
        for path in range(self.paths):
            self._bridge(path)
        for namespace, here, there in ((self.sender, 1, 2), (self.receiver, 2, 1)):
            with namespace.inside(), IPRoute() as route:
                for path in range(self.paths):
                    self._connect(route, path, here, there)

    def _bridge(self, path: int) -> None:
        """A bridge with the bottleneck: at the sender's own device nothing would be lost, for the
        kernel queues little of a connection there."""
        from pyroute2 import IPRoute

        with self.middle.inside(), IPRoute() as route:
            route.link("add", ifname=f"bridge{path}", kind="bridge")
            (bridge,) = route.link_lookup(ifname=f"bridge{path}")
            for name, namespace in (("in", self.sender), ("out", self.receiver)):
                peer = {"ifname": f"path{path}", "net_ns_fd": namespace._fd}
                route.link("add", ifname=f"{name}{path}", kind="veth", peer=peer)
                (port,) = route.link_lookup(ifname=f"{name}{path}")
                route.link("set", index=port, master=bridge, state="up")
                if name in self.slow:
                    rate, limit = int(self.rate_bps / 8), self.queue_bytes
                    route.tc("add", "tbf", port, 0x10000, rate=rate, burst=20_000, limit=limit)
            route.link("set", index=bridge, state="up")

    def _connect(self, route: Any, path: int, here: int, there: int) -> None:
        (index,) = route.link_lookup(ifname=f"path{path}")
        own, other = f"10.9.{path}.{here}", f"10.9.{path}.{there}"
        route.addr("add", index=index, address=own, prefixlen=32)
        # No offloads and no delayed ACKs: as many ACKs as packets.
        route.link("set", index=index, state="up", gso_max_segs=1)
        if here == 1:
            table = 100 + path
            route.route("add", dst="0.0.0.0/0", oif=index, table=table, scope=253)
            route.rule("add", src=own, table=table, priority=table)
        else:
            once = {"quickack": 1}
            route.route("add", dst=f"{other}/32", oif=index, scope=253, metrics=once)

    def change(self, chance: random.Random) -> str:
        """Lets a path join all connections, or leave them; which of both it was."""
        path = chance.randrange(1, self.paths)
        if path in self.present:
            self.set_endpoint(path, None)
            return "left"
        self.set_endpoint(path, SUBFLOW | (BACKUP if chance.random() < 0.2 else 0))
        return "joined"

    def set_endpoint(self, path: int, flags: int | None) -> None:
        """Has connections open a subflow on a path, or close it without `flags`."""
        from pyroute2 import MPTCP

        with self.sender.inside(), MPTCP() as paths:
            if flags is None:
                self.present.remove(path)
                paths.endpoint("del", id=path)
            else:
                self.present.add(path)
                paths.endpoint("add", addr=f"10.9.{path}.1", flags=flags, id=path)

    def close(self) -> None:
        """Lets go of it all."""
        for namespace in (self.sender, self.middle, self.receiver):
            namespace.close()


def enter(fd: str) -> None:
    """Puts this process for good into the namespace that it inherited."""
    if ctypes.CDLL(None, use_errno=True).setns(int(fd), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    os.close(int(fd))


def tell(**told: Any) -> None:
    """A line for the parent."""
    print(json.dumps(told), flush=True)


def receive() -> None:
    """Takes all connections and all they bring."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Killed, it resets its connections: MPTCP would otherwise wait long for what is under way.
    server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    server.bind(("0.0.0.0", PORT))
    server.listen(256)
    server.setblocking(False)
    poll, there = select.epoll(), {}
    poll.register(server, select.EPOLLIN)
    tell(ready=True)
    while True:
        time.sleep(TICK_S)
        for number, _ in poll.poll(1):
            if number == server.fileno():
                with contextlib.suppress(OSError):
                    accepted, _ = server.accept()
                    accepted.setblocking(False)
                    there[accepted.fileno()] = accepted
                    poll.register(accepted, select.EPOLLIN)
            elif ended(there[number]):
                poll.unregister(number)
                there.pop(number).close()


def ended(connection: socket.socket) -> bool:
    """Reads what there is; whether that was the end."""
    try:
        while data := connection.recv(1 << 20):
            if len(data) < 1 << 19:
                return False
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


class Sender:
    """A number of connections that live a few seconds each, under controllers chosen at random."""

    def __init__(self, count: int, names: Path, chance: random.Random) -> None:
        self.count, self.names, self.chance = count, names, chance
        self.there: dict[socket.socket, float] = {}
        """When each is to end."""
        self.bulk: set[socket.socket] = set()
        """Connections that send all they can; the others send a little now and then."""
        self.opened = self.refused = self.broken = self.written = 0

    def open(self) -> None:
        """One more, or none if the controller has just gone."""
        names = self.names.read_text().split()
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        made.setblocking(False)
        try:
            name = self.chance.choice(names or ["reno"]).encode()
            made.bind(("10.9.0.1", 0))  # before it is bound an MPTCP socket takes any name
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            with contextlib.suppress(BlockingIOError):
                made.connect(("10.9.0.2", PORT))
        except OSError:
            made.close()
            self.refused += 1
            return
        self.opened += 1
        self.there[made] = time.monotonic() + self.chance.expovariate(1 / 6)
        if self.chance.random() < 0.3:
            self.bulk.add(made)

    def feed(self, connection: socket.socket) -> None:
        """Writes what goes; ends one that broke."""
        try:
            while connection in self.bulk:
                self.written += connection.send(CHUNK)
            if self.chance.random() < 0.1:
                self.written += connection.send(CHUNK[: self.chance.randrange(1, 8000)])
        except BlockingIOError:
            pass
        except OSError:
            self.forget(connection)
            connection.close()
            self.broken += 1

    def forget(self, connection: socket.socket) -> None:
        """It is no longer one of them."""
        self.there.pop(connection)
        self.bulk.discard(connection)

    def step(self) -> None:
        """Ends those whose time has come, opens as many, writes."""
        now = time.monotonic()
        for connection in [c for c, end in self.there.items() if end < now]:
            self.forget(connection)
            if self.chance.random() < 0.5:
                abort(connection)
            else:
                connection.close()
        if len(self.there) < self.count:
            self.open()
        for connection in list(self.there):
            self.feed(connection)


def send(count: str, names: str, seed: str) -> None:
    """Keeps `count` connections going until standard input ends."""
    sender, told = Sender(int(count), Path(names), random.Random(seed)), 0.0
    while not select.select([sys.stdin], [], [], TICK_S)[0]:
        sender.step()
        if time.monotonic() > told + 0.5:
            told = time.monotonic()
            tell(
                **{key: getattr(sender, key) for key in ("opened", "refused", "broken", "written")}
            )
    for connection in sender.there:
        abort(connection)


def hold(*laws: str) -> None:
    """Has controllers in the kernel until standard input ends."""
    from anabranch.linux.controllers import attached

    with attached(laws) as controllers:
        tell(names=[controllers.kernel_name(law) for law in laws])
        while not select.select([sys.stdin], [], [], 0.5)[0]:
            tell(counters=controllers.counters())
        tell(counters=controllers.counters())


def scenario(path: str) -> None:
    """`linux run`, which first tells the files that stand for its namespaces."""
    from anabranch.linux import running, wiring

    made = wiring.Network.__init__

    def told(self: Any, plan: Any) -> None:
        made(self, plan)
        tell(namespaces=[side.namespace._fd for side in self.sides])

    wiring.Network.__init__ = told  # type: ignore[method-assign]
    running.run(path, [1], keep_invalid=True, controller="olia")


if __name__ == "__main__":
    role, *rest = sys.argv[1:]
    if role in ("receive", "send"):
        enter(rest.pop(0))
    {"receive": receive, "send": send, "hold": hold, "run": scenario}[role](*rest)
