"""Controllers for good: what an operator types, and what it leaves."""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import left
import pytest
from needs import unavailable

from anabranch import _core
from anabranch.cli.operate import unload_command
from anabranch.linux import LinuxError, observe
from anabranch.linux.controllers import available, names
from anabranch.linux.namespace import Namespace, read_setting, write_setting
from anabranch.linux.rights import LOCKDOWN
from anabranch.linux.tcp_info import IPPROTO_MPTCP

pytestmark = pytest.mark.usefixtures("kernel", "clean")

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()", "linux"]

AS_NOBODY = """
import contextlib, io, os, sys
from anabranch.cli import main
words, sys.argv[1:] = sys.argv[1:], []
# What it imports may lie where only root can read.
for known in (["check"], ["check", "--json"], ["status"], ["unload", "olia"]):
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
        unavailable(f"an operator has loaded {', '.join(there)}")
    scene = left.Scene()
    yield
    for law in loaded():
        _core.kernel_unload(law)
    assert scene.wrong() == []


def loaded() -> list[str]:
    return list(_core.kernel_loaded())


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
        if law in loaded():
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


def test_an_unknown_controller_is_answered_with_the_name_that_is_near() -> None:
    text = refused("load", "oliva")
    assert "no controller `oliva`" in text and "did you mean `olia`?" in text
    assert loaded() == []


def test_check_names_what_is_in_the_kernel_and_the_command_that_takes_it_out() -> None:
    assert "takes it out" not in done("check")
    with controller("fully-coupled") as name:
        (line,) = [one for one in done("check").splitlines() if "takes it out" in one]
        assert (
            line
            == f"{name} is in the kernel; `sudo anabranch linux unload fully-coupled` takes it out"
        )
        assert json.loads(done("check", "--json"))["loaded"] == {
            name: "sudo anabranch linux unload fully-coupled"
        }


def test_a_loaded_controller_stays_is_shown_and_goes() -> None:
    with controller("olia"), controller("balia"):
        assert {"ab_olia", "ab_balia"} <= set(available())
        rows = json.loads(done("status", "--json"))["controllers"]
        assert {(row["law"], row["name"]) for row in rows} == {
            ("olia", "ab_olia"),
            ("balia", "ab_balia"),
        }
        assert all(set(row["counters"].values()) == {0} for row in rows)
        assert all(row["sockets"] == row["listening"] == 0 for row in rows)
        assert "ab_olia is loaded already" in refused("load", "ab_olia")
        assert "ab_lia is not loaded; these are: ab_" in refused("unload", "lia")
        assert done("unload", "ab_olia") == "unloaded\n"
    assert "ab_olia" not in available()
    assert "ab_olia is not loaded; no controller is" in refused("unload", "olia")
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
        assert f"{name} is in use by 1 socket (0 listening)\nhelp: close" in refused(
            "unload", "lia"
        )
        assert name in available()
        assert "1 socket keeps it until it closes" in done("unload", "lia", "--force")
        assert name not in available()
        assert passes(sender, receiver)
        if protocol == IPPROTO_MPTCP:
            return
        # A new one beside the old, which lives on in the connection.
        done("load", "lia", "--min-ssthresh", "2")
        with connection(name, protocol) as others:
            assert passes(*others) and passes(sender, receiver)


def test_connections_are_selected_and_counted_in_metrics_and_their_round_trips_read() -> None:
    with controller("lia") as name, connection(name) as (sender, receiver):
        assert passes(sender, receiver)
        own, other = sender.getsockname()[1], receiver.getsockname()[1]
        for port in (own, other):
            rows = json.loads(done("status", "--json", "--port", str(port)))["connections"]
            assert [row["controller"] for row in rows] == [name]
        host = str(os.stat("/proc/self/ns/net").st_ino)
        for words, count in (
            (["--namespace", host, "--address", "127.0.0.0/8", "--controller", "lia"], 1),
            (["--namespace", "1"], 0),
            (["--address", "10.0.0.0/8"], 0),
            (["--controller", "olia"], 0),
        ):
            rows = json.loads(done("status", "--json", *words))["connections"]
            assert len(rows) == count, words
        said = done("status", "--metrics")
        assert f'\nanabranch_connections{{controller="{name}",protocol="mptcp"}} 1\n' in said
        sampler = _core.KernelSampler()
        sampler.look(1)
        for _ in range(5):
            assert passes(sender, receiver) and sampler.look(1) == 1
        (row,) = sampler.sampled()
        assert row["socket"]["local"] == f"127.0.0.1:{own}" and row["namespace"] == 1
        assert 3 <= len(row["sent_s"]) <= 5 and (row["sent_s"][1:] > row["sent_s"][:-1]).all()
        assert ((row["delay_s"] > 0) & (row["delay_s"] < 1)).all()
        assert abs(row["sent_s"][-1] - time.monotonic()) < 5
        assert row["socket"]["rate_bps"] > 0


def test_sockets_of_an_earlier_load_are_counted_apart_and_hold_no_later_one() -> None:
    def counted() -> list[int]:
        (row,) = json.loads(done("status", "--json"))["controllers"]
        return [row[key] for key in ("sockets", "listening", "earlier")]

    tcp = socket.IPPROTO_TCP
    with (
        controller("lia") as name,
        connection(name, tcp) as old,
        socket.socket() as server,
    ):
        server.bind(("127.0.0.1", 0))
        server.setsockopt(tcp, socket.TCP_CONGESTION, name.encode())
        server.listen(1)
        assert passes(*old) and counted() == [2, 1, 0]
        done("unload", "lia", "--force")
        (row,) = json.loads(done("status", "--json"))["connections"]
        assert row["controller"] == name and row["departed"]
        done("load", "lia")
        assert counted() == [0, 0, 2]
        with connection(name, tcp) as new:
            assert passes(*new) and passes(*old) and counted() == [1, 0, 2]
            rows = json.loads(done("status", "--json"))["connections"]
            assert sorted(row["departed"] for row in rows) == [False, True]
            assert "in use by 1 socket (0 listening)" in refused("unload", "lia")
            new[0].setsockopt(tcp, socket.TCP_CONGESTION, b"reno")
        assert done("unload", "lia") == "unloaded\n"
        assert passes(*old)


@pytest.mark.parametrize("protocol", [IPPROTO_MPTCP, socket.IPPROTO_TCP], ids=["mptcp", "tcp"])
def test_a_socket_that_listens_is_in_use_and_hands_the_controller_on_after_it_is_forced_out(
    protocol: int,
) -> None:
    with (
        controller("ewtcp") as name,
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as server,
    ):
        server.bind(("127.0.0.1", 0))
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        server.listen(1)
        content = json.loads(done("status", "--json"))
        (row,) = [row for row in content["controllers"] if row["name"] == name]
        assert row["sockets"] == row["listening"] == 1
        assert all(row["controller"] != name for row in content["connections"])
        text = refused("unload", "ewtcp")
        assert "in use by 1 socket (1 listening)\nhelp: " in text and name in available()
        assert "listening socket may pass it on" in done("unload", "ewtcp", "--force")
        assert name not in available()
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as client:
            client.connect(server.getsockname())
            accepted, _ = server.accept()
            with accepted:
                got = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
                assert got.rstrip(b"\0").decode() == name
                assert passes(accepted, client)


def test_what_new_connections_get_stays_or_is_replaced_by_force_in_every_namespace() -> None:
    with controller("balia") as name, inhabited() as one, inhabited() as other:
        for namespace in (one, other):
            with namespace.inside():
                write_setting(observe.CHOICE, name)
        text = refused("unload", "balia")
        assert f"{name} is the default of new connections in 2 network namespaces\n" in text
        forced = done("unload", "balia", "--force")
        assert f"from {name} to reno in 2 network namespaces" in " ".join(forced.split())
        for namespace in (one, other):
            with namespace.inside():
                assert read_setting(observe.CHOICE) == "reno"


@contextmanager
def inhabited() -> Iterator[Namespace]:
    """A namespace with a process in it, so that it can be found."""
    namespace = Namespace()
    with namespace.inside():
        process = subprocess.Popen(["sleep", "60"])
    try:
        yield namespace
    finally:
        process.kill()
        process.wait()
        namespace.close()


def test_a_namespace_is_found_although_one_of_its_threads_has_just_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened, ended = Namespace.at, []

    def at(path: str) -> Namespace:
        found = opened(path)
        if found.number == namespace.number and not ended:
            ended.append(path)
            found.close()
            raise ProcessLookupError
        return found

    with inhabited() as namespace:
        with namespace.inside():
            process = subprocess.Popen(["sleep", "60"])
        monkeypatch.setattr(Namespace, "at", at)
        found = [number for number, _ in observe.everywhere(lambda: None)]
        process.kill()
        process.wait()
        assert ended and found.count(namespace.number) == 1
        assert len(found) == len(set(found))


def test_where_sockets_cannot_be_read_status_says_so_and_force_still_unloads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> Any:
        raise OSError("the verifier says no")

    with controller("lia"):
        monkeypatch.setattr(_core, "KernelReader", broken)
        for look in (observe.status, lambda: unload_command("lia", False)):
            with pytest.raises(LinuxError, match="cannot be read: the verifier says no\nhelp: "):
                look()
        unload_command("lia", True)
        assert capsys.readouterr().out.startswith(
            "unloaded; the number of sockets that keep it until they close is unknown\n"
        )
        assert loaded() == []


def member(**changes: Any) -> observe.ControlledSocket:
    """A subflow as the kernel's part tells of it."""
    usual = {"begun": True, "state": observe.ESTABLISHED, "backup": False, "ca_state": 0}
    window = {"cwnd_segments": 10.5, "ssthresh_segments": float("inf"), "srtt_s": 0.1}
    told = {"growth": 0.05, "since_loss": 90, "between_losses": 50, "controller": "ab_lia"}
    ends = {"local": "10.0.0.1:1", "remote": "10.0.0.2:2"}
    return observe.ControlledSocket.from_json(usual | window | told | ends | changes)


