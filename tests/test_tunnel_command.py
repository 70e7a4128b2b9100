"""`anabranch tunnel`: bytes come back the same over two addresses of loopback, also after either
side was killed, and what is wrong is said.
"""

from __future__ import annotations

import hashlib
import random
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from anabranch import _core
from test_cli_streams import COMMAND

pytestmark = pytest.mark.skipif(not hasattr(_core, "TunnelListen"), reason="tunnels need Linux")

BYTES = 2_000_000
PATIENCE_S = 60


def tunnel(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command of `anabranch tunnel` that ends."""
    return subprocess.run(
        [*COMMAND, "tunnel", *words], cwd=cwd, capture_output=True, text=True, timeout=60
    )


def echo() -> socket.socket:
    """A server on loopback that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def one(stream: socket.socket) -> None:
        with stream:
            while part := stream.recv(65536):
                stream.sendall(part)
            stream.shutdown(socket.SHUT_WR)

    def serve() -> None:
        while True:
            try:
                stream, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(stream,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener


def free_port(kind: int) -> int:
    """A port of loopback that is free now."""
    with closing(socket.socket(socket.AF_INET, kind)) as own:
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


class Pair:
    """Both sides, with a forward to an echo."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.echo = folder, echo()
        made = tunnel("key", "client.key", cwd=folder)
        self.server_key = tunnel("key", "server.key", cwd=folder).stdout.strip()
        (folder / "peers").write_text(f"# hosts\n{made.stdout}")
        self.port, self.forward = free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_STREAM)
        self.metrics = free_port(socket.SOCK_STREAM)
        self.listener, self.connector = self.listen(), self.connect()

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A side, after its first line."""
        process = subprocess.Popen(
            [*COMMAND, "tunnel", *words], cwd=self.folder, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stdout.readline()
        return process

    def listen(self) -> subprocess.Popen[str]:
        words = ["--key", "server.key", "--peers", "peers", "--allow", "127.0.0.1/32"]
        addresses = [f"127.0.0.{host}:{self.port}" for host in (2, 3)]
        timeout = ["--timeout", "6"]
        return self.start("listen", *words, *[f"--listen={it}" for it in addresses], *timeout)

    def connect(self) -> subprocess.Popen[str]:
        words = ["--key", "client.key", "--peer", self.server_key, "--timeout", "6"]
        paths = [f"--path=127.0.0.1=127.0.0.{host}:{self.port}" for host in (2, 3)]
        to = f"127.0.0.1:{self.echo.getsockname()[1]}"
        offers = [f"--forward=127.0.0.1:{self.forward}={to}", f"--metrics=127.0.0.1:{self.metrics}"]
        return self.start("connect", *words, *paths, *offers)

    def stream(self) -> socket.socket:
        """A connection through the tunnel that has echoed a byte, when the tunnel stands."""
        for _ in range(PATIENCE_S):
            stream = socket.create_connection(("127.0.0.1", self.forward), timeout=PATIENCE_S)
            try:
                stream.sendall(b"?")
                if stream.recv(1) == b"?":
                    return stream
            except OSError:
                pass
            stream.close()
            time.sleep(0.5)
        raise AssertionError("the tunnel does not stand")

    def end(self) -> None:
        for process in (self.connector, self.listener):
            process.kill()
            process.wait()
        self.echo.close()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """Both sides."""
    made = Pair(tmp_path)
    yield made
    made.end()


def comes_back(stream: socket.socket) -> bool:
    """Whether bytes come back the same."""
    content = random.Random(2).randbytes(BYTES)

    def write() -> None:
        stream.sendall(content)
        stream.shutdown(socket.SHUT_WR)

    threading.Thread(target=write, daemon=True).start()
    digest = hashlib.sha256()
    while part := stream.recv(65536):
        digest.update(part)
    stream.close()
    return digest.digest() == hashlib.sha256(content).digest()


def test_bytes_come_back_the_same_and_the_metrics_count_them(pair: Pair) -> None:
    assert comes_back(pair.stream())
    with urllib.request.urlopen(f"http://127.0.0.1:{pair.metrics}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    up = re.search(r"^anabranch_tunnel_up_bytes_total (\d+)$", text, re.MULTILINE)
    assert up and int(up[1]) == BYTES + 1
    assert len(re.findall(r"^anabranch_tunnel_path_works\{.*\} 1$", text, re.MULTILINE)) == 2


@pytest.mark.parametrize("side", ["listener", "connector"])
def test_a_side_that_is_killed_ends_the_other_ones_streams_and_both_come_back(
    pair: Pair, side: str
) -> None:
    stream = pair.stream()
    process: subprocess.Popen[str] = getattr(pair, side)
    process.kill()
    process.wait()
    # Within the timeout, or at once if the application's own side is gone.
    with suppress(ConnectionResetError):
        assert stream.recv(1) == b""
    setattr(pair, side, pair.listen() if side == "listener" else pair.connect())
    assert comes_back(pair.stream())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_side_and_tells_the_other(pair: Pair, number: signal.Signals) -> None:
    stream = pair.stream()
    pair.listener.send_signal(number)
    pair.listener.communicate(timeout=30)
    assert pair.listener.returncode == 130
    with suppress(ConnectionResetError):
        assert stream.recv(1) == b""
    assert pair.connector.poll() is None


def test_what_is_wrong_is_said_with_the_option_and_what_would_be_right(tmp_path: Path) -> None:
    assert re.fullmatch(r"[0-9a-f]{64}\n", tunnel("key", "own", cwd=tmp_path).stdout)
    again = tunnel("key", "own", cwd=tmp_path)
    assert again.returncode == 2 and "exists already" in again.stderr
    shown = tunnel("key", "--show", "own", cwd=tmp_path)
    own = ["--key", "own", "--peer", shown.stdout.strip()]
    mptcp = ["--socks", "127.0.0.1:0", "--over", "mptcp"]
    for words, says in [
        (["--path", "127.0.0.1:9"], "--forward"),
        (["--path", "nowhere", "--socks", "127.0.0.1:0"], "INTERFACE=HOST:PORT"),
        (["--path", "127.0.0.1:9", "--socks", "1080"], "ADDRESS:PORT"),
        (["--path", "127.0.0.1:9", "--socks", "127.0.0.1:0", "--rate", "9"], "rate"),
        (["--path", "127.0.0.1:9", "--socks", "127.0.0.1:0", "-c", "tfrc"], "--uncoded"),
        (["--path", "127.0.0.1:9", "--socks", "127.0.0.1:0", "--up-to", "1"], "at least"),
        (["--path", "127.0.0.1:9", "--socks", "127.0.0.1:0", "--over", "tcp"], "udp or mptcp"),
        (["--path", "[::1]:9", "--socks", "127.0.0.1:0", "--over", "mptcp"], "IPv4 alone"),
        (["--path", "127.0.0.1:9", *mptcp, "--redundancy", "2"], "redundancy = 2.0: --over mptcp"),
        (["--path", "127.0.0.1:9", *mptcp, "--uncoded"], "codes nothing"),
        (["--path", "127.0.0.1:9", *mptcp, "-c", "tfrc"], "receivers of TCP send no reports"),
    ]:
        done = tunnel("connect", *own, *words, cwd=tmp_path)
        assert done.returncode == 2, (words, done)
        assert says in " ".join(done.stderr.split()), (words, done.stderr)
    (tmp_path / "peers").write_text("# nobody\n")
    words = ["--key", "own", "--peers", "peers", "--listen", "127.0.0.1:0"]
    done = tunnel("listen", *words, cwd=tmp_path)
    assert done.returncode == 2 and "has no key" in " ".join(done.stderr.split())
    (tmp_path / "peers").write_text(shown.stdout)
    done = tunnel("listen", *words, "--over", "mptcp", "--spare", "1", cwd=tmp_path)
    assert done.returncode == 2 and "the connecting side says" in " ".join(done.stderr.split())
