"""Our endpoint and the kernel's on two TUN devices, in a network namespace of this process.

Run by tests/linux/test_wire.py as `unshare --net python wire_peer.py SETTINGS`, where SETTINGS is
JSON. It prints one object of JSON. Addresses of the kernel end in 1, ours in 2; path i has network
10.77.i.
"""

from __future__ import annotations

import hashlib
import json
import random
import socket
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from anabranch.linux.tcp_info import IPPROTO_MPTCP
from anabranch.wire import Driver, Host, open_tun, random_number

PATTERN = random.Random(1).randbytes(1 << 20)
PIECE = 65_536
PATIENCE_S = 240.0
LINGER_S = 30.0


@dataclass
class Settings:
    """What is tried."""

    role: str = "client"
    """Ours: `client` opens the connection, `server` accepts it."""
    size: int = 1_000_000
    """Bytes each way."""
    trouble: float = 0.0
    """The part of packets that is lost, delayed beyond later ones, and copied: each this much."""
    checksums: bool = False
    multipath: bool = True
    strip: bool = False
    """A middlebox removes MPTCP's option."""
    dead_s: tuple[float, float] = (0.0, 0.0)
    """Path 0 carries nothing between these times."""
    connections: int = 1
    """One after the other; several have one subflow each."""
    pcap: str = ""
    """File for the packets of our host."""


def pattern(start: int, size: int) -> bytes:
    """Bytes of the data that both ends send."""
    offset = start % len(PATTERN)
    return PATTERN[offset : offset + min(size, PIECE)]


def digest(size: int) -> str:
    """The hash of all of it."""
    whole, done = hashlib.sha256(), 0
    while done < size:
        piece = pattern(done, size - done)
        whole.update(piece)
        done += len(piece)
    return whole.hexdigest()


