"""Where controllers are pinned, no other user takes one out, hides it, or leads root elsewhere.

In a mount namespace of its own bpffs is mounted as the kernel does by default: any user may make
directories in it. nobody goes first; then root loads, looks and unloads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import left
import pytest
from needs import unavailable

from anabranch import _core
from anabranch.linux.controllers import available
from anabranch.linux.pinned import load_for_good, unload_for_good

pytestmark = pytest.mark.usefixtures("kernel", "controllers", "clean")

COMMAND = [sys.executable, "-c", "from anabranch.cli import main; main()", "linux"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
OURS = "/sys/fs/bpf/anabranch"
REPEATS = 60
"""Times that a controller is loaded and taken out at once."""


@pytest.fixture(scope="module")
def clean() -> Iterator[None]:
    """Asks for a machine without an operator's controllers; nothing may be left on it."""
    if there := _core.kernel_loaded():
        unavailable(f"an operator has loaded {', '.join(there)}")
    scene = left.Scene()
    yield
    assert scene.wrong() == []


class Machine:
    """A mount namespace that stands for a machine."""

    def __init__(self, setup: str, alone: bool) -> None:
        """`setup` is a line of a shell that mounts what is to be mounted. With `alone` it has a
        network namespace of its own.
        """
        spaces = ["--mount", "--net"] if alone else ["--mount"]
        script = f"umount /sys/fs/bpf 2>/dev/null; {setup} && echo ready && exec sleep 600"
        self._holder = subprocess.Popen(
            ["unshare", *spaces, "--propagation", "private", "sh", "-c", script],
            stdout=subprocess.PIPE,
            text=True,
            env=left.environment(),
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n", setup
        self._inside = ["nsenter", "--target", str(self._holder.pid), *spaces]

    def run(self, *words: str, as_nobody: bool = False) -> subprocess.CompletedProcess[str]:
        """Runs a command there."""
        words = (*self._inside, *(NOBODY if as_nobody else ()), *words)
        return subprocess.run(
            words, capture_output=True, text=True, timeout=60, env=left.environment()
        )

    def begin(self, *words: str) -> subprocess.Popen[str]:
        """Begins a command there, with both its streams in one."""
        return subprocess.Popen(
            (*self._inside, *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=left.environment(),
        )

    def nobody(self, line: str) -> None:
        """Does as nobody what a line of a shell says, and must succeed."""
        done = self.run("sh", "-ec", line, as_nobody=True)
        assert done.returncode == 0, (line, done.stderr)

    def linux(self, *words: str) -> tuple[int, str]:
        """What an operator's command says: its status and both its streams."""
        done = self.run(*COMMAND, *words)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    def status(self) -> list[str]:
        """The controllers that are loaded, by `linux status`."""
        code, said = self.linux("status", "--json")
        assert code == 0, said
        return [row["name"] for row in json.loads(said)["controllers"]]

    def close(self) -> None:
        self._holder.kill()
        self._holder.communicate()


@contextmanager
def machine(
    setup: str = "mount -t bpf bpf /sys/fs/bpf", *, alone: bool = False
) -> Iterator[Machine]:
    """A machine whose bpffs has the kernel's default mode; nothing is loaded in the end."""
    made = Machine(setup, alone)
    try:
        yield made
    finally:
        made.close()
        assert left.eventually(lambda: not _core.kernel_loaded())


TRICKS = {
    "the directory of a controller": f"mkdir -p {OURS}/ab_olia/keep",
    "the directory above, to rename what is in it": f"mkdir {OURS}",
    "a directory in the place of a link": f"mkdir -p {OURS}/ab_olia/link",
    "a symbolic link to elsewhere": f"ln -s ELSEWHERE {OURS}",
    "a symbolic link to a directory of root's own": f"ln -s /sys/fs/bpf/roots {OURS}",
    "a directory that is open to all, with root's directory in it": f"umask 0; mkdir {OURS}",
}
"""What nobody may have done before root loads a controller."""


@pytest.mark.parametrize("trick", TRICKS.values(), ids=TRICKS)
def test_what_another_user_has_prepared_is_refused_and_named(trick: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with machine() as there:
        assert there.run("mkdir", "-m", "0700", "/sys/fs/bpf/roots").returncode == 0
        there.nobody(trick.replace("ELSEWHERE", str(tmp_path / "elsewhere")))
        if "umask" in trick:
            assert there.run("mkdir", f"{OURS}/ab_olia").returncode == 0
        code, said = there.linux("load", "olia")
        assert code == 2, said
        assert f"{OURS} " in said and "user 65534" in said
        assert "ab_olia" not in available() and there.status() == []
        assert "ab_olia is not loaded" in there.linux("unload", "olia")[1]
        assert list((tmp_path / "elsewhere").iterdir()) == []
        assert there.run("ls", "/sys/fs/bpf/roots").stdout == ""
        # What the message says mends it.
        (remedy,) = [line for line in said.splitlines() if line.startswith("help: sudo ")]
        assert there.run(*remedy.removeprefix("help: sudo ").split()).returncode == 0
        assert there.linux("load", "olia")[0] == 0
        assert there.status() == ["ab_olia"]
        assert there.linux("unload", "olia") == (0, "unloaded\n")


WITHOUT_LISTS = ["setpriv", "--bounding-set=-sys_admin"]
"""Takes away what it takes to list the links of the kernel."""


def test_where_links_cannot_be_listed_a_directory_of_another_user_is_named() -> None:
    with machine() as there:
        absent = there.run(*WITHOUT_LISTS, *COMMAND, "unload", "olia")
        assert absent.returncode == 2 and "ab_olia is not loaded; no controller is" in absent.stderr
        there.nobody(f"mkdir {OURS}")
        for words in (["unload", "olia"], ["load", "olia"]):
            done = there.run(*WITHOUT_LISTS, *COMMAND, *words)
            assert done.returncode == 2, (words, done.stderr)
            assert f"{OURS} belongs to user 65534" in done.stderr, (words, done.stderr)
            assert "Traceback" not in done.stderr and "no controller is" not in done.stderr
        assert there.status() == [], "who may list links knows without the directory"


SABOTAGE = (
    f"rm -f {OURS}/ab_olia/link",
    f"rm -rf {OURS}",
    f"mv {OURS}/ab_olia {OURS}/hidden",
    f"mv {OURS} /sys/fs/bpf/hidden",
    f"mkdir {OURS}/ab_lia",
    f"ls {OURS}",
)
"""What nobody may try while a controller is loaded."""


@pytest.mark.parametrize("umask", ["0", "077"])
def test_a_loaded_controller_is_out_of_other_users_reach(umask: str) -> None:
    with machine() as there:
        line = f'umask {umask}; exec "$@"'
        assert there.run("sh", "-c", line, "sh", *COMMAND, "load", "olia").returncode == 0
        modes = there.run("find", OURS, "-printf", "%y %m %u\n").stdout.splitlines()
        assert modes == ["d 700 root", "d 700 root", "f 600 root"]
        for attempt in SABOTAGE:
            assert there.run("sh", "-c", attempt, as_nobody=True).returncode != 0, attempt
        assert "ab_olia" in available() and there.status() == ["ab_olia"]
        assert there.linux("unload", "olia") == (0, "unloaded\n")
        assert there.run("ls", "/sys/fs/bpf").stdout.split() == ["maps.debug", "progs.debug"]


def test_a_file_system_that_load_mounts_itself_is_roots_alone() -> None:
    with machine("true") as there:
        assert there.linux("load", "olia")[0] == 0
        # The kernel sets the sticky bit whatever the mode.
        assert there.run("stat", "-c", "%a %U", "/sys/fs/bpf").stdout == "1700 root\n"
        assert there.run("mkdir", OURS, as_nobody=True).returncode != 0
        assert there.linux("unload", "olia")[0] == 0


def test_a_file_system_that_another_command_is_mounting_is_not_mounted_twice() -> None:
    # A second mount hides the pins below it: one of two controllers that are loaded at once on a
    # fresh machine was lost so.
    mounts = "echo held; sleep 1; mount -t bpf -o mode=0700 bpf /sys/fs/bpf"
    with machine("true") as there:
        other = there.begin("flock", "/sys/fs/bpf", "sh", "-c", mounts)
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        assert there.linux("load", "olia")[0] == 0
        assert other.wait(timeout=30) == 0
        points = there.run("cat", "/proc/self/mounts").stdout.splitlines()
        assert sum(" /sys/fs/bpf " in point for point in points) == 1, points
        assert there.status() == ["ab_olia"]
        assert there.linux("unload", "olia")[0] == 0


@pytest.mark.parametrize("change", ["chmod 0777", "chown 65534"])
def test_a_file_system_that_others_own_is_refused_until_it_is_roots(change: str) -> None:
    with machine(f"mount -t bpf bpf /sys/fs/bpf && {change} /sys/fs/bpf") as there:
        code, said = there.linux("load", "olia")
        assert code == 2 and "error: ab_olia could not be kept: /sys/fs/bpf " in said
        (remedy,) = [line for line in said.splitlines() if line.startswith("help: sudo ")]
        assert there.run(*remedy.removeprefix("help: sudo ").split()).returncode == 0
        assert there.linux("load", "olia")[0] == 0
        assert there.linux("unload", "olia")[0] == 0


RACE = f"""
elsewhere=$1
while :; do
    mkdir -p {OURS}/ab_olia; rm -rf {OURS}
    ln -s "$elsewhere" {OURS}; rm -f {OURS}
    ln -s /sys/fs/bpf/roots {OURS}; rm -f {OURS}
done
"""


def test_another_user_who_keeps_exchanging_the_directory_leads_root_nowhere(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o777)
    with machine() as there:
        assert there.run("mkdir", "-m", "0700", "/sys/fs/bpf/roots").returncode == 0
        racer = subprocess.Popen(
            [*there._inside, *NOBODY, "sh", "-c", RACE, "sh", str(tmp_path)],
            stderr=subprocess.DEVNULL,
            env=left.environment(),
            start_new_session=True,
        )
        try:
            ends = []
            for _ in range(6):
                ends.append(there.linux("load", "olia"))
                if ends[-1][0] == 0:
                    assert there.run("stat", "-c", "%a %U", OURS).stdout == "700 root\n"
                    assert there.linux("unload", "olia") == (0, "unloaded\n")
        finally:
            os.killpg(racer.pid, 9)
            racer.wait()
        assert all(code == 0 or "could not be kept" in said for code, said in ends)
        assert list(tmp_path.iterdir()) == []
        assert there.run("ls", "/sys/fs/bpf/roots").stdout == ""


def test_what_is_loaded_is_known_where_its_pin_is_not() -> None:
    with machine() as one, machine() as other:
        assert one.linux("load", "olia")[0] == 0
        assert other.status() == ["ab_olia"]
        assert "ab_olia is loaded already" in other.linux("load", "olia")[1]
        code, said = other.linux("unload", "olia")
        assert code == 2 and f"help: sudo bpftool link detach id {linked()}" in said
        assert "ab_olia" in available()
        assert one.linux("unload", "olia")[0] == 0


def linked() -> int:
    """The number of the BPF link of OLIA."""
    return _core.kernel_loaded()["olia"]


def test_a_directory_that_root_put_beside_the_pin_is_told_of() -> None:
    with machine() as there:
        assert there.run("mkdir", "-m", "0700", "-p", f"{OURS}/ab_olia/keep").returncode == 0
        there.run("chmod", "0700", OURS, f"{OURS}/ab_olia")
        code, said = there.linux("load", "olia")
        assert code == 2 and f"{OURS}/ab_olia/keep: " in said
        assert "ab_olia" not in available()


def test_a_controller_is_gone_when_unload_returns() -> None:
    for _ in range(REPEATS):
        load_for_good("olia")
        assert unload_for_good("olia") == 0
        assert "ab_olia" not in available()
