"""Sockets of the testbed: their options, and how to close them at once."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import resource
import socket
import struct
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..plan import Class, Plan
from ..planned_network import DropTail, Link
from .errors import LinuxError
from .tcp_info import IPPROTO_MPTCP

MOST_BUFFER = 16 * 2**20
"""Bytes of the largest socket buffer; the kernel doubles it for its own overhead."""

LEAST_SEND_BUFFER = 4 * 2**20
"""Bytes. Lets a path go on while another one is in timeout; `traffic.WINDOWS_AHEAD` limits the data
handed to a path."""

SEND_BUFFER_BDPS = 3.0
"""A sender's buffer in products of the user's share of bandwidth and the round trip with full
queues, all paths summed: one is in flight, one makes up for reordering between paths, one is yet to
be sent."""

SPARE_FILES = 64
"""Files that are open briefly, besides the lasting ones: sockets, controllers, the result."""

_AF_UNSPEC = struct.pack("=H14x", socket.AF_UNSPEC)
_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def room_for_files(plan: Plan) -> Iterator[None]:
    """Raises the limit of open files to its hard limit for the duration of the block.

    Raises LinuxError if a run of the plan needs more.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = len(os.listdir("/proc/self/fd")) + open_files(plan) + SPARE_FILES
    if resource.RLIM_INFINITY != hard < needed:
        users = sum(planned.count for planned in plan.classes)
        raise LinuxError(
            f"{users} users need {needed} open files, and the hard limit of this process is {hard}\n"
            f"help: raise it in the shell: ulimit -Hn {needed}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def open_files(plan: Plan) -> int:
    """Three sockets of each user; two namespaces of each class, and a device in both for
    each path.
    """
    return sum(3 * c.count + 2 + 2 * len(c.paths) for c in plan.classes)


def send_buffer(plan: Plan, planned: Class) -> int:
    """Bytes of the send buffer for a user of a class."""
    total = 0.0
    for path in planned.paths:
        rates = {i: rate for i in path.links if (rate := plan.links[i].rate_bps)}
        if rates:
            least = min(rate / sharers(plan, i) for i, rate in rates.items())
            waiting = sum(
                queue_bytes(plan.links[i], planned) * 8 / rate for i, rate in rates.items()
            )
            total += least / 8 * (path.base_rtt_s + waiting)
    return int(min(max(SEND_BUFFER_BDPS * total, LEAST_SEND_BUFFER), MOST_BUFFER))


def sharers(plan: Plan, link: int) -> int:
    """How many users' paths cross a link; 1 for a link of which each user has a copy."""
    if plan.links[link].per_user:
        return 1
    return sum(planned.count for planned in plan.classes for p in planned.paths if link in p.links)


UNLIMITED_PACKETS = 1000
"""Counted as the room of a queue that has no limit."""


def queue_bytes(link: Link, planned: Class) -> float:
    """Bytes that fit the queue of a link; 1000 packets if it is unlimited."""
    if isinstance(link.queue, DropTail) and link.queue.limit_bytes:
        return float(link.queue.limit_bytes)
    packets = link.queue and link.queue.limit_packets
    return float((packets or UNLIMITED_PACKETS) * planned.packet_bytes)


def receive_buffer(planned: Class) -> int:
    """Bytes of the receive buffer for a user of a class."""
    return min(planned.receive_buffer_bytes, MOST_BUFFER)


def tcp_socket(planned: Class) -> socket.socket:
    """A socket of the calling thread's namespace: MPTCP for a class with several paths.

    It does not block, and closing it aborts the connection. Raises OSError.
    """
    protocol = IPPROTO_MPTCP if len(planned.paths) > 1 else socket.IPPROTO_TCP
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return made


def listening(address: tuple[str, int], planned: Class) -> socket.socket:
    """A server's socket; connections inherit its options. Raises OSError."""
    server = tcp_socket(planned)
    server.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, receive_buffer(planned))
    server.bind(address)
    server.listen(4)
    return server


def connecting(address: str, planned: Class, controller: str, buffer_bytes: int) -> socket.socket:
    """A sender's socket, not yet connected. Raises OSError, LinuxError without the controller."""
    sender = tcp_socket(planned)
    # First, for an MPTCP socket that is not bound takes any name and keeps the default.
    sender.bind((address, 0))
    try:
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
    except OSError as error:
        sender.close()
        if error.errno != errno.ENOENT:
            raise
        raise LinuxError(f"this kernel has no congestion control {controller!r}") from None
    sender.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, buffer_bytes)
    return sender


def unacknowledged(connection: socket.socket) -> int:
    """Bytes written that the other end has not acknowledged. Raises OSError."""
    answer = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, b"\0" * 4)
    return int.from_bytes(answer, "little")


def abort(connection: socket.socket) -> None:
    """Ends a connection now: no socket without a process keeps a namespace alive.

    Closing with SO_LINGER 0 does it for TCP; an MPTCP socket is disconnected first, which the
    kernel does with a fast close of all subflows.
    """
    with suppress(OSError):
        if _libc.connect(connection.fileno(), _AF_UNSPEC, len(_AF_UNSPEC)) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    connection.close()


_SO_SNDBUFFORCE = 32
_SO_RCVBUFFORCE = 33
