"""The systemd unit: what it may do is enough to load a controller and to take it out, and little
more. `test_documented.py` has systemd verify it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import unavailable
from test_pins import COMMAND, OURS, Machine, clean, machine

from anabranch.linux.controllers import available

pytestmark = pytest.mark.usefixtures("kernel", "controllers", "clean")

__all__ = ["clean"]

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "packaging" / "anabranch-controller@.service"
COUPLING = ROOT / "packaging" / "anabranch-coupling@.service"
CHOICE = "/proc/sys/net/ipv4/tcp_congestion_control"

MOST_EXPOSED = "30"
"""Tenths of systemd's measure from 0 to 10. Version 252 says 1.9; later ones look at more."""


def option(name: str, unit: Path = UNIT) -> list[str]:
    """The words that a unit gives to an option."""
    lines = unit.read_text().splitlines()
    found = [line.partition("=")[2] for line in lines if line.startswith(f"{name}=")]
    return " ".join(found).split()


def confined(*more: str, unit: Path = UNIT) -> list[str]:
    """What runs a command with a unit's capabilities, with more of them, and no others."""
    rights = [*option("CapabilityBoundingSet", unit), *more]
    kept = "".join(f",+{name.removeprefix('CAP_').lower()}" for name in rights)
    return ["setpriv", "--bounding-set", f"-all{kept}", "--no-new-privs", *COMMAND]


@pytest.fixture
def there() -> Iterator[Machine]:
    """A machine whose file system for pins is mounted as systemd does."""
    if not shutil.which("setpriv"):
        unavailable("there is no setpriv")
    with machine("mount -t bpf -o mode=0700 bpf /sys/fs/bpf", alone=True) as made:
        yield made


def test_its_capabilities_are_enough_to_load_and_to_take_out(there: Machine) -> None:
    command = confined()
    assert option("CapabilityBoundingSet") == ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"]
    loaded = there.run(*command, "load", "olia")
    assert loaded.returncode == 0, loaded.stderr
    assert "ab_olia" in available()
    assert there.run("sh", "-c", f"echo ab_olia > {CHOICE}").returncode == 0
    # Whether anybody uses it cannot be known with these: so it stays unless it is forced out.
    assert there.run(*command, "unload", "olia").returncode == 2
    assert "ab_olia" in available()
    forced = there.run(*command, "unload", "--force", "olia")
    assert forced.returncode == 0, forced.stderr
    assert "from ab_olia to reno in 1 network namespace" in forced.stdout
    assert "needs CAP_SYS_ADMIN and CAP_SYS_PTRACE" in " ".join(forced.stdout.split())
    assert there.run("cat", CHOICE).stdout == "reno\n"
    assert "ab_olia" not in available()
    assert there.run("ls", OURS).returncode != 0


def test_its_reload_replaces_the_controller_and_keeps_the_default_of_the_host(
    there: Machine,
) -> None:
    command = confined()
    words = option("ExecReload")[1:]
    assert words == ["linux", "load", "--replace", "%I"]
    assert there.run(*command, "load", "olia").returncode == 0
    assert there.run("sh", "-c", f"echo ab_olia > {CHOICE}").returncode == 0
    reload = there.run(*command, "load", "--replace", "olia")
    assert reload.returncode == 0, reload.stderr
    assert "it is the default of 1 network namespace, as before" in reload.stdout
    assert "needs CAP_SYS_ADMIN and CAP_SYS_PTRACE" in " ".join(reload.stdout.split())
    assert there.run("cat", CHOICE).stdout == "ab_olia\n"
    assert there.run(*command, "unload", "--force", "olia").returncode == 0


def test_the_capabilities_of_the_unit_that_couples_are_enough_for_that(there: Machine) -> None:
    assert there.linux("load", "lia+sbd")[0] == 0
    process = there.begin(*confined(unit=COUPLING), "couple", "lia+sbd")
    assert process.stdout is not None
    assert "ab_lia" in process.stdout.readline()
    time.sleep(0.6)  # two passes
    assert process.poll() is None, process.communicate()
    assert there.linux("unload", "lia+sbd")[0] == 0
    assert process.wait(20) == 0, process.communicate()


def test_with_two_more_it_sees_whether_a_controller_is_in_use_anywhere(there: Machine) -> None:
    command = confined("CAP_SYS_ADMIN", "CAP_SYS_PTRACE")
    assert there.run(*command, "load", "olia").returncode == 0
    assert there.run("sh", "-c", f"echo ab_olia > {CHOICE}").returncode == 0
    refused = there.run(*command, "unload", "olia")
    assert "the default of new connections in 1 network namespace\n" in refused.stderr
    forced = there.run(*command, "unload", "--force", "olia")
    assert "from ab_olia to reno in 1 network namespace" in forced.stdout
    assert "CAP_" not in forced.stdout and "unknown" not in forced.stdout


@pytest.mark.parametrize("unit", [UNIT, COUPLING], ids=["controller", "coupling"])
def test_what_it_may_do_is_little_by_systemds_own_measure(unit: Path) -> None:
    if not shutil.which("systemd-analyze"):
        unavailable("there is no systemd-analyze")
    words = ["systemd-analyze", "security", "--offline=yes", f"--threshold={MOST_EXPOSED}"]
    done = subprocess.run([*words, unit], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
