"""Our endpoints in packets against the kernel's MPTCP: byte-exact both ways, whatever the network
does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from needs import unavailable

pytestmark = pytest.mark.usefixtures("kernel")

PEER = Path(__file__).parent / "wire_peer.py"


def tried(**settings: Any) -> dict[str, Any]:
    """What became of the data, in a namespace of its own."""
    command = ["unshare", "--net", sys.executable, str(PEER), json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def whole(found: dict[str, Any], connections: int = 1) -> None:
    """Both directions of all connections have the bytes that were sent, and nothing is left."""
    assert (found["there"], found["back"]) == (connections, connections), found
    assert found["errors"] == []
    assert found["left"] == 0, found


@pytest.mark.parametrize("role", ["client", "server"])
@pytest.mark.parametrize("checksums", [False, True])
def test_two_subflows_carry_the_data_without_a_reset(role: str, checksums: bool) -> None:
    found = tried(role=role, size=8_000_000, checksums=checksums)
    whole(found)
    assert found["multipath"] and found["paths"] == 2, found
    assert found["resets"] == 0, found
    wrong = [name for name in found["counters"] if "Err" in name or "Fail" in name]
    assert wrong == [], found


@pytest.mark.parametrize("role", ["client", "server"])
@pytest.mark.parametrize("checksums", [False, True])
def test_loss_reordering_and_copies_cost_no_byte(role: str, checksums: bool) -> None:
    found = tried(role=role, size=8_000_000, trouble=0.01, checksums=checksums)
    whole(found)
    assert found["multipath"] and found["paths"] == 2, found


def test_a_path_that_goes_and_returns_costs_no_byte() -> None:
    found = tried(size=60_000_000, trouble=0.01, dead_s=[0.5, 3.0])
    whole(found)
    assert found["paths"] == 2, found


@pytest.mark.parametrize("role", ["client", "server"])
def test_a_middlebox_that_strips_the_option_makes_it_tcp(role: str) -> None:
    found = tried(role=role, size=2_000_000, strip=True)
    whole(found)
    assert not found["multipath"] and found["paths"] == 1, found


def test_plain_tcp_is_spoken_too() -> None:
    found = tried(size=2_000_000, multipath=False, trouble=0.01)
    whole(found)
    assert not found["multipath"], found


@pytest.mark.parametrize("role", ["client", "server"])
def test_short_connections_end_cleanly(role: str) -> None:
    found = tried(role=role, size=2000, connections=200)
    whole(found, 200)
    assert found["resets"] == 0, found


def test_tshark_calls_no_packet_malformed(tmp_path: Path) -> None:
    if not shutil.which("tshark"):
        unavailable("tshark is not installed")
    file = tmp_path / "ours.pcap"
    whole(tried(size=1_000_000, trouble=0.02, checksums=True, pcap=str(file)))
    bad = '_ws.malformed or _ws.expert.severity == "Error" or tcp.checksum.status == "Bad"'
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    checks += ["--disable-protocol", "http"]  # the data on port 80 is random
    seen = subprocess.run(
        ["tshark", "-r", str(file), *checks, "-Y", bad], capture_output=True, text=True, check=True
    )
    assert seen.stdout == ""
    all_of_it = subprocess.run(
        ["tshark", "-r", str(file), "-Y", "mptcp"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(all_of_it.stdout.splitlines()) > 500
