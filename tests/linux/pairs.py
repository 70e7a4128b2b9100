"""Connections on a stage, fed and drained in the test's own process."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from churn import PATHS, Stage

from anabranch.linux.sockets import abort


class Pair:
    """A connection between the namespaces of a stage, fed and drained by `feed`."""

    def __init__(
        self, stage: Stage, port: int, name: str | None, protocols: tuple[int, int]
    ) -> None:
        """Connected, under a controller as the kernel names it, or without a choice of its own."""
        address = "10.9.0.2", port
        with stage.receiver.inside():
            self.server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocols[1])
        with stage.sender.inside():
            self.sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocols[0])
        self.server.bind(address)
        self.server.listen(1)
        self.sender.bind(("10.9.0.1", 0))
        if name is not None:
            self.choose(name)
        self.sender.connect(address)
        self.receiver, _ = self.server.accept()
        self.sender.setblocking(False)
        self.receiver.setblocking(False)
        self.received = 0

    def choose(self, name: str) -> None:
        """Selects a controller."""
        self.sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())

    def feed(self) -> None:
        with suppress(BlockingIOError):
            while True:
                self.sender.send(bytes(1 << 16))
        with suppress(BlockingIOError):
            while data := self.receiver.recv(1 << 20):
                self.received += len(data)

    def close(self) -> None:
        for end in (self.sender, self.receiver, self.server):
            abort(end)


@contextmanager
def pairs(
    name: str, *protocols: tuple[int, int], rate_bps: float = 8e6, paths: int = PATHS
) -> Iterator[tuple[Stage, list[Pair]]]:
    """Connections on a stage of their own."""
    with ExitStack() as stack:
        stage = Stage(rate_bps, paths=paths)
        stack.callback(stage.close)
        made = []
        for number, both in enumerate(protocols):
            made.append(Pair(stage, 9000 + number, name, both))
            stack.callback(made[-1].close)
        yield stage, made


def feed(made: list[Pair], seconds: float) -> None:
    """Has them send for some time."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        for pair in made:
            pair.feed()
        time.sleep(0.005)
