"""What the program says to root who is without root's rights, and to others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_operator import AS_NOBODY, COMMAND

from anabranch.linux.rights import TO_LOAD, TO_RUN, in_user_namespace, missing

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
