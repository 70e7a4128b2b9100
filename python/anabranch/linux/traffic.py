"""Bulk senders and receivers: the kernel's ends of a run in one thread, on sockets that never
block.

The thread wakes every few milliseconds, not for each packet: buffers hold much more than the data
of that time, the kernel acknowledges, and the emulator has its own processor.
"""

from __future__ import annotations

import errno
import heapq
import itertools
import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from ..plan import Class
from .sockets import abort, unacknowledged
from .tcp_info import MptcpReader, TcpInfo

TICK_S = 0.005
"""Interval at which sockets are polled."""

WINDOWS_AHEAD = 2
"""Windows of unsent data that each path of an MPTCP connection is kept supplied with.

The kernel's scheduler assigns all written data to subflows at once, by an estimate of their speed
that lags behind; a subflow in timeout keeps its data. So a full send buffer ends up on the slowest
path: in scenario C under OLIA the better path had nothing to send 30 to 70 % of the time.
"""

REFILL_S = 0.02
"""Interval at which the supply is checked; a quarter of the RTT if that is shorter."""

FELL_BACK = "it fell back to plain TCP"

_CHUNK = memoryview(bytes(256 * 1024))
"""Payload that senders write; no receiver reads its content."""


DSS_BYTES = 28
"""Length of the option that maps a packet's data (RFC 8684 section 3.3); `mss_bytes` does not
account for it.
"""


def whole_segment(tcp: TcpInfo) -> int:
    """Bytes of data that fill a packet of a path."""
    return tcp.mss_bytes - DSS_BYTES


