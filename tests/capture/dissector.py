"""Captures as tshark sees them: somebody else's reader of packets."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import pytest

WANTED = {
    "frame": ["number", "comment"],
    "_ws": ["malformed", "expert.severity", "expert.message"],
    "ip": ["src", "checksum.status", "dsfield.ecn"],
    "udp": ["length", "checksum.status"],
    "tcp": ["stream", "seq", "len", "flags", "checksum.status"],
    "tcp.analysis": [
        "retransmission",
        "fast_retransmission",
        "spurious_retransmission",
        "out_of_order",
    ],
    "tcp.options": ["sack_perm", "sack.count"],
    "tcp.options.mptcp": [
        *("subtype", "sendkey", "recvkey", "recvtok", "sendrand", "sendtrunchmac", "sendhmac"),
        *("rawdataseqno", "rawdataack", "datalvllen", "backup.flag"),
        *("echo", "addrid", "ipv4", "addaddrtrunchmac"),
    ],
    "mptcp": ["stream", "expected_token", "expected_idsn"],
}
FIELDS = [f"{protocol}.{field}" for protocol, fields in WANTED.items() for field in fields]

SENT_AGAIN = [f"tcp.analysis.{field}" for field in WANTED["tcp.analysis"]]
"""At the host that sends, packets leave in their order: one that is late is one that was sent
again.
"""

ERROR = str(0x800000)
"""A severity of tshark's."""

GOOD = "1"
"""A checksum that is right."""

SENDERS = int(IPv4Address("10.0.0.1"))
"""The address of the first path's sender."""


@dataclass(frozen=True)
class Packet:
    """A packet's fields; those that it does not have are empty."""

    fields: dict[str, str]

    def __getitem__(self, field: str) -> str:
        """A field's values, parted by commas."""
        return self.fields[field]

    def list(self, field: str) -> list[str]:
        """A field's values."""
        return [value for value in self[field].split(",") if value]

    @property
    def path(self) -> int | None:
        """The path whose sender it comes from, as results number paths; None from a receiver."""
        number = int(IPv4Address(self["ip.src"])) - SENDERS
        return number if 0 <= number < 1 << 24 else None

    @property
    def payload(self) -> int:
        """Bytes of TCP's payload."""
        return int(self["tcp.len"] or 0)

    @property
    def added(self) -> bool:
        """Whether it says that the simulated run has no such packet."""
        return self["frame.comment"].startswith("added:")

    @property
    def again(self) -> bool:
        """Whether it has been sent before."""
        return self.payload > 0 and any(self[field] for field in SENT_AGAIN)


def tshark(*words: str) -> str:
    """What tshark prints."""
    done = subprocess.run(["tshark", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def dissect(capture: Path) -> list[Packet]:
    """All packets of a capture; checksums are looked at."""
    checks = [word for p in ("ip", "tcp", "udp") for word in ("-o", f"{p}.check_checksum:TRUE")]
    chosen = [word for field in FIELDS for word in ("-e", field)]
    lines = tshark("-n", *checks, "-r", str(capture), "-T", "fields", *chosen).splitlines()
    return [Packet(dict(zip(FIELDS, line.split("\t"), strict=True))) for line in lines]


def required() -> None:
    """Skips without tshark; a failure where ANABRANCH_LINUX=required says that all is there."""
    if shutil.which("tshark"):
        return
    reason = "there is no tshark (apt-get install tshark)"
    if os.environ.get("ANABRANCH_LINUX") == "required":
        pytest.fail(f"all tests are required, and {reason}")
    pytest.skip(reason)
