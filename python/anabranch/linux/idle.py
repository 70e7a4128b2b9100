"""Tests whether a window decays in idle time (RFC 2861), with connections over loopback."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from .namespace import read_setting
from .tcp_info import tcp_info

SETTING = "net.ipv4.tcp_slow_start_after_idle"

SEGMENT_BYTES = 1000
"""Small ones, so that the window is many segments before any buffer is full."""

LARGE_SEGMENTS = 40
"""A window at which a connection is left idle: it halves twice before it is an initial one
of 10.
"""

MOST_GROWTH_S = 2.0
"""Time limit for a window to grow to `LARGE_SEGMENTS`."""

IDLE_RTOS = 3.5
"""Idle time in timeouts of the connection."""

MOST_IDLE_S = 5.0
"""A longer one is not waited for."""


@dataclass(frozen=True)
class Restart:
    """The window of a connection before and after idle time."""

    controller: str
    before_segments: int
    after_segments: int

    @property
    def grown(self) -> bool:
        """Whether the window was large enough to decay."""
        return self.before_segments >= LARGE_SEGMENTS

    @property
    def decayed(self) -> bool:
        """Whether the window decayed."""
        return self.after_segments < self.before_segments


def restarts(controllers: Sequence[str]) -> list[Restart]:
    """A connection under each controller, all idle at the same time. The controllers are loaded.

    Raises OSError where the loopback device is down, and TimeoutError where a timeout of theirs is
    too long to wait for.
    """
    with ExitStack() as stack:
        made = [stack.enter_context(connection(name)) for name in controllers]
        before = [grow(*ends) for ends in made]
        idle_s = IDLE_RTOS * max(tcp_info(sender).rto_s for sender, _ in made)
        if idle_s > MOST_IDLE_S:
            raise TimeoutError(f"a test of idle time would take {idle_s:.0f} s here")
        time.sleep(idle_s)
        after = []
        for sender, _ in made:
            sender.send(bytes(1))
            after.append(tcp_info(sender).cwnd_segments)
    return [Restart(*row) for row in zip(controllers, before, after, strict=True)]


def decays() -> bool:
    """Whether the setting of this namespace asks for decay."""
    return read_setting(SETTING) != "0"


@contextmanager
def connection(controller: str) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a TCP connection over the loopback device; the first sends under a
    controller.
    """
    with socket.socket() as server, socket.socket() as sender:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sender.settimeout(MOST_GROWTH_S)
        sender.connect(server.getsockname())
        receiver, _ = server.accept()
        with receiver:
            for end in (sender, receiver):
                end.setblocking(False)
            yield sender, receiver


def grow(sender: socket.socket, receiver: socket.socket) -> int:
    """Sends until the window is large or time is up, and all is acknowledged; the window then."""
    limit_s = time.monotonic() + MOST_GROWTH_S
    while time.monotonic() < limit_s:
        info = tcp_info(sender)
        if info.cwnd_segments < LARGE_SEGMENTS:
            with suppress(BlockingIOError):
                sender.send(bytes(2 * LARGE_SEGMENTS * SEGMENT_BYTES))
        elif not info.unacked and not info.unsent_bytes:
            break
        with suppress(BlockingIOError):
            while receiver.recv(1 << 20):
                pass
    return tcp_info(sender).cwnd_segments
