"""The real kernel as a world: a scenario between network namespaces, in real time.

    >>> import anabranch as ab
    >>> result = ab.linux.run("khalili/scenario-c", seeds=range(1, 4), controller="lia")
    >>> print(result.table())

Links are emulated between TUN devices; connections are sockets of the kernel. A result has the
shape of a simulated one. Root is needed; nothing is left behind.
"""

from __future__ import annotations

from ..sources import named
from . import running
from .errors import LinuxError, NotValid

__all__ = ["LinuxError", "NotValid", "run"]

run = named(running.run)
"""Runs a scenario on the real kernel; see `anabranch.linux.running.run`."""
