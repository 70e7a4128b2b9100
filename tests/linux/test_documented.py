"""What the pages show for root runs: page by page, in order, as a reader types it.

The blocks are those that are marked with this file (tests/docs/pages.py). Namespaces of their own,
of the network and of mounts, stand for the machine: what is chosen, routed and written to /run and
to systemd's units is chosen and written there. Controllers are the kernel's own; they are kept in a
bpffs of these namespaces, and go with it however a test ends.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import left
import pytest
from needs import unavailable

from anabranch.linux.controllers import WRITTEN, available, names

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "docs"))

import pages  # noqa: E402
from pages import EXAMPLES, PAGES, Block  # noqa: E402

pytestmark = pytest.mark.usefixtures("kernel", "controllers")

MARKED = {
    page: found
    for page in PAGES
    if (
        found := [
            block for block in pages.blocks(page, *EXAMPLES) if block.elsewhere == pages.LINUX
        ]
    )
}

MACHINE = """
set -e
mount --no-mtab -t tmpfs none /run
mount --no-mtab -t bpf none /sys/fs/bpf
if [ -d /etc/systemd/system ]; then mount --no-mtab -t tmpfs none /etc/systemd/system; fi
ip link set lo up
ip tuntap add dev line mode tun
ip address add 198.51.100.2/24 dev line
ip link set line up
echo ready
exec sleep 600
"""
"""What is the reader's machine: 198.51.100.1 of a page is a neighbour. With a table of its own,
mount would leave /run/mount on the host."""

TRAFFIC = """
import socket, threading
server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
server.bind(("127.0.0.1", 0))
server.listen(1)
sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
sender.connect(server.getsockname())
receiver, _ = server.accept()
def read():
    while receiver.recv(1 << 16):
        pass
threading.Thread(target=read, daemon=True).start()
while True:
    sender.sendall(bytes(1 << 14))
"""
"""An MPTCP connection under the congestion control that new connections get."""

PROGRAMS = ("ip", "sysctl", "unshare", "nsenter", "mount", "systemd-analyze")

SAYS = {
    "linux check": "linux run (scenarios on the kernel): yes",
    "linux load": "loaded as ",
    "linux couple": "deciding which subflows",
    "linux unload": "unloaded",
    "linux status": "_",  # the name of a controller: ab_olia, law_gentle
    "linux run": "1 replication, 2 s measured after 2 s",
    "compare": "linux Mb/s",
    "reproduce": "interrupted: 0 of ",
    "capture": "subflow",
}
"""What a command of the program prints."""

STATUS = {"compare": (0, 1), "reproduce": (130,), "linux couple": (130,)}
"""How a command ends, where it is not 0: so short, the worlds may differ; and what is interrupted
says so.
"""

OTHER_FORMS = {"--shared", "--metrics"}
"""Options of `linux status` with which it has no tables of controllers."""

OF_ITSELF = {"check"}
"""Words of what asks about the machine itself: it changes nothing, and some settings of the kernel
are seen in the host's network namespace alone."""

MOMENT_S = 1.5
"""How long what is interrupted goes on after its first output, for which it is given as long."""

TOO_BUSY = "no replication was valid"
"""What a machine says whose processors have something else to do."""


