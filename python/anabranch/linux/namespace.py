"""Unnamed network namespaces: only an open file keeps one alive.

So namespaces cannot collide, and they vanish with the process even if it is killed.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLONE_NEWNET = 0x4000_0000

_OWN = "/proc/thread-self/ns/net"
_libc = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """A network namespace. Sockets and devices made `inside` stay in it."""

    def __init__(self) -> None:
        """A new one. Raises OSError without the right to make one."""
        home = _own()
        try:
            _checked(_libc.unshare(CLONE_NEWNET), "unshare")
            try:
                self._fd = _own()
            finally:
                _enter(home)
        finally:
            os.close(home)

    @classmethod
    def at(cls, path: str) -> Namespace:
        """The one that a file such as /proc/PID/ns/net or /run/netns/NAME stands for.

        Raises OSError.
        """
        found = cls.__new__(cls)
        found._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return found

    def kept(self) -> Namespace:
        """The same one once more, to be closed on its own. Raises OSError."""
        return Namespace.at(f"/proc/thread-self/fd/{self._fd}")

    @property
    def number(self) -> int:
        """The kernel's number of it, as `ls -l /proc/PID/ns/net` shows."""
        return os.fstat(self._fd).st_ino

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The calling thread, and no other, is in the namespace for the time of the block."""
        home = _own()
        try:
            _enter(self._fd)
            try:
                yield
            finally:
                _enter(home)
        finally:
            os.close(home)

    def close(self) -> None:
        """Lets go of it; the kernel removes it when its last socket and device are closed."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def read_setting(name: str) -> str | None:
    """A setting of the namespace of the calling thread, such as "net.ipv4.tcp_sack", fields apart
    by one blank; None if this kernel has no such setting."""
    file = _setting(name)
    return " ".join(file.read_text().split()) if file.exists() else None


def write_setting(name: str, value: str) -> None:
    """Changes a setting of the namespace of the calling thread. Raises OSError."""
    _setting(name).write_text(value)


def _setting(name: str) -> Path:
    return Path("/proc/sys", *name.split("."))


def _own() -> int:
    return os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)


def _enter(fd: int) -> None:
    _checked(_libc.setns(fd, CLONE_NEWNET), "setns")


def _checked(status: int, call: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