class Network:
    """Loses, delays, copies and strips packets, and keeps those of our host in a file."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.chance = random.Random(2)
        self.held: dict[bool, list[bytes]] = {True: [], False: []}
        self.began = time.monotonic()
        self.resets = 0
        self.file = Path(settings.pcap) if settings.pcap else None
        self.recorded = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)]

    def __call__(self, packet: bytes, leaves: bool) -> list[bytes]:
        """The packets that come out."""
        self.resets += bool(packet[33] & 4)
        if self.file and leaves:
            at = time.monotonic() - self.began
            head = struct.pack("<IIII", int(at), int(at % 1 * 1e6), len(packet), len(packet))
            self.recorded.append(head + packet)
        first, last = self.settings.dead_s
        if packet[14] == 0 and first <= time.monotonic() - self.began < last:
            return []
        if self.settings.strip:
            packet = stripped(packet)
        trouble = self.settings.trouble
        if self.chance.random() < trouble:
            return []
        if self.chance.random() < trouble:
            self.held[leaves].append(packet)
            return []
        copies = [packet, packet] if self.chance.random() < trouble else [packet]
        if self.held[leaves] and self.chance.random() < 0.5:
            copies.append(self.held[leaves].pop())
        return copies


def stripped(packet: bytes) -> bytes:
    """The packet with NOPs in place of MPTCP's option (kind 30), and a right checksum."""
    header = 20 + (packet[32] >> 4) * 4
    out, at = bytearray(packet), 40
    while at < header and out[at] != 0:
        length = 1 if out[at] == 1 else max(out[at + 1], 2)
        if out[at] == 30:
            out[at : at + length] = b"\x01" * length
        at += length
    out[36:38] = b"\0\0"
    pseudo = bytes(out[12:20]) + struct.pack("!BBH", 0, 6, len(out) - 20) + bytes(out[20:])
    total = sum(struct.unpack(f"!{len(pseudo) // 2}H", pseudo[: len(pseudo) // 2 * 2]))
    total += pseudo[-1] << 8 if len(pseudo) % 2 else 0
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    out[36:38] = struct.pack("!H", ~total & 0xFFFF)
    return bytes(out)


class Kernel(threading.Thread):
    """The kernel's end: sends and receives on sockets of MPTCP."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(daemon=True)
        self.settings = settings
        self.digests: list[str] = []
        self.errors: list[str] = []
        self.ready = threading.Event()

    def run(self) -> None:
        """All connections, one after the other."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
        listener.bind(("0.0.0.0", 80))
        listener.listen()
        self.ready.set()
        for _ in range(self.settings.connections):
            try:
                if self.settings.role == "client":
                    connection = listener.accept()[0]
                else:
                    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
                    connection.connect(("10.77.0.2", 80))
                self.exchange(connection)
            except OSError as error:
                self.errors.append(str(error))

    def exchange(self, connection: socket.socket) -> None:
        """Both directions at once."""
        whole = hashlib.sha256()

        def read() -> None:
            while piece := connection.recv(PIECE):
                whole.update(piece)

        reading = threading.Thread(target=read)
        reading.start()
        done = 0
        while done < self.settings.size:
            done += connection.send(pattern(done, self.settings.size - done))
        connection.shutdown(socket.SHUT_WR)
        reading.join()
        connection.close()
        self.digests.append(whole.hexdigest())


class Ours:
    """Our end of one connection."""

    def __init__(self, driver: Driver, settings: Settings, port: int) -> None:
        self.driver, self.settings, self.port = driver, settings, port
        self.whole = hashlib.sha256()
        self.sent = 0
        self.joined = settings.role == "server" or settings.connections > 1
        self.ended = self.closed = False
        self.multipath = False
        self.paths: set[str] = set()
        self.connection = self.begin()

    def begin(self) -> int:
        """The connection, asked for or accepted."""
        if self.settings.role == "client":
            local = f"10.77.0.2:{self.port}"
            return self.driver.host.connect(self.driver.now(), local, "10.77.0.1:80")
        while (connection := self.driver.host.accept()) is None:
            self.driver.turn()
        return connection

    def step(self) -> None:
        """Writes and reads what is possible."""
        host, now = self.driver.host, self.driver.now()
        state = host.state(self.connection)
        if state in ("opening", "over"):
            return
        self.multipath |= state == "multipath"
        self.paths |= {line[1] + line[2] for line in host.subflows(self.connection)}
        if self.multipath and not self.joined and self.sent > 0:
            self.join(now)
        while self.sent < self.settings.size:
            taken = host.write(
                now, self.connection, pattern(self.sent, self.settings.size - self.sent)
            )
            self.sent += taken
            if taken == 0:
                break
        if self.sent == self.settings.size and not self.closed:
            host.close(now, self.connection)
            self.closed = True
        while not self.ended and (piece := host.read(now, self.connection)) is not None:
            self.whole.update(piece)
            self.ended = piece == b""

    def join(self, now: float) -> None:
        """Asks for the second subflow, as soon as the peer may grant it."""
        ends = (f"10.77.1.2:{self.port}", "10.77.1.1:80")
        try:
            self.driver.host.join(now, self.connection, *ends, [1, 1])
        except OSError:
            return
        self.joined = True


def counters() -> dict[str, int]:
    """The kernel's counters of MPTCP and TCP that are not zero."""
    found: dict[str, int] = {}
    for file in ("netstat", "snmp"):
        lines = Path(f"/proc/net/{file}").read_text().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            words, numbers = names.split()[1:], values.split()[1:]
            found |= {w: int(n) for w, n in zip(words, numbers, strict=True) if int(n) > 0}
    return {
        name: count
        for name, count in found.items()
        if name.startswith(("MP", "DSS", "Data", "Infinite", "OutRsts", "InErrs", "InCsum"))
    }


def open_devices() -> dict[str, int]:
    """Two TUN devices with the kernel's addresses; their descriptors by our addresses."""
    devices = {}
    for path in range(2):
        devices[f"10.77.{path}.2"] = open_tun(f"wire{path}")
        address = f"ip address add 10.77.{path}.1/24 dev wire{path}"
        subprocess.run(address.split(), check=True)
        subprocess.run(f"ip link set wire{path} up txqueuelen 2000".split(), check=True)
    return devices


def main(settings: Settings) -> dict[str, object]:
    """Moves the data and says what became of it."""
    devices = open_devices()
    Path("/proc/sys/net/mptcp/checksum_enabled").write_text(str(int(settings.checksums)))
    subprocess.run(["ip", "mptcp", "limits", "set", "subflows", "4"], check=True)
    if settings.role == "server" and settings.connections == 1:
        subprocess.run(["ip", "mptcp", "endpoint", "add", "10.77.1.1", "subflow"], check=True)
    host = Host("lia", random_number, checksums=settings.checksums, multipath=settings.multipath)
    host.listen(80)
    network = Network(settings)
    driver = Driver(host, devices, network)
    kernel = Kernel(settings)
    kernel.start()
    kernel.ready.wait()
    began, ours, multipath, paths = time.monotonic(), [], False, 0
    for number in range(settings.connections):
        end = Ours(driver, settings, 10_000 + number)
        while not (end.ended and end.closed and len(kernel.digests) > number):
            end.step()
            driver.turn(0.01)
            if time.monotonic() - began > PATIENCE_S or kernel.errors:
                break
        ours.append(end.whole.hexdigest())
        multipath |= end.multipath
        paths = max(paths, len(end.paths))
    # A path that was dead sends its bytes again after a timeout that has doubled some times.
    lingered = time.monotonic()
    while len(host) > 0 and time.monotonic() - lingered < LINGER_S:
        driver.turn(0.01)
    if network.file:
        network.file.write_bytes(b"".join(network.recorded))
    right = digest(settings.size)
    return {
        "there": sum(digest == right for digest in kernel.digests),
        "back": sum(digest == right for digest in ours),
        "multipath": multipath,
        "paths": paths,
        "left": len(host),
        "resets": network.resets,
        "errors": kernel.errors,
        "seconds": time.monotonic() - began,
        "counters": counters(),
    }


if __name__ == "__main__":
    print(json.dumps(main(Settings(**json.loads(sys.argv[1])))))