class Machine:
    """Namespaces that stand for the reader's machine, and his directory."""

    def __init__(self, folder: Path, alone: bool) -> None:
        """With `alone` every command has a network namespace of its own."""
        self.folder, self.alone = folder, alone
        for name in (".venv", "packaging", "measurements"):
            (folder / name).symlink_to(ROOT / name)
        self.environment = left.environment() | {"PYTHONUNBUFFERED": "1", "PWD": str(folder)}
        self.environment["PATH"] = f"{folder}/.venv/bin:{os.environ['PATH']}"
        self._holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", MACHINE],
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n", "the namespaces could not be made"

    def words(self, line: str) -> list[str]:
        """What runs a line of a shell there."""
        inside = ["nsenter", "--target", str(self._holder.pid), "--mount"]
        if not OF_ITSELF & set(line.split()):
            inside.append("--net")
            if self.alone:
                inside, line = [*inside, "unshare", "--net"], f"ip link set lo up && {line}"
        line = f"cd '{self.folder}' && {line}"
        return [*inside, "bash", "-o", "pipefail", "-c", line]

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
            start_new_session=True,
        )

    def done(self, line: str) -> tuple[int, str]:
        """Runs a line to its end: its status and what it printed."""
        process = self.start(*self.words(line))
        try:
            said, _ = process.communicate(timeout=120)
        finally:
            end(process, signal.SIGKILL)
        return process.returncode, said

    def begun(self, line: str) -> tuple[int, str]:
        """Runs a line for a moment, with a connection beside it, and ends it by Ctrl-C."""
        process = self.start(*self.words(line))
        said: list[str] = []
        heard = threading.Event()

        def listen() -> None:
            for text in process.stdout or ():
                said.append(text)
                heard.set()

        reader = threading.Thread(target=listen)
        reader.start()
        try:
            heard.wait(MOMENT_S)  # a table that is redrawn is only printed at the end
            with self.traffic():
                time.sleep(MOMENT_S)
                assert process.poll() is None, (line, said)
                end(process, signal.SIGINT)
                process.wait(timeout=30)
        finally:
            end(process, signal.SIGKILL)
            reader.join(timeout=10)
        return process.returncode, "".join(said)

    @contextmanager
    def traffic(self) -> Iterator[None]:
        """A connection whose two ends are there."""
        (self.folder / "traffic.py").write_text(TRAFFIC)
        process = self.start(*self.words(f"exec '{sys.executable}' traffic.py"))
        try:
            yield
            assert process.poll() is None, process.communicate()
        finally:
            end(process, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        self._holder.kill()
        self._holder.communicate()


def end(process: subprocess.Popen[str], by: signal.Signals) -> None:
    """A signal for a process and what it started."""
    if process.poll() is None:
        os.killpg(process.pid, by)


@contextmanager
def network_namespace(machine: Machine, block: Block) -> Iterator[None]:
    """The namespace that a page calls NAME, as long as its block lasts."""
    if not re.search(r"\bNAME\b", block.text):
        yield
        return
    assert machine.done("ip netns add NAME") == (0, "")
    yield
    assert machine.done("ip netns delete NAME") == (0, "")


def typed(machine: Machine, line: str, place: str) -> None:
    """Runs a line of a page in its form for here, and looks at what it says."""
    form = pages.on_linux(line)
    if "tcpdump" in line and not shutil.which("tcpdump"):
        # Wireshark's program for the same takes the same words.
        form = form.replace("tcpdump", "dumpcap")
    short = pages.for_a_moment(line)
    chosen = machine.done("cat /proc/sys/net/ipv4/tcp_congestion_control")[1]
    status, said = (machine.begun if short else machine.done)(form)
    what = f"{place}: {form}\nended with {status}:\n{said}"
    words = pages.of_the_program(form.split()) or []
    command = next((c for c in (" ".join(words[:2]), *words[:1]) if c in SAYS), "")
    if command == "compare" and TOO_BUSY in said:
        warnings.warn(f"{place}: this machine is too busy to measure", stacklevel=2)
        return
    assert "Traceback" not in said, what
    if command == "linux status" and OTHER_FORMS & set(words):
        said_otherwise(words, status, said, what)
        return
    assert status in STATUS.get(command, (130,) if "--watch" in words else (0,)), what
    if "--json" in words and command == "linux status":
        assert set(json.loads(said)) == {"controllers", "connections"}, what
    elif command == "linux status" and not loaded():
        assert "no controller is loaded for good" in said, what
    else:
        expected = "replaced " if "--replace" in words else SAYS.get(command, "")
        assert expected in said, what
    if "--watch" in words and chosen.startswith("ab_"):
        assert "1 subflow" in said and "127.0.0.1" in said, what


def said_otherwise(words: list[str], status: int, said: str, what: str) -> None:
    """Looks at what `linux status` says of bottlenecks or in metrics."""
    if "--shared" in words:  # nothing is known of connections that have one subflow or none
        assert status == 1, what
        assert "no connection of MPTCP" in said or "not known" in said, what
    else:
        assert status == 0 and (said == "" or said.endswith("# EOF\n")), what


def loaded() -> set[str]:
    """Controllers of ours in the kernel."""
    there = available()
    return set(names().values()) & set(there) | {own for own in there if own.startswith(WRITTEN)}


def of_the_host() -> dict[str, str]:
    """What the pages change, as it is on the machine itself."""
    looks = {
        "settings": ["sysctl", "--all", "--pattern", r"^net\.(ipv4\.tcp|mptcp)"],
        "routes": ["ip", "route", "show", "table", "all"],
        "devices": ["ip", "-brief", "link"],
        "mounts": ["cat", "/proc/mounts"],
        "units": ["ls", "-lR", "/etc/systemd/system"],
        "names": ["ls", "/run"],
        "pins": ["ls", "-R", "/sys/fs/bpf"],
    }
    return {
        what: subprocess.run(words, capture_output=True, text=True).stdout
        for what, words in looks.items()
    }


@pytest.fixture
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    """The reader's machine for a page; this one is afterwards as it was."""
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        unavailable(f"there is no {', '.join(missing)}")
    if not shutil.which("tcpdump") and not shutil.which("dumpcap"):
        unavailable("there is neither tcpdump nor dumpcap")
    if loaded():
        unavailable(f"an operator has loaded {', '.join(sorted(loaded()))}")
    scene, before = left.Scene(), of_the_host()
    # The commands of a reference page are shown each for itself.
    machine = Machine(tmp_path, alone="reference" in request.getfixturevalue("page").parts)
    try:
        yield machine
    finally:
        machine.close()
    assert of_the_host() == before
    assert scene.wrong() == []


@pytest.mark.parametrize("page", MARKED, ids=pages.name)
def test_what_a_page_shows_for_root_runs_and_leaves_nothing(page: Path, machine: Machine) -> None:
    for block in pages.blocks(page, "law"):
        name = block.text.split()[1].rstrip(":")
        (machine.folder / f"{name}.law").write_text(block.text, encoding="utf-8")
    for block in MARKED[page]:
        with network_namespace(machine, block):
            for line in block.lines:
                typed(machine, line, block.place)
    assert loaded() == set(), "the page does not take out what it loads"
