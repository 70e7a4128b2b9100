"""What the program says to root who is without root's rights, and to others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_assign import group
from test_operator import AS_NOBODY, COMMAND

from anabranch.linux.check import locked
from anabranch.linux.rights import TO_LOAD, TO_LOOK, TO_RUN, in_user_namespace, lockdown, missing

pytestmark = pytest.mark.usefixtures("kernel", "controllers")

WITHOUT = {
    "a user namespace": ["unshare", "-Ur"],
    "no CAP_BPF": ["setpriv", "--bounding-set=-bpf,-sys_admin"],
}
SAID = {"a user namespace": "root of a user namespace", "no CAP_BPF": "without CAP_BPF"}
NO_TYPES = 'mount -t tmpfs none /sys/kernel/btf && exec "$@"'


def said(before: list[str], *words: str) -> subprocess.CompletedProcess[str]:
    """A command of `anabranch linux` behind another one that takes rights away."""
    done = subprocess.run([*before, *COMMAND, *words], capture_output=True, text=True, timeout=60)
    if "anabranch" not in done.stderr and before[0] in done.stderr:
        pytest.skip(done.stderr.strip())
    return done


@pytest.mark.parametrize("what", WITHOUT)
@pytest.mark.parametrize("words", [["load", "olia"], ["unload", "olia"], ["status"]])
def test_root_is_told_what_is_missing_and_not_to_become_root(what: str, words: list[str]) -> None:
    done = said(WITHOUT[what], *words)
    assert done.returncode == 2
    assert SAID[what] in done.stderr and "sudo" not in done.stderr


@pytest.mark.parametrize("what", WITHOUT)
def test_check_names_missing_rights_in_a_row_of_their_own(what: str) -> None:
    done = said(WITHOUT[what], "check", "--json")
    facts = {fact["name"]: fact for fact in json.loads(done.stdout)["facts"]}
    assert facts["root"]["state"] == "yes"
    assert facts["capabilities"]["state"] == "no" and SAID[what] in facts["capabilities"]["detail"]
    assert facts["fields"]["remedy"] == "see capabilities"
    assert facts["namespaces"]["state"] == "no" and "CONFIG" not in facts["namespaces"]["remedy"]
    assert facts["network"]["remedy"] == "see namespaces"


def rights(*names: str) -> list[str]:
    """Has a command run as root with these capabilities and no other."""
    kept = "".join(f",+{name.removeprefix('CAP_').lower()}" for name in names)
    return ["setpriv", "--bounding-set", f"-all{kept}", "--no-new-privs"]


def test_each_command_runs_with_exactly_the_capabilities_that_the_page_names() -> None:
    with group("rights") as path:
        place = ["--cgroup", str(path)]
        for wanted, words in (
            (TO_LOAD, ["load", "lia+sbd"]),
            (TO_LOAD, ["load", "--replace", "lia"]),
            (TO_LOAD, ["assign", "lia", *place]),
            (TO_LOOK, ["status", "--json"]),
            (TO_LOAD, ["unassign", "lia", *place]),
            (TO_LOAD, ["unload", "--force", "lia"]),
        ):
            done = said(rights(*wanted), *words)
            assert done.returncode == 0, (words, done.stderr)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["load", "lia"], TO_LOAD),
        (["assign", "lia", "--service", "none"], TO_LOAD),
        (["couple", "lia+sbd"], TO_LOAD),
        (["status"], TO_LOOK),
    ],
)
def test_the_one_capability_that_is_missing_is_named(words: list[str], wanted: list[str]) -> None:
    for name in wanted if "CAP_SYS_ADMIN" not in wanted else wanted[-1:]:
        done = said(rights(*(each for each in wanted if each != name)), *words)
        assert done.returncode == 2
        assert f"this root is without {name}; in a container: --cap-add=" in done.stderr


def test_unload_without_sight_of_other_namespaces_says_which_capability_gives_it() -> None:
    assert said(rights(*TO_LOAD), "load", "olia").returncode == 0
    try:
        done = said(rights(*TO_LOAD), "unload", "olia")
        assert done.returncode == 2
        assert "that needs CAP_SYS_ADMIN and CAP_SYS_PTRACE\nhelp: " in done.stderr
    finally:
        assert said(rights(*TO_LOAD), "unload", "--force", "olia").returncode == 0


@pytest.mark.parametrize(
    ("level", "state"), [("none", "yes"), ("integrity", "yes"), ("confidentiality", "no"), ("", "")]
)
def test_the_level_of_lockdown_has_a_row(
    level: str, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lockdown"
    monkeypatch.setattr("anabranch.linux.check.LOCKDOWN", file)
    monkeypatch.setattr("anabranch.linux.check.lockdown", lambda: lockdown(file))
    if level:
        file.write_text("none integrity confidentiality\n".replace(level, f"[{level}]"))
    fact = locked()
    assert fact.state == (state or "unknown")
    assert level in fact.detail if level else f"{file} is not there" in fact.detail
    assert bool(fact.needed_for) == bool(level), "what is not known hinders nothing"


def test_without_types_the_row_of_fields_has_the_error_and_not_its_help() -> None:
    done = said(["unshare", "-m", "sh", "-c", NO_TYPES, "sh"], "check", "--json")
    facts = {fact["name"]: fact for fact in json.loads(done.stdout)["facts"]}
    assert facts["BTF"]["state"] == facts["fields"]["state"] == "no"
    assert "kernel BTF is missing" in facts["fields"]["detail"]
    assert "help:" not in facts["fields"]["detail"]
    assert facts["idle restart"]["remedy"] == "see fields"


def test_check_does_not_say_no_for_the_kernel_to_who_is_not_root() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, "check"], capture_output=True, text=True, timeout=60
    )
    for use in ("load (controllers in the kernel)", "run (scenarios on the kernel)"):
        assert f"linux {use}: not as this user" in done.stdout
    assert done.stdout.count("sudo") == 1, "the row of root has the remedy, the others name it"


@pytest.mark.parametrize(
    ("effective", "wanted", "left"),
    [
        ("000001ffffffffff", (*TO_LOAD, *TO_RUN), []),
        ("0000000000000000", TO_LOAD, ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"]),
        ("000000c000001000", TO_LOAD, []),
        ("000000c000001000", TO_RUN, ["CAP_SYS_ADMIN"]),
        ("0000000000201000", TO_LOAD, []),
    ],
)
def test_capabilities_are_read_from_the_process(
    effective: str, wanted: tuple[str, ...], left: list[str], tmp_path: Path
) -> None:
    status = tmp_path / "status"
    status.write_text(f"CapInh:\t0000000000000000\nCapEff:\t{effective}\n")
    assert missing(wanted, status) == left


def test_the_machines_own_user_namespace_is_told_from_others(tmp_path: Path) -> None:
    uid_map = tmp_path / "uid_map"
    uid_map.write_text("         0          0 4294967295\n")
    assert not in_user_namespace(uid_map)
    uid_map.write_text("         0       1000          1\n")
    assert in_user_namespace(uid_map)
