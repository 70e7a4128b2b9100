"""Programs that nobody here wrote, over two paths under a controller with `+sbd`: curl and iperf3,
which ask for MPTCP through mptcpize.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import left
import pytest
from churn import SUBFLOW, Stage
from needs import unavailable
from test_operator import clean, done, linux
from test_pins import COMMAND

from anabranch.linux import observe
from anabranch.linux.namespace import write_setting
from anabranch.linux.tcp_info import IPPROTO_MPTCP

pytestmark = pytest.mark.usefixtures("kernel", "controllers", "clean", "programs")

__all__ = ["clean"]

RATE_BPS = 16e6
BYTES = 16_000_000
"""Four seconds over both paths, and as much again for the path that fails."""


@pytest.fixture(scope="module")
def programs() -> None:
    """Those that the tests run."""
    missing = [name for name in ("curl", "iperf3", "mptcpize") if not shutil.which(name)]
    if missing:
        unavailable(f"{', '.join(missing)} is not installed")


class Server(HTTPServer):
    """Takes files over MPTCP, and keeps their hashes."""

    hashes: list[str]

    def __init__(self) -> None:
        import socket

        self.hashes = []
        super().__init__(("10.9.0.2", 8080), Taking, bind_and_activate=False)
        self.socket.close()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        self.allow_reuse_address = True
        self.server_bind()
        self.server_activate()


class Taking(BaseHTTPRequestHandler):
    """A PUT."""

    server: Server

    def do_PUT(self) -> None:
        """Hashes what comes."""
        left, digest = int(self.headers["Content-Length"]), hashlib.sha256()
        while left and (part := self.rfile.read(min(left, 1 << 16))):
            digest.update(part)
            left -= len(part)
        self.server.hashes.append(digest.hexdigest())
        self.send_response(201)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def staged(closes_within_s: float = 20.0) -> Iterator[Stage]:
    """Two paths, and a controller that couples where they share; connections get it by default."""
    with ExitStack() as stack:
        stage = Stage(RATE_BPS, paths=2)
        stack.callback(stage.close)
        stage.set_endpoint(1, SUBFLOW)
        done("load", "lia+sbd")
        stack.callback(linux, "unload", "lia+sbd", "--force")
        couple = subprocess.Popen([*COMMAND, "couple", "lia+sbd"], stdout=subprocess.DEVNULL)
        stack.callback(couple.wait)
        stack.callback(couple.terminate)
        with stage.sender.inside():
            write_setting(observe.CHOICE, "ab_lia")
        yield stage
        assert left.eventually(lambda: not observe.sockets(), closes_within_s)


def turn(stage: Stage, path: int, state: str) -> None:
    """Sets a path up or down, at the far side of the sender."""
    from pyroute2 import IPRoute

    with stage.middle.inside(), IPRoute() as route:
        (port,) = route.link_lookup(ifname=f"in{path}")
        route.link("set", index=port, state=state)


def begin(stage: Stage, side: str, *words: str) -> subprocess.Popen[str]:
    """A program at one side, over MPTCP."""
    with getattr(stage, side).inside():
        return subprocess.Popen(
            ["mptcpize", "run", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


def used(subflows: int) -> bool:
    """Whether a connection with so many subflows is under the controller, within seconds."""
    limit = time.monotonic() + 5.0
    while time.monotonic() < limit:
        found = [one for one in observe.status().connections if one.controller == "ab_lia"]
        if any(len(one.subflows) == subflows for one in found):
            return True
        time.sleep(0.1)
    return False


def test_a_file_that_curl_sends_is_whole_through_a_failure_and_a_forced_unload(
    tmp_path: Path,
) -> None:
    file = tmp_path / "file"
    file.write_bytes(random.Random(1).randbytes(BYTES))
    with staged() as stage:
        with stage.receiver.inside():
            server = Server()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            words = ("-sS", "--interface", "host!10.9.0.1", "-T", str(file))
            curl = begin(stage, "sender", "curl", *words, "http://10.9.0.2:8080/f")
            assert used(2)
            turn(stage, 1, "down")
            time.sleep(1.5)
            turn(stage, 1, "up")
            time.sleep(1.0)
            assert curl.poll() is None, "the file was too short to see all of it"
            done("unload", "lia+sbd", "--force")
            _, said = curl.communicate(timeout=60)
            assert (curl.returncode, said) == (0, "")
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        assert server.hashes == [hashlib.sha256(file.read_bytes()).hexdigest()]


def test_iperf3_goes_on_through_a_failure_and_a_forced_unload() -> None:
    """It checks no content itself, and its file mode (`-F`, 3.12) sends what is left of an earlier
    block again where the socket took a part, also over plain TCP: so it is counted here, and the
    bytes are those of curl, above.
    """
    # It closes with data unread: the kernel keeps such a connection for a minute, under Reno too.
    with staged(closes_within_s=120.0) as stage:
        server = begin(stage, "receiver", "iperf3", "--server", "--one-off")
        time.sleep(0.5)
        words = ("--client", "10.9.0.2", "--bind", "10.9.0.1", "--bytes", str(BYTES), "--json")
        client = begin(stage, "sender", "iperf3", *words)
        assert used(2)
        time.sleep(0.5)
        turn(stage, 1, "down")
        time.sleep(1.5)
        turn(stage, 1, "up")
        time.sleep(0.5)
        assert client.poll() is None, "it was too short to see all of it"
        done("unload", "lia+sbd", "--force")
        said, _ = client.communicate(timeout=60)
        server.communicate(timeout=60)
    report = json.loads(said)
    assert "error" not in report
    assert report["end"]["sum_sent"]["bytes"] >= BYTES
    assert report["end"]["sum_received"]["bytes"] > 0.8 * BYTES  # it does not read the rest
    assert report["end"]["sender_tcp_congestion"] == "ab_lia"
