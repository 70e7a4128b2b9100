"""What is left behind would be seen."""

from __future__ import annotations

from pathlib import Path

import left
import pytest

from anabranch.linux.controllers import attached

pytestmark = pytest.mark.usefixtures("kernel")

REPORT = (
    "------------[ cut here ]------------",
    "WARNING: CPU: 1 PID: {pid} at net/ipv4/tcp_input.c:2741 {where}+0xc0/0xd0",
    "CPU: 1 UID: 0 PID: {pid} Comm: any",
    "---[ end trace 0000000000000000 ]---",
)


def test_programs_maps_and_links_that_this_process_holds_are_seen(controllers: None) -> None:
    before = left.unheld()
    with attached(["lia"]):
        assert {kind for kind, _ in left.unheld() - before} == set(left.KINDS)


def test_what_the_kernel_says_is_heard() -> None:
    log = left.KernelLog()
    Path("/dev/kmsg").write_text("<7>anabranch: a test listens\n")
    assert (7, "anabranch: a test listens") in log.new()


@pytest.mark.parametrize(
    ("pid", "where", "excused"),
    [
        (1, "tcp_undo_cwnd_reduction", 1),
        (1, "tcp_ack", 0),
        (999_999_999, "tcp_undo_cwnd_reduction", 0),
    ],
)
def test_a_warning_is_excused_only_where_no_controller_was_asked(
    pid: int, where: str, excused: int
) -> None:
    lines = [(4, line.format(pid=pid, where=where)) for line in REPORT]
    found, let_be = left.alarming(lines)
    assert (len(found), len(let_be)) == (1 - excused, excused)
