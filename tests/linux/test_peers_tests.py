"""Other people's tests of MPTCP against our endpoint. They are not part of this repository:
PACKETDRILL names a checkout of multipath-tcp/packetdrill, MPTCP_CONNECT the kernel's program
in C, mptcp_connect.c.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("kernel")

ROOT = Path(__file__).parents[2]

DIFFERENT = {
    "dss/dss_fin_server.pkt",
    "fastclose/receive_fastclose_with_rst_multi_v4.pkt",
    "fastclose/receive_fastclose_with_rst_v4.pkt",
    "mp_join/mp_join_client_v4.pkt",
    "mp_prio/mp_prio_server_v4.pkt",
    "mp_reset/mp_reset_multi_v4.pkt",
    "syscalls/connect_close_full.pkt",
}
"""Scripts that fail, for the reasons in docs/explanation/wire.md."""


def named(variable: str, what: str) -> str:
    """The path that a variable of the environment has."""
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{what} is not here: {variable} would name it")
    return path


def test_scripts_of_packetdrill_pass_but_for_those_that_are_explained() -> None:
    checkout = named("PACKETDRILL", "a checkout of multipath-tcp/packetdrill")
    command = [sys.executable, str(ROOT / "tools" / "drill.py"), checkout, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    assert {it["script"] for it in outcomes if it["result"] != "passed"} == DIFFERENT
    assert len(outcomes) > len(DIFFERENT)


def test_the_kernels_own_test_program_gets_and_gives_the_bytes() -> None:
    source = named("MPTCP_CONNECT", "the kernel's mptcp_connect.c")
    program = Path(__file__).parent / "selftest.py"
    command = ["unshare", "--net", sys.executable, str(program), source]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 12
    assert all(it["there"] and it["back"] and it["left"] == 0 for it in found), found
