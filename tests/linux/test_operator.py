"""Controllers for good: what an operator types, and what it leaves."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import left
import pytest

from anabranch import _core
from anabranch.linux.controllers import available, names
from anabranch.linux.namespace import Namespace, read_setting, write_setting
from anabranch.linux.tcp_info import IPPROTO_MPTCP

pytestmark = pytest.mark.usefixtures("kernel", "clean")

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()", "linux"]

AS_NOBODY = """
import contextlib, io, os, sys
from anabranch.cli import main
words, sys.argv[1:] = sys.argv[1:], []
# What it imports may lie where only root can read.
for known in (["check", "--json"], ["status"], ["unload", "olia"]):
    sys.argv[1:] = ["linux", *known]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        with contextlib.redirect_stderr(io.StringIO()):
            main()
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for sys.argv[1:] in (["linux", *command.split()] for command in words):
    try:
        main()
    except SystemExit as end:
        print("status", end.code, file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def clean(controllers: None) -> Iterator[None]:
    """Takes out what a failed test has left; asks for a machine without an operator's controllers."""
    if there := loaded():
        pytest.skip(f"an operator has loaded {', '.join(there)}")
    scene = left.Scene()
    yield
    for law in loaded():
        _core.kernel_unload(law)
    assert scene.wrong() == []


def loaded() -> list[str]:
    return [law for law in names() if _core.kernel_pinned(law)]


def linux(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command as an operator does."""
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=60)


def done(*words: str) -> str:
    """What a command prints that must succeed."""
    result = linux(*words)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def refused(*words: str) -> str:
    """The one line of a command that must fail for its input."""
    result = linux(*words)
    assert result.returncode == 2, (result.returncode, result.stdout, result.stderr)
    assert result.stderr.startswith("error: ") and "Traceback" not in result.stderr
    return result.stderr


@contextmanager
def controller(law: str) -> Iterator[str]:
    """Loaded by the command, and taken out again whatever happens; its name in the kernel."""
    done("load", law)
    try:
        yield names()[law]
    finally:
        if _core.kernel_pinned(law):
            _core.kernel_unload(law)


@contextmanager
def connection(name: str, protocol: int = IPPROTO_MPTCP) -> Iterator[tuple[socket.socket, ...]]:
    """Both ends of a connection over the loopback device whose sender is under a controller."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as server:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as sender:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            sender.connect(server.getsockname())
            receiver, _ = server.accept()
            with receiver:
                yield sender, receiver


def passes(sender: socket.socket, receiver: socket.socket, size: int = 1 << 20) -> bool:
    """Whether data comes through."""
    thread = threading.Thread(target=sender.sendall, args=(bytes(size),))
    thread.start()
    receiver.settimeout(10)
    while size > 0 and (data := receiver.recv(1 << 16)):
        size -= len(data)
    thread.join()
    return size == 0


def test_an_unknown_controller_is_refused_with_the_nearest_names() -> None:
    text = refused("load", "oliva")
    assert "no controller `oliva`" in text and "nearest are olia" in text
    assert loaded() == []


def test_a_loaded_controller_stays_is_shown_and_goes() -> None:
    with controller("olia"), controller("balia"):
        assert {"ab_olia", "ab_balia"} <= set(available())
        rows = json.loads(done("status", "--json"))["controllers"]
        assert {(row["law"], row["name"]) for row in rows} == {
            ("olia", "ab_olia"),
            ("balia", "ab_balia"),
        }
        assert all(set(row["counters"].values()) == {0} for row in rows)
        assert "ab_olia is loaded already" in refused("load", "ab_olia")
        assert "ab_lia is not loaded; loaded are ab_" in refused("unload", "lia")
        assert done("unload", "ab_olia") == "unloaded\n"
    assert "ab_olia" not in available()
    assert "ab_olia is not loaded; none is loaded" in refused("unload", "olia")
    assert "no controller is loaded for good" in done("status")


@pytest.mark.parametrize("protocol", [IPPROTO_MPTCP, socket.IPPROTO_TCP], ids=["mptcp", "tcp"])
def test_a_controller_in_use_stays_or_is_forced_out_and_its_connections_end_well(
    protocol: int,
) -> None:
    with controller("lia") as name, connection(name, protocol) as (sender, receiver):
        assert passes(sender, receiver)
        rows = json.loads(done("status", "--json"))["connections"]
        (row,) = [row for row in rows if row["controller"] == name]
        assert row["protocol"] == ("MPTCP" if protocol == IPPROTO_MPTCP else "TCP")
        (subflow,) = row["subflows"]
        assert subflow["delivered"] > 5 and subflow["cwnd_segments"] >= 10
        assert f"{name} is in use, sockets: 1; close them" in refused("unload", "lia")
        assert name in available()
        assert "keep it until they close" in done("unload", "lia", "--force")
        assert name not in available()
        assert passes(sender, receiver)
        if protocol == IPPROTO_MPTCP:
            return
        # A new one beside the old, which lives on in the connection.
        done("load", "lia", "--min-ssthresh", "2")
        with connection(name, protocol) as others:
            assert passes(*others) and passes(sender, receiver)


def test_what_new_connections_get_stays_or_is_replaced_by_force() -> None:
    setting = "net.ipv4.tcp_congestion_control"
    namespace = Namespace()  # so that nobody else gets it
    with controller("balia") as name, namespace.inside():
        write_setting(setting, name)
        assert f"{name} is what new connections get" in refused("unload", "balia")
        done("unload", "balia", "--force")
        assert read_setting(setting) == "reno"
    namespace.close()


def test_check_finds_all_that_it_needs_here_and_leaves_nothing() -> None:
    result = linux("check", "--json")
    content = json.loads(result.stdout)
    states = {fact["name"]: fact["state"] for fact in content["facts"]}
    assert states == dict.fromkeys(states, "yes"), result.stdout
    assert content["load"] == content["run"] == "yes" and result.returncode == 0
    assert loaded() == []


def test_check_says_without_root_what_it_knows_and_what_it_does_not() -> None:
    words = ["check --json", "load olia", "unload olia", "status", "status --json"]
    result = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, *words], capture_output=True, text=True, timeout=60
    )
    said = result.stderr.splitlines()
    assert said[0] == "status 1", result.stderr
    for verb, error, status in zip(words[1:], said[1::2], said[2::2], strict=True):
        assert status == "status 2"
        assert "needs root: sudo" in error and f" linux {verb.split()[0]} " in error
    content = json.loads(result.stdout)
    facts = {fact["name"]: fact for fact in content["facts"]}
    states = {name: fact["state"] for name, fact in facts.items()}
    assert states["root"] == "no" and facts["root"]["detail"] == "user 65534"
    for name in ("fields", "namespaces", "TUN"):
        assert states[name] == "unknown", name
    for name in ("kernel", "controllers", "MPTCP", "BTF", "struct_ops", "siblings"):
        assert states[name] == "yes", name
    assert content["load"] == content["run"] == "no"