def test_terms_are_of_the_paths_that_a_controller_couples() -> None:
    two = observe.coupling([member(), member(cwnd_segments=30.2)])
    assert [row.share for row in two] == [0.25, 0.75]
    assert [row.sets for row in two] == ["B", "MB"]
    assert two[0].alpha == pytest.approx(40 * 30 / 40**2)
    assert [row.of_reno for row in two] == pytest.approx([0.5, 1.5])
    nothing = observe.Coupling()
    for out in ({"backup": True}, {"state": 4}, {"begun": False}, {"srtt_s": 0.0}):
        away = member(cwnd_segments=99.0, **out)
        assert observe.coupling([member(), away, member(cwnd_segments=30.2)]) == [
            two[0],
            nothing,
            two[1],
        ]
        assert observe.coupling([member(), away]) == [observe.Coupling(share=1.0), nothing]


def test_a_window_in_recovery_is_the_one_that_recovery_ends_with() -> None:
    lost = {"cwnd_segments": 3.0, "ssthresh_segments": 30.0}
    for state, name in enumerate(observe.CA_STATES):
        rows = observe.coupling([member(), member(ca_state=state, **lost)])
        expected = 30 if name in ("cwr", "recovery") else 3
        assert rows[1].share == pytest.approx(expected / (expected + 10)), name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("load olia --min-ssthresh 5000000000", "1048576"),
        ("load olia --min-ssthresh 0", "--min-ssthresh"),
        ("status --watch inf", "--watch is inf; it is from 0.1 to 3600 seconds"),
        ("status --watch nan", "--watch is nan"),
        ("status --watch 0", "--watch is 0"),
        ("status --json --watch 3601", "--watch is 3601"),
    ],
)
def test_a_number_out_of_range_is_refused_with_its_range(words: str, said: str) -> None:
    result = linux(*words.split())
    assert result.returncode == 2 and said in result.stderr and "Traceback" not in result.stderr
    assert loaded() == []


