"""A process in a control group of its own that has an end of a connection.

`grouped.py CGROUP NAMESPACE connect|listen PORT sends|receives` enters both, and says what it has
done in lines of JSON. It sends until its standard input ends, or receives all, and then tells the
digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import left

from anabranch.linux.namespace import Namespace
from anabranch.linux.sockets import abort
from anabranch.linux.tcp_info import IPPROTO_MPTCP

CLIENT, SERVER = "10.9.0.1", "10.9.0.2"


class Grouped:
    """Such a process, seen from the test."""

    def __init__(
        self, cgroup: Path, namespace: Namespace, role: str, port: int, sends: bool
    ) -> None:
        """It has begun; a server listens when `wait` returns, a client is connected."""
        words = [str(cgroup), f"/proc/{os.getpid()}/fd/{namespace._fd}", role, str(port)]
        words.append("sends" if sends else "receives")
        self._process = subprocess.Popen(
            [sys.executable, __file__, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=left.environment(),
            text=True,
        )

    def wait(self) -> dict[str, Any]:
        """Its next line."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "it ended early"
        found: dict[str, Any] = json.loads(line)
        return found

    def finish(self) -> None:
        """Has it send no more."""
        assert self._process.stdin
        self._process.stdin.close()

    def kill(self) -> None:
        """Ends it, if it runs."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            stream.close()


def tell(**told: Any) -> None:
    """A line for the test."""
    print(json.dumps(told), flush=True)


def connected(role: str, port: int, stack: ExitStack) -> socket.socket:
    """An end of a connection. The socket that listens stays open, as subflows join through it. The
    server sets an option on the connection: a subflow that joins then takes over all options of it,
    its congestion control among them.
    """
    made = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP))
    if role == "connect":
        made.bind((CLIENT, 0))  # the stage routes by the sender's address
        made.connect((SERVER, port))
        return made
    made.bind((SERVER, port))
    made.listen(1)
    tell(listens=True)
    accepted = stack.enter_context(made.accept()[0])
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return accepted


def main(cgroup: str, namespace: str, role: str, port: str, task: str) -> None:
    """The process."""
    Path(cgroup, "cgroup.procs").write_text(str(os.getpid()))
    with ExitStack() as stack:
        with Namespace.at(namespace).inside():
            end = connected(role, int(port), stack)
        tell(connected=True)
        digest = sent(end) if task == "sends" else received(end)
        tell(digest=digest.hexdigest())
        # A connection that ends in the usual way would keep its controller for a minute.
        if task == "sends":
            with suppress(OSError):
                end.settimeout(10)
                end.recv(1)  # until the receiver has closed its end
        abort(end)


def sent(end: socket.socket) -> hashlib._Hash:
    """Sends until standard input ends."""
    ended, digest = threading.Event(), hashlib.sha256()
    block = random.Random(1).randbytes(1 << 16)

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait).start()
    while not ended.is_set():
        end.sendall(block)
        digest.update(block)
    end.shutdown(socket.SHUT_WR)
    return digest


def received(end: socket.socket) -> hashlib._Hash:
    """Receives all that the other end sends."""
    digest = hashlib.sha256()
    while data := end.recv(1 << 20):
        digest.update(data)
    return digest


if __name__ == "__main__":
    main(*sys.argv[1:])
