"""Capture files byte by byte: pcapng taken apart, changed and put together again; pcap written."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

PACKET = 6
"""Kind of the block that holds a packet."""

RAW, ETHERNET, NULL, LOOP, COOKED, COOKED_2 = 101, 1, 0, 108, 113, 276
"""Link types, as tcpdump.org numbers them."""


@dataclass(frozen=True)
class Block:
    """A block of a pcapng file of our byte order."""

    offset: int
    """Where in the file it begins."""
    kind: int
    body: bytes

    @property
    def at_ns(self) -> int:
        """When its packet was captured."""
        high, low = struct.unpack_from("<II", self.body, 4)
        return int(high << 32 | low)

    @property
    def packet(self) -> bytes:
        """What was kept of its packet."""
        return self.body[20 : 20 + struct.unpack_from("<I", self.body, 12)[0]]

    @property
    def length(self) -> int:
        """How long its packet was."""
        return int(struct.unpack_from("<I", self.body, 16)[0])

    @property
    def payload(self) -> bytes:
        """What TCP carries in it, over IPv4."""
        packet = self.packet
        return packet[20 + 4 * (packet[32] >> 4) :] if packet[9] == 6 else b""

    def of(self, packet: bytes) -> Block:
        """The block with another packet of the same length."""
        assert len(packet) == len(self.packet)
        return replace(self, body=self.body[:20] + packet + self.body[20 + len(packet) :])

    def __bytes__(self) -> bytes:
        """The block as it stands in a file."""
        length = struct.pack("<I", len(self.body) + 12)
        return struct.pack("<I", self.kind) + length + self.body + length


def blocks(file: Path) -> list[Block]:
    """The blocks of a file."""
    data, offset, found = file.read_bytes(), 0, []
    while offset < len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        found.append(Block(offset, kind, data[offset + 8 : offset + length - 4]))
        offset += length
    return found


def packets(found: Iterable[Block]) -> list[Block]:
    """The blocks that hold a packet."""
    return [block for block in found if block.kind == PACKET]


def write(file: Path, content: Iterable[Block]) -> Path:
    """Writes a file of blocks."""
    file.write_bytes(b"".join(map(bytes, content)))
    return file


def with_sums(packet: bytes) -> bytes:
    """An IPv4 packet with TCP whose two checksums are made right."""
    head = packet[:10] + b"\0\0" + packet[12:20]
    head = head[:10] + struct.pack(">H", checksum(head)) + head[12:]
    tcp = packet[20:36] + b"\0\0" + packet[38:]
    pseudo = packet[12:20] + struct.pack(">BBH", 0, 6, len(tcp))
    return head + tcp[:16] + struct.pack(">H", checksum(pseudo + tcp)) + tcp[18:]


def checksum(data: bytes) -> int:
    """The Internet's checksum (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def option_at(packet: bytes, kind: int) -> int | None:
    """Where in an IPv4 packet the first of TCP's options of this kind begins, if there is one."""
    if packet[9] != 6:
        return None
    at, end = 40, 20 + 4 * (packet[32] >> 4)
    while at < end and packet[at] != kind:
        at += 1 if packet[at] < 2 else packet[at + 1]
    return at if at < end else None


def pcap(
    content: Iterable[Block],
    link: int,
    *,
    order: str = "<",
    nanoseconds: bool = False,
    framed: Callable[[bytes], bytes] = bytes,
) -> bytes:
    """The packets as a file of the older format, each with the link layer that `framed` adds."""
    magic, ticks = (0xA1B23C4D, 1) if nanoseconds else (0xA1B2C3D4, 1000)
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262_144, link)
    for block in packets(content):
        frame = framed(block.packet)
        second, rest = divmod(block.at_ns, 10**9)
        cut = block.length - len(block.packet)
        out += struct.pack(f"{order}IIII", second, rest // ticks, len(frame), len(frame) + cut)
        out += frame
    return out


def as_ipv6(packet: bytes) -> bytes:
    """The segment of an IPv4 packet in one of IPv6."""
    mapped = bytes(10) + b"\xff\xff"
    source, destination = mapped + packet[12:16], mapped + packet[16:20]
    segment = packet[20:]
    return struct.pack(">IHBB", 6 << 28, len(segment), 6, 64) + source + destination + segment


FRAMES: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "raw": (RAW, bytes),
    "ethernet": (ETHERNET, lambda packet: bytes(12) + b"\x08\x00" + packet),
    "ethernet, padded": (ETHERNET, lambda p: (bytes(12) + b"\x08\x00" + p).ljust(60, b"\0")),
    "VLAN": (ETHERNET, lambda packet: bytes(12) + b"\x81\x00\x00\x05\x08\x00" + packet),
    "VLAN in a VLAN": (
        ETHERNET,
        lambda packet: bytes(12) + b"\x88\xa8\x00\x07\x81\x00\x00\x05\x08\x00" + packet,
    ),
    "Linux cooked": (COOKED, lambda packet: bytes(14) + b"\x08\x00" + packet),
    "Linux cooked, version 2": (COOKED_2, lambda packet: b"\x08\x00" + bytes(18) + packet),
    "BSD loopback": (NULL, lambda packet: b"\x02\x00\x00\x00" + packet),
    "OpenBSD loopback": (LOOP, lambda packet: b"\x00\x00\x00\x02" + packet),
    "IPv6": (RAW, as_ipv6),
    "IPv6 over ethernet": (ETHERNET, lambda p: bytes(12) + b"\x86\xdd" + as_ipv6(p)),
    "IPv6, Linux cooked": (COOKED, lambda packet: bytes(14) + b"\x86\xdd" + as_ipv6(packet)),
}
"""Link types with the frame that each puts around an IPv4 packet."""