def test_a_watched_status_in_json_is_a_document_on_each_line() -> None:
    words = ["status", "--json", "--watch", "0.1"]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in itertools.islice(process.stdout, 3):
            assert set(json.loads(line)) == {"controllers", "connections"}
        process.kill()


def test_a_watched_status_for_a_program_is_there_when_it_has_been_looked_at() -> None:
    words = ["status", "--format", "csv", "--watch", "3600"]
    with subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        late = threading.Timer(30, process.kill)
        late.start()
        titles = (line for line in process.stdout if line.startswith("#"))
        assert list(itertools.islice(titles, 2)) == ["# Controllers\n", "# Connections\n"]
        late.cancel()
        assert process.poll() is None, "it was there before the next look"
        process.kill()


def test_check_finds_all_that_it_needs_here_and_leaves_nothing() -> None:
    result = linux("check", "--json")
    content = json.loads(result.stdout)
    states = {fact["name"]: fact["state"] for fact in content["facts"]}
    # Where the file system for security is not mounted, the kernel does not tell this one.
    assert states.pop("lockdown") == ("yes" if LOCKDOWN.exists() else "unknown")
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
    for name in ("capabilities", "fields", "namespaces", "TUN", "network"):
        assert states[name] == "unknown", name
    for name in ("kernel", "controllers", "MPTCP", "BTF", "struct_ops", "siblings"):
        assert states[name] == "yes", name
    assert content["load"] == content["run"] == "no"
