"""Controllers for the processes of a control group: both ends, all subflows, and no one else."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import left
import pytest
from churn import SUBFLOW, Stage
from grouped import Grouped
from needs import unavailable
from test_operator import clean, connection, controller, done, passes, refused

from anabranch import _core
from anabranch.linux.namespace import read_setting, write_setting
from anabranch.linux.observe import CHOICE

pytestmark = pytest.mark.usefixtures("kernel", "clean")

__all__ = ["clean"]


JOINS_AFTER_S = 0.3
"""A path joins once the peer has acknowledged data."""


def mounted() -> Path:
    """Where control groups of version 2 are."""
    rows = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    found = [Path(row[1]) for row in rows if row[2] == "cgroup2"]
    if not found or not os.access(found[0], os.W_OK):
        unavailable(
            "no control groups of version 2 are mounted: mount -t cgroup2 cgroup2 DIRECTORY"
        )
    return found[0]


@contextmanager
def group(name: str, inside: Path | None = None) -> Iterator[Path]:
    """A control group of this process."""
    made = (inside or mounted()) / f"abtest{os.getpid()}-{name}"
    made.mkdir()
    try:
        yield made
    finally:

        def removed() -> bool:
            with suppress(OSError):
                made.rmdir()
            return not made.exists()

        assert left.eventually(removed)


def ours(stage: Stage) -> list[tuple[str, str, int]]:
    """The controller, the own address and the number of subflows of each connection."""
    found = []
    for namespace in (stage.sender, stage.receiver):
        words = ["status", "--json", "--namespace", str(namespace.number)]
        found += json.loads(done(*words))["connections"]
    return sorted(
        (one["controller"], min(row["local"] for row in one["subflows"])[:8], len(one["subflows"]))
        for one in found
    )


def permitted() -> list[str]:
    """The controls that a namespace may have as its choice: on a kernel whose own is BBR, CUBIC is
    not among them.
    """
    return (read_setting("net.ipv4.tcp_allowed_congestion_control") or "").split()


def transferred(side: str) -> None:
    """Bytes from one end to the other, while the group of the one that sends has a controller."""
    usual = "cubic" if "cubic" in permitted() else "reno"
    with ExitStack() as stack:
        mine, other = (stack.enter_context(group(name)) for name in ("mine", "other"))
        stage = Stage(2e7, paths=2, slow=("in", "out"))
        stack.callback(stage.close)
        for namespace in (stage.sender, stage.receiver):
            with namespace.inside():
                write_setting(CHOICE, usual)
        stack.enter_context(controller("lia"))
        assert done("assign", "lia", "--cgroup", str(mine)).startswith(f"new connections of {mine}")
        groups = {side: mine}
        server = Grouped(
            groups.get("server", other), stage.receiver, "listen", 9000, side == "server"
        )
        stack.callback(server.kill)
        assert server.wait() == {"listens": True}
        client = Grouped(
            groups.get("client", other), stage.sender, "connect", 9000, side == "client"
        )
        stack.callback(client.kill)
        assert client.wait() == server.wait() == {"connected": True}
        time.sleep(JOINS_AFTER_S)
        stage.set_endpoint(1, SUBFLOW)
        address = "10.9.0.1" if side == "client" else "10.9.0.2"
        assert left.eventually(lambda: ours(stage) == [("ab_lia", address, 2)]), ours(stage)
        assert left.eventually(lambda: _core.kernel_counters("lia")["coupled"] > 0)

        assert done("unassign", "lia", "--cgroup", str(mine)).startswith(f"{mine} is no longer")
        assert ours(stage) == [("ab_lia", address, 2)], "open connections keep theirs"
        for end in (client, server):
            end.finish()
        assert client.wait() == server.wait(), "the digests of what was sent and received"
        assert left.eventually(lambda: unloaded() == "unloaded\n")


def test_all_subflows_of_one_group_have_the_controller_and_those_of_the_other_have_none() -> None:
    before = left.unheld()
    transferred("client")
    assert left.eventually(lambda: not left.unheld() - before)


def unloaded() -> str:
    """What `unload` says, once the last sockets are closed."""
    from test_operator import linux

    return linux("unload", "lia").stdout


def of_group(path: Path, name: str) -> str:
    """The congestion control of a connection over loopback that a process of a group opens."""
    home = Path("/proc/self/cgroup").read_text().split("0::")[1].splitlines()[0]
    (path / "cgroup.procs").write_text(str(os.getpid()))
    try:
        with connection(name, socket.IPPROTO_TCP) as (sender, receiver):
            assert passes(sender, receiver, 1 << 16)
            got = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
            return got.rstrip(b"\0").decode()
    finally:
        (mounted() / home.lstrip("/") / "cgroup.procs").write_text(str(os.getpid()))


def test_the_group_nearest_to_a_process_decides_also_against_its_own_choice() -> None:
    with ExitStack() as stack:
        outer = stack.enter_context(group("outer"))
        inner = stack.enter_context(group("inner", outer))
        for law in ("lia", "olia"):
            stack.enter_context(controller(law))
        done("assign", "lia", "--cgroup", str(outer))
        assert of_group(inner, "reno") == of_group(outer, "reno") == "ab_lia"
        done("assign", "olia", "--cgroup", str(inner))
        assert of_group(inner, "reno") == "ab_olia" and of_group(outer, "reno") == "ab_lia"
        with connection("reno", socket.IPPROTO_TCP) as (sender, _):
            got = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
            assert got.startswith(b"reno"), "outside of both"
        done("unload", "lia", "--force")
        assert of_group(outer, "reno") == "reno" and of_group(inner, "reno") == "ab_olia"
        done("unload", "olia", "--force")
        assert of_group(inner, "reno") == "reno"


def test_what_is_assigned_is_shown_with_the_command_that_ends_it_and_goes_with_unload() -> None:
    with group("shown") as path, controller("lia"):
        done("assign", "lia", "--cgroup", f"/{path.name}")
        (row,) = json.loads(done("status", "--json"))["controllers"]
        assert row["cgroups"] == [str(path)]
        command = f"anabranch linux unassign lia --cgroup {path}"
        assert command in " ".join(done("status").split())
        found = json.loads(done("check", "--json"))
        assert found["assigned"] == {f"sudo {command}": str(path)}
        said = refused("assign", "lia", "--cgroup", str(path))
        assert f"{path} has ab_lia already\nhelp: `{command}` first" in said
        assert done("unload", "lia") == f"unloaded\n{path} is no longer assigned ab_lia\n"
        assert _core.kernel_assigned() == []


def test_a_service_is_found_by_its_name_and_an_assignment_ends_with_its_group() -> None:
    with controller("lia"):
        with group("unit.service") as path:
            assert str(path) in done("assign", "lia", "--service", path.stem)
            assert _core.kernel_assigned() == [("ab_lia", str(path))]
        assert _core.kernel_assigned() == []
        assert f"the unit {path.name} has no control group" in refused(
            "assign", "lia", "--service", path.name
        )


def test_a_wrong_place_or_controller_is_refused_with_what_would_be_right(tmp_path: Path) -> None:
    with group("wrong") as path, controller("lia"):
        said = refused("assign", "lia", "--cgroup", str(tmp_path))
        assert f"{tmp_path} is not a control group of version 2; those are the directories" in said
        assert "takes --cgroup or --service, and neither is given" in refused("assign", "lia")
        assert "help: `anabranch linux load olia` first" in refused(
            "assign", "olia", "--cgroup", str(path)
        )
        said = refused("unassign", "lia", "--cgroup", str(path))
        assert f"ab_lia is not assigned to {path}; it is assigned to none" in said