def supply(tcp: TcpInfo) -> int:
    """Bytes of data that a path can take now, in whole segments.

    Any other amount would end in a packet that is not full, because data of another path cannot
    fill it up.
    """
    segment = whole_segment(tcp)
    unsent = -(-tcp.unsent_bytes // segment)
    return segment * max(0, WINDOWS_AHEAD * tcp.cwnd_segments - unsent)


class User(Protocol):
    """One user of a class, over TCP or QUIC."""

    flow: int
    """Its number among all users."""
    class_: int
    user: int
    planned: Class
    start_s: float
    completed_s: float

    @property
    def received(self) -> int:
        """Bytes that the application received."""

    @property
    def trouble(self) -> str:
        """The error, if any."""


@dataclass(kw_only=True)
class Receiving:
    """The kernel's receiving end of a user over TCP: the server's socket and the bytes received."""

    flow: int = 0
    class_: int
    user: int
    planned: Class
    start_s: float
    listener: socket.socket
    server: tuple[str, int]
    receiver: socket.socket | None = None
    ended: bool = False
    received: int = 0
    completed_s: float = float("nan")
    trouble: str = ""
    """The error, if any."""

    @property
    def finished(self) -> bool:
        """Whether the whole transfer was acknowledged."""
        return self.completed_s == self.completed_s

    def accepted(self) -> None:
        """The server has accepted the connection."""

    def close(self) -> None:
        """Ends it at once."""
        self.ended = True
        for end in (self.receiver, self.listener):
            if end is not None:
                abort(end)


@dataclass(kw_only=True)
class Connection(Receiving):
    """One user over the kernel's TCP at both ends."""

    sender: socket.socket
    established: bool = False
    written: int = 0
    refill_s: float = 0.0
    """When an MPTCP connection is looked at next."""

    def allowance(self, now_s: float) -> int | None:
        """Bytes that may be written now; None for no limit."""
        limit: int | None = self.planned.transfer_bytes
        rate = self.planned.app_rate_bps
        if rate is not None:
            segment = int(self.planned.payload_bytes)
            offered = int(rate * (now_s - self.start_s) / 8) // segment * segment
            limit = offered if limit is None else min(limit, offered)
        return None if limit is None else max(0, limit - self.written)

    def accepted(self) -> None:
        """The server has accepted the connection."""
        self.refill_s = 0.0

    def close(self) -> None:
        """Ends it at once at both ends."""
        abort(self.sender)
        super().close()


@dataclass
class Traffic:
    """The connections of a run, and the timeline of its actions."""

    connections: list[Connection]
    clock: Callable[[], float]
    """Seconds since the run began."""
    others: Sequence[Receiving] = ()
    """Users that others send for."""
    _poll: Any = field(default_factory=select.epoll, repr=False)
    _roles: dict[int, tuple[Receiving, str]] = field(default_factory=dict, repr=False)
    _timeline: list[tuple[float, int, Callable[[], object]]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count, repr=False)
    _reader: MptcpReader = field(default_factory=MptcpReader, repr=False)
    _buffer: bytearray = field(default_factory=lambda: bytearray(1 << 20), repr=False)

    def __post_init__(self) -> None:
        for user in (*self.connections, *self.others):
            self._watch(user.listener, user, "listener", select.EPOLLIN)
        for connection in self.connections:
            self.at(connection.start_s, partial(self._connect, connection))

    def at(self, time_s: float, action: Callable[[], object]) -> None:
        """Schedules an action; actions due at the same time run in the order of these calls."""
        heapq.heappush(self._timeline, (time_s, next(self._numbers), action))

    def run(self, end_s: float) -> None:
        """Sends and receives until `end_s`, and runs all actions due by then."""
        while True:
            now = self.clock()
            while self._timeline and self._timeline[0][0] <= min(now, end_s):
                heapq.heappop(self._timeline)[2]()
            if now >= end_s:
                return
            self._serve(now)
            due = self._timeline[0][0] if self._timeline else end_s
            time.sleep(max(0.0, min(due, end_s, now + TICK_S) - self.clock()))

    def _serve(self, now: float) -> None:
        for number, _ in self._poll.poll(0):
            connection, role = self._roles[number]
            if role == "listener":
                self._accept(connection)
            elif role == "receiver":
                self._receive(connection)
            elif isinstance(connection, Connection) and not connection.established:
                self._established(connection)
        for connection in self.connections:
            if connection.established and not connection.ended and not connection.finished:
                self._send(connection, now)

    def _connect(self, connection: Connection) -> None:
        if connection.ended:
            return
        with suppress(BlockingIOError):
            connection.sender.connect(connection.server)
        self._watch(connection.sender, connection, "sender", select.EPOLLOUT)

    def _established(self, connection: Connection) -> None:
        error = connection.sender.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        self._forget(connection.sender)
        if error:
            self._failed(connection, OSError(error, "could not connect"))
        else:
            connection.established = True

    def _accept(self, connection: Receiving) -> None:
        with suppress(BlockingIOError):
            connection.receiver, _ = connection.listener.accept()
            connection.receiver.setblocking(False)
            connection.accepted()
            self._watch(connection.receiver, connection, "receiver", select.EPOLLIN)

    def _receive(self, connection: Receiving) -> None:
        assert connection.receiver is not None
        try:
            while count := connection.receiver.recv_into(self._buffer):
                connection.received += count
                if count < len(self._buffer):
                    return
            self._forget(connection.receiver)
        except BlockingIOError:
            pass
        except OSError as error:
            self._forget(connection.receiver)
            self._failed(connection, error)

    def _send(self, connection: Connection, now: float) -> None:
        """Writes as much as the socket takes; a full socket costs one call."""
        try:
            allowed, wanted = connection.allowance(now), self._supply(connection, now)
            if wanted is not None:
                allowed = wanted if allowed is None else min(allowed, wanted)
            while allowed is None or allowed > 0:
                chunk = _CHUNK if allowed is None else _CHUNK[:allowed]
                count = connection.sender.send(chunk)
                connection.written += count
                allowed = None if allowed is None else allowed - count
                if count < len(chunk):
                    break
        except BlockingIOError:
            pass
        except OSError as error:
            self._failed(connection, error)
            return
        if connection.written == connection.planned.transfer_bytes:
            self._complete(connection, now)

    def _supply(self, connection: Connection, now: float) -> int | None:
        """Bytes that the paths of an MPTCP connection want now; None for plain TCP, which wants
        all.

        One segment until the server has accepted. The last packet of the handshake and the first
        segment carry the server's key. Were both lost and a later segment arrived, the server would
        fall back to plain TCP (RFC 8684 section 3.7), as Linux does.
        """
        paths = connection.planned.paths
        if len(paths) == 1:
            return None
        if now < connection.refill_s:
            return 0
        connection.refill_s = now + min(REFILL_S, min(path.base_rtt_s for path in paths) / 4)
        states = [subflow.tcp for subflow in self._reader.read(connection.sender).subflows]
        # One that has sent nothing may not send yet: the kernel does not tell when its handshake
        # ends.
        using = [tcp for tcp in states if tcp.segments_out] or states[:1]
        if connection.receiver is None:
            return 0 if connection.written else sum(whole_segment(tcp) for tcp in using)
        return sum(supply(tcp) for tcp in using)

    def _complete(self, connection: Connection, now: float) -> None:
        with suppress(OSError):
            if unacknowledged(connection.sender) == 0:
                connection.completed_s = now

    def end(self, connection: Connection) -> None:
        """A user leaves."""
        for end in (connection.sender, connection.receiver, connection.listener):
            if end is not None:
                self._forget(end)
        connection.close()

    def close(self) -> None:
        """Ends every connection."""
        for user in (*self.connections, *self.others):
            user.close()
        self._poll.close()

    def _failed(self, connection: Receiving, error: OSError) -> None:
        # A connection that fell back does not tell its state as one of MPTCP.
        fell_back = error.errno == errno.EOPNOTSUPP
        why = FELL_BACK if fell_back else str(error.strerror or error)
        connection.trouble = connection.trouble or why
        connection.ended = True

    def _watch(self, end: socket.socket, connection: Receiving, role: str, what: int) -> None:
        self._roles[end.fileno()] = connection, role
        self._poll.register(end.fileno(), what)

    def _forget(self, end: socket.socket) -> None:
        if self._roles.pop(end.fileno(), None):
            self._poll.unregister(end.fileno())
