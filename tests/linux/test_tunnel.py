"""`anabranch tunnel` between two hosts with two links each, which our emulator makes: bytes are the
same though a path fails, either side may be killed, and redirected connections arrive.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import left
import pytest
from needs import unavailable
from pyroute2 import IPRoute

from anabranch import _core
from anabranch.linux.emulation import Emulation
from anabranch.linux.namespace import Namespace, write_setting
from anabranch.linux.wiring import FIRST_PORT, Network, receiver_address, sender_address
from anabranch.scenario import Scenario
from test_cli_streams import COMMAND

pytestmark = [
    pytest.mark.usefixtures("kernel"),
    pytest.mark.skipif(not hasattr(_core, "TunnelListen"), reason="this build has no tunnels"),
]

LINK = """
[[link]]
name = "{name}"
rate = "8 Mb/s"
delay = "{delay}"
queue = {{ droptail = {{ packets = "50 packets" }} }}
"""
FAILS = 'change = [{ at = "8 s", up = false }, { at = "20 s", up = true }]\n'
PAIR = """
[[flow]]
name = "pair"
path = [{ links = ["left"], back = ["left-back"] }, { links = ["right"], back = ["right-back"] }]
"""


def links(more: str = "") -> str:
    """Two links in both directions; `more` is of both of the right one."""
    parts = ['name = "links"\nduration = "120 s"\nwarmup = "0 s"\n']
    for name in ("left", "left-back"):
        parts.append(LINK.format(name=name, delay="5 ms"))
    for name in ("right", "right-back"):
        parts.append(LINK.format(name=name, delay="8 ms") + more)
    return "".join([*parts, PAIR])


BYTES = {"udp": 24_000_000, "mptcp": 34_000_000}
"""More than both links carry until the right one has returned: 1 MB a second each, of which a part
is redundancy, over UDP, and the acknowledgements of the other direction."""
TIMEOUT_S = 6
PATIENCE_S = 60
ESTABLISHED, TIME_WAIT, LISTEN = 1, 6, 10
"""States of a socket in /proc/net/tcp."""
BEYOND, BEYOND6 = "10.8.0.1", "fd00:8::1"
"""Addresses of the far host that only connections through the tunnel reach."""
OWN6 = "fd00:7::1"
"""Of the near host: a connection from an address of one link cannot be redirected to ::1."""


def up(namespace: Namespace, *addresses: str) -> None:
    """Takes the loopback of a namespace up, with more addresses."""
    with namespace.inside(), IPRoute() as route:
        write_setting("net.ipv6.conf.all.disable_ipv6", "0")
        (lo,) = route.link_lookup(ifname="lo")
        route.link("set", index=lo, state="up")
        for address in addresses:
            route.addr("add", index=lo, address=address, prefixlen=128 if ":" in address else 32)


def echoing(namespace: Namespace, host: str = "127.0.0.1") -> socket.socket:
    """A server inside a namespace that sends back what it gets."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with namespace.inside():
        listener = socket.create_server((host, 0), family=family)

    def one(stream: socket.socket) -> None:
        with stream, suppress(OSError):
            while part := stream.recv(65536):
                stream.sendall(part)
            stream.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with suppress(OSError):
            while True:
                stream, _ = listener.accept()
                threading.Thread(target=one, args=(stream,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener


class Hosts:
    """Two hosts with two links, and both sides of a tunnel between them."""

    def __init__(self, folder: Path, network: Network, over: str, *offers: str) -> None:
        self.folder, self.over = folder, over
        self.near, self.far = network.senders[0].namespace, network.receivers[0].namespace
        up(self.near, OWN6)
        up(self.far, BEYOND, BEYOND6)
        self.echo = echoing(self.far)
        self.to = f"127.0.0.1:{self.echo.getsockname()[1]}"
        key = self.key("near.key")
        self.far_key = self.key("far.key")
        (folder / "peers").write_text(f"{key}\n")
        self.offers = [f"--forward=127.0.0.1:1080={self.to}", *offers]
        self.sides = {"far": self.listen(), "near": self.connect()}

    def key(self, name: str) -> str:
        words = [*COMMAND, "tunnel", "key", str(self.folder / name)]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    def start(self, namespace: Namespace, *words: str) -> subprocess.Popen[str]:
        """A side inside a namespace, after its first line."""
        with namespace.inside():
            process = subprocess.Popen(
                [*COMMAND, "tunnel", *words, f"--timeout={TIMEOUT_S}"],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                text=True,
                env=left.environment(),
            )
        assert process.stdout is not None and process.stdout.readline()
        return process

    def listen(self) -> subprocess.Popen[str]:
        at = [f"--listen={receiver_address(0, path)}:{FIRST_PORT}" for path in range(2)]
        allow = [f"--allow={target}" for target in ("127.0.0.1", BEYOND, BEYOND6)]
        words = [f"--over={self.over}", "--key=far.key", "--peers=peers"]
        return self.start(self.far, "listen", *words, *at, *allow)

    def connect(self) -> subprocess.Popen[str]:
        ends = [(sender_address(0, path), receiver_address(0, path)) for path in range(2)]
        paths = [f"--path={here}={there}:{FIRST_PORT}" for here, there in ends]
        peer, metrics = f"--peer={self.far_key}", "--metrics=127.0.0.1:9100"
        words = [f"--over={self.over}", "--key=near.key", peer, *paths, *self.offers, metrics]
        return self.start(self.near, "connect", *words)

    def stream(self, to: tuple[str, int] = ("127.0.0.1", 1080)) -> socket.socket:
        """A connection of the near host that has echoed a byte, when the tunnel stands."""
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit:
            with self.near.inside():
                stream = socket.create_connection(to, timeout=PATIENCE_S)
            with suppress(OSError):
                stream.sendall(b"?")
                if stream.recv(1) == b"?":
                    return stream
            stream.close()
            time.sleep(0.5)
        raise AssertionError("the tunnel does not stand")

    def metric(self, name: str) -> list[float]:
        """The values of a metric of the near side, path by path."""
        with self.near.inside(), socket.create_connection(("127.0.0.1", 9100)) as asking:
            asking.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            text = b"".join(iter(lambda: asking.recv(65536), b"")).decode()
        return [float(value) for value in re.findall(rf"tunnel_{name}\{{.*\}} (\S+)\n", text)]

    def states(self, side: str) -> set[int]:
        """States of the TCP sockets inside the host of a side."""
        with (self.near if side == "near" else self.far).inside():
            rows = Path("/proc/thread-self/net/tcp").read_text().splitlines()[1:]
        return {int(row.split()[3], 16) for row in rows}

    def end(self) -> None:
        for process in self.sides.values():
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        self.echo.close()


@contextmanager
def hosts(folder: Path, *offers: str, more: str = "", over: str = "udp") -> Iterator[Hosts]:
    """Both sides over emulated links; nothing of it is left afterwards."""
    scene, scenario = left.Scene(), Scenario.parse(links(more))
    with ExitStack() as held:
        network = held.enter_context(Network(scenario.plan()))
        emulation = Emulation(scenario, network, seed=1, overrides=[], controller=None)
        held.callback(emulation.stop)
        emulation.start()
        made = Hosts(folder, network, over, *offers)
        held.callback(made.end)
        numbers = [made.near.number, made.far.number]
        yield made
    for number in numbers:
        assert left.eventually(lambda number=number: not left.inhabited(number))
    assert not scene.wrong()
    assert sorted(file.name for file in folder.iterdir()) == ["far.key", "near.key", "peers"]


def sends(stream: socket.socket, content: bytes) -> None:
    """Has a thread send all of it."""

    def write() -> None:
        with suppress(OSError):
            stream.sendall(content)
            stream.shutdown(socket.SHUT_WR)

    threading.Thread(target=write, daemon=True).start()


def comes_back(stream: socket.socket, content: bytes) -> bool:
    """Whether the echo of what is sent is the same."""
    sends(stream, content)
    digest = hashlib.sha256()
    with stream:
        while part := stream.recv(65536):
            digest.update(part)
    return digest.digest() == hashlib.sha256(content).digest()


def descriptors(process: subprocess.Popen[str]) -> int:
    """Files and sockets that a process has open."""
    return len(os.listdir(f"/proc/{process.pid}/fd"))


@pytest.mark.parametrize("over", ["udp", "mptcp"])
def test_a_file_is_the_same_both_ways_though_a_path_fails_and_returns(
    tmp_path: Path, over: str
) -> None:
    with hosts(tmp_path, more=FAILS, over=over) as both:
        stream, same = both.stream(), []
        content = random.Random(1).randbytes(BYTES[over])
        carrying = threading.Thread(target=lambda: same.append(comes_back(stream, content)))
        carrying.start()
        assert left.eventually(lambda: both.metric("path_works") == [1, 0], within_s=60)
        before = both.metric("path_sent_bytes_total")[1]
        assert left.eventually(lambda: both.metric("path_works") == [1, 1], within_s=60)
        carrying.join()
        assert same == [True]
        # Probes alone are a few hundred bytes.
        assert both.metric("path_sent_bytes_total")[1] > before + 100_000


@pytest.mark.parametrize("over", ["udp", "mptcp"])
@pytest.mark.parametrize("side", ["near", "far"])
def test_a_killed_side_ends_the_connections_of_the_other_within_its_timeout_and_nothing_is_left(
    tmp_path: Path, side: str, over: str
) -> None:
    other = "far" if side == "near" else "near"
    with hosts(tmp_path, over=over) as both:
        both.stream().close()
        assert left.eventually(lambda: both.states(other) <= {LISTEN, TIME_WAIT})
        if over == "mptcp":
            # The near side has a socket for the port of each path.
            assert left.eventually(lambda: both.metric("path_works") == [1, 1])
        idle = descriptors(both.sides[other])
        if over == "mptcp" and side == "far":
            idle -= 1  # while it tries again it has a port on one path
        stream = both.stream()
        sends(stream, bytes(50_000_000))
        assert stream.recv(1)
        assert ESTABLISHED in both.states(other)
        both.sides[side].send_signal(signal.SIGKILL)
        both.sides[side].wait()
        # The application's own side ends at once.
        ended = left.eventually(lambda: ESTABLISHED not in both.states(other), TIMEOUT_S + 2)
        assert ended
        assert left.eventually(lambda: descriptors(both.sides[other]) == idle)
        stream.close()
        assert both.sides[other].poll() is None
        old = both.sides[side]
        assert old.stdout is not None
        old.stdout.close()
        both.sides[side] = both.listen() if side == "far" else both.connect()
        assert comes_back(both.stream(), random.Random(2).randbytes(500_000))


def test_over_mptcp_curl_gets_the_same_bytes_over_both_paths(tmp_path: Path) -> None:
    if not shutil.which("curl"):
        unavailable("curl is not installed")
    served = tmp_path / "served"
    served.mkdir()
    content = random.Random(4).randbytes(4_000_000)
    (served / "file").write_bytes(content)
    with hosts(tmp_path, "--socks=127.0.0.1:1085", over="mptcp") as both, ExitStack() as held:
        web = [
            sys.executable,
            "-m",
            "http.server",
            "--bind=127.0.0.1",
            "--directory=served",
            "8080",
        ]
        with both.far.inside():
            serving = subprocess.Popen(web, cwd=tmp_path, stderr=subprocess.DEVNULL)
        held.callback(serving.wait)
        held.callback(serving.kill)
        both.stream().close()
        assert left.eventually(lambda: both.metric("path_works") == [1, 1])
        words = ["curl", "-sS", "--proxy", "socks5h://127.0.0.1:1085", "--retry", "9"]
        with both.near.inside():
            got = subprocess.run(
                [*words, "--retry-all-errors", "http://127.0.0.1:8080/file"],
                check=True,
                capture_output=True,
                timeout=PATIENCE_S,
            )
        assert got.stdout == content
        assert min(both.metric("path_received_bytes_total")) > 1_000_000
        shutil.rmtree(served)


def test_over_mptcp_a_spare_path_stays_idle_and_another_key_is_refused(tmp_path: Path) -> None:
    with hosts(tmp_path, "--spare=1", over="mptcp") as both:
        assert comes_back(both.stream(), random.Random(5).randbytes(2_000_000))
        assert both.metric("path_works") == [1, 1]
        assert min(both.metric("path_sent_bytes_total")) < 20_000
        both.sides["near"].terminate()
        both.sides["near"].wait()
        (tmp_path / "near.key").unlink()
        both.key("near.key")
        old = both.sides["near"]
        assert old.stdout is not None
        old.stdout.close()
        both.sides["near"] = both.connect()
        idle = descriptors(both.sides["far"])
        with both.near.inside():
            stream = socket.create_connection(("127.0.0.1", 1080), timeout=PATIENCE_S)
        with stream:
            assert stream.recv(1) == b""
        assert both.metric("path_works") == []
        assert descriptors(both.sides["far"]) == idle


def rules(family: str, network: str, port: int) -> str:
    """What the page docs/how-to/tunnel.md gives to nft, for a network."""
    page = Path("docs/how-to/tunnel.md").read_text()
    (text,) = re.findall(r"^```text\n(table ip anabranch_tunnel .*?)^```$", page, re.M | re.S)
    for old, new in (
        ("table ip ", f"table {family} "),
        ("10.1.0.0/16", network),
        (":1081", f":{port}"),
    ):
        assert old in text
        text = text.replace(old, new)
    return str(text if family == "ip" else text.replace("ip daddr", "ip6 daddr"))


def nft(namespace: Namespace, *words: str, given: str = "") -> None:
    """Calls nft inside a namespace."""
    with namespace.inside():
        subprocess.run(["nft", *words], input=given, text=True, check=True)


def test_redirected_connections_go_where_they_were_going_until_the_rules_are_gone(
    tmp_path: Path,
) -> None:
    if not shutil.which("nft"):
        unavailable("nft is not installed")
    offers = ["--transparent=0.0.0.0:1081", "--transparent=[::1]:1082"]
    with hosts(tmp_path, *offers) as both, ExitStack() as held:
        there = [held.enter_context(closing(echoing(both.far, it))) for it in (BEYOND, BEYOND6)]
        ends = [own.getsockname()[:2] for own in there]
        with both.near.inside(), IPRoute() as route:
            (path,) = route.link_lookup(ifname="path0")
            route.route("add", dst="10.8.0.0/16", oif=path)
            route.route("add", dst="fd00:8::/64", oif=path)
        nft(both.near, "-f", "-", given=rules("ip", "10.8.0.0/16", 1081))
        nft(both.near, "-f", "-", given=rules("ip6", "fd00:8::/64", 1082))
        content = random.Random(3).randbytes(1_000_000)
        for end in ends:
            assert comes_back(both.stream(end), content)
        # A host behind this one.
        behind = Namespace()
        held.callback(behind.close)
        with behind.inside(), IPRoute() as route:
            pair = {"ifname": "behind", "net_ns_fd": both.near._fd}
            route.link("add", ifname="uplink", kind="veth", peer=pair)
            (uplink,) = route.link_lookup(ifname="uplink")
            route.addr("add", index=uplink, address="10.7.0.2", prefixlen=24)
            route.link("set", index=uplink, state="up")
        with both.near.inside(), IPRoute() as route:
            (own,) = route.link_lookup(ifname="behind")
            route.addr("add", index=own, address="10.7.0.1", prefixlen=24)
            route.link("set", index=own, state="up")
        with behind.inside(), IPRoute() as route:
            route.route("add", dst="default", gateway="10.7.0.1")
        with behind.inside():
            stream = socket.create_connection(ends[0], timeout=PATIENCE_S)
        assert comes_back(stream, content)
        # What is not permitted, and what nobody has redirected, is not carried.
        for end in ((BEYOND.replace("0.1", "0.2"), 80), ("127.0.0.1", 1081)):
            with both.near.inside():
                stream = socket.create_connection(end, timeout=PATIENCE_S)
            with stream, suppress(ConnectionResetError):
                assert stream.recv(1) == b""
        for family in ("ip", "ip6"):
            nft(both.near, "delete", "table", family, "anabranch_tunnel")
        with both.near.inside(), pytest.raises(OSError):
            socket.create_connection(ends[0], timeout=2)
