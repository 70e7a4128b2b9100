"""The program for routers says and does what `anabranch linux` does: the same names, refusals,
pins and status.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import unavailable
from test_assign import group
from test_operator import COMMAND, clean, connection, passes
from typer.testing import CliRunner

import anabranch as ab
from anabranch import _core
from anabranch.cli.application import app
from anabranch.linux.controllers import available

__all__ = ["clean"]

ROOT = Path(__file__).resolve().parents[2]
BUILT = ("target/*/router/anabranch-linux", "target/debug/anabranch-linux")

ROWS = "root", "capabilities", "MPTCP", "BTF", "struct_ops", "siblings", "lockdown"
"""Of `check`; the program has no rows for `linux run`."""

TWO_PATHS = """
name = "two-paths"
duration = "10 s"
link = [
  { name = "shared", rate = "10 Mb/s", queue = { droptail = { packets = "50 packets" } } },
  { name = "near", delay = "10 ms" },
  { name = "far", delay = "20 ms" },
]
[[flow]]
name = "mp"
controller = "lia"
path = [{ links = ["near", "shared"] }, { links = ["far", "shared"] }]
"""


@pytest.fixture(scope="module")
def program() -> Path:
    """The program, if it was built."""
    there = [file for pattern in BUILT for file in ROOT.glob(pattern)]
    if not there:
        unavailable("anabranch-linux is not built: `cargo build --package loader`")
    return max(there, key=lambda file: file.stat().st_mtime)


def run(program: Path, *words: str) -> tuple[int, str, str]:
    """Status and streams of the program."""
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def python(*words: str) -> tuple[int, str, str]:
    """The same of the package's command, in the words of the program."""
    done = CliRunner().invoke(app, list(words), env={"COLUMNS": "300"})
    if done.exception is None or isinstance(done.exception, SystemExit):
        return done.exit_code, done.stdout, done.stderr
    said = f"error: {done.exception}\n".replace("anabranch linux", "anabranch-linux")
    return 2, done.stdout, said.replace(", and laws that are written as text", "")


def status(program: Path) -> Any:
    """The status in JSON, which both must say alike."""
    own = json.loads(run(program, "status", "--json")[1])
    assert own == json.loads(python("linux", "status", "--json")[1])
    return own


@pytest.mark.usefixtures("kernel", "clean")
def test_it_refuses_what_the_package_refuses_in_the_same_words(program: Path) -> None:
    assert run(program, "load", "lia")[0] == 0
    try:
        for words in (
            "load oliva",
            "load olia+hystart",
            "load lia+sbd:rfc8382",
            "load lia",
            "unload olia",
            "unload ab_olia",
            "unload law_mine",
            "couple olia",
            "couple lia",
            "status --watch nan",
            "assign olia --cgroup /tmp",
            "assign lia --cgroup /tmp",
            "assign lia --service none",
            "unassign lia --service none",
        ):
            own, other = run(program, *words.split()), python("linux", *words.split())
            assert own[0] == 2 and own[0::2] == other[0::2], words
    finally:
        assert python("linux", "unload", "lia")[0] == 0


@pytest.mark.usefixtures("kernel", "clean")
def test_what_it_loads_is_seen_alike_and_leaves_nothing(program: Path) -> None:
    code, said, _ = run(program, "load", "olia")
    assert code == 0 and said.startswith("loaded as ab_olia; select it with sysctl -w net.ipv4.")
    with connection("ab_olia") as ends:
        assert passes(*ends)
        (one,) = status(program)["connections"]
        assert one["controller"] == "ab_olia" and one["protocol"] == "MPTCP"
        assert one["subflows"][0]["delivered"] > 0
        refused = run(program, "unload", "olia")
        assert refused[0] == 2 and refused == python("linux", "unload", "olia")
        code, said, _ = run(program, "unload", "--force", "olia")
        assert code == 0 and "keep" in said and "listening socket may pass it on" in said
        assert "ab_olia" not in available()
    assert status(program)["controllers"] == []
    assert not Path("/sys/fs/bpf/anabranch").exists() and _core.kernel_loaded() == {}


@pytest.mark.usefixtures("kernel", "clean")
def test_it_replaces_assigns_and_couples_on_as_the_package_does(program: Path) -> None:
    with group("router") as path:
        place = ["--cgroup", str(path)]
        assert run(program, "load", "--replace", "lia+sbd")[1].startswith("loaded as ab_lia")
        with subprocess.Popen(
            [program, "couple", "lia+sbd"], stdout=subprocess.DEVNULL
        ) as coupling:
            try:
                with connection("ab_lia") as ends:
                    assert passes(*ends)
                    said = "replaced ab_lia; 1 socket keeps the earlier one until it closes\n"
                    assert run(program, "load", "--replace", "lia+sbd") == (0, said, "")
                    time.sleep(0.6)  # two passes
                    assert coupling.poll() is None and passes(*ends)
                    assert run(program, "assign", "lia", *place)[0] == 0
                    (one,) = status(program)["controllers"]
                    assert one["cgroups"] == [str(path)] and one["earlier"] == 1
                    ended = f"{path} is no longer assigned ab_lia\n"
                    assert run(program, "unassign", "lia", *place) == (0, ended, "")
                assert run(program, "unload", "lia")[0] == 0
                assert coupling.wait(10) == 0
            finally:
                coupling.kill()


LOCKED_DOWN = """
mount -t tmpfs none /sys/kernel/security
echo "none integrity [confidentiality]" > /sys/kernel/security/lockdown
exec "$@"
"""


@pytest.mark.usefixtures("kernel", "clean")
def test_it_has_the_packages_rows_for_rights_and_lockdown(program: Path) -> None:
    before = ["unshare", "-m", "sh", "-ec", LOCKED_DOWN, "sh"]
    rows = []
    for words in ([str(program)], [*COMMAND]):
        done = subprocess.run(
            [*before, *words, "check", "--json"], capture_output=True, text=True, timeout=60
        )
        facts = {fact["name"]: fact for fact in json.loads(done.stdout)["facts"]}
        rows.append([(facts[key]["state"], facts[key]["detail"]) for key in ROWS])
        assert done.returncode == 1
    assert rows[0] == rows[1] and rows[0][-1][0] == "no"


def test_a_capture_is_judged_as_the_package_judges_it(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "two.pcapng"
    ab.run(ab.Scenario.parse(TWO_PATHS), recording=ab.Recording(pcap=file))
    code, said, wrong = run(program, "shared", str(file), "--json", "-")
    own, other = json.loads(said), json.loads(python("shared", str(file), "--json", "-")[1])
    sure = [np.array(one.pop("confidence")) for one in (own, other)]
    assert code == 0 and np.allclose(*sure), wrong
    assert own == other and len(own["groups"]) == 1
    missing = run(program, "shared", str(tmp_path / "none"))
    assert missing[0] == 2 and missing[2].startswith(f"error: {tmp_path / 'none'} cannot be read")
