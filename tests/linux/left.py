"""What a test must not leave behind: kernel warnings, BPF objects, controllers, namespaces,
processes.

Other programs on the machine may load controllers and make namespaces meanwhile: what a living
process holds is its own, and counts only once nobody holds it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import struct
import subprocess
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from anabranch.linux.controllers import available

KINDS = {"prog_id": 11, "map_id": 12, "link_id": 31}
"""Word for an object in /proc/PID/fdinfo, and the command of bpf(2) that finds the next one."""
BPF = 321 if platform.machine() == "x86_64" else 280
"""Number of bpf(2)."""
_libc = ctypes.CDLL(None, use_errno=True)

TROUBLE = re.compile(
    r"WARNING:|BUG:|Oops|general protection|Call Trace|refcount|use-after-free|\bstall|hung task"
    r"|unregister_netdevice: waiting|scheduling while atomic|\bleak",
)
WARNING = 4
"""Lines of the kernel's log of this level or a graver one count if they are about the network or
BPF.
"""
OURS = re.compile(r"tcp|bpf|netns|socket|veth|tun", re.IGNORECASE)
PRIVATE = re.compile(r"ab(\d+)_")
MARK = "ANABRANCH_TEST"
"""In the environment of every process that a test starts."""


class KernelLog:
    """The kernel's log from now on."""

    def __init__(self) -> None:
        """Raises OSError where it cannot be read."""
        self._fd = -1
        self._fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.lseek(self._fd, 0, os.SEEK_END)

    def new(self) -> list[tuple[int, str]]:
        """Level and text of what came since the last call."""
        found: list[tuple[int, str]] = []
        while True:
            try:
                record = os.read(self._fd, 8192).decode(errors="replace")
            except BlockingIOError:
                return found
            except BrokenPipeError:  # some were overwritten before they were read
                found.append((WARNING, "bpf: lines of the log were lost"))
                continue
            head, _, text = record.partition(";")
            found.append((int(head.split(",")[0]) & 7, text.splitlines()[0]))
        return found

    def __del__(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)


def alarming(lines: list[tuple[int, str]]) -> tuple[list[str], list[str]]:
    """Lines that tell of trouble, a report of the kernel as one; and the reports that are excused."""
    found, excused, block = [], [], None
    for level, text in lines:
        if "[ cut here ]" in text:
            block = []
        elif block is not None and "[ end trace" in text:
            (excused if unanswered(block) else found).append(" / ".join(block))
            block = None
        elif block is not None:
            block.append(text.strip())
        elif TROUBLE.search(text) or (level <= WARNING and OURS.search(text)):
            found.append(text)
    return found + ([" / ".join(block)] if block else []), excused


def unanswered(report: list[str]) -> bool:
    """Whether the kernel complains of a window that no controller has answered.

    On some machines no BPF program runs while a processor's task is of the init process
    (docs/explanation/linux.md): an undo then gives the kernel what lay in a register, and a
    negative window is worth a warning to it. The next callback puts it right, but none can prevent
    it.
    """
    if not report or "tcp_undo_cwnd_reduction" not in report[0]:
        return False
    tasks = re.findall(r"\bPID: (\d+) Comm:", " ".join(report))
    return any(Path("/proc/1/task", task).exists() for task in tasks)


def warn_again() -> bool:
    """Has the kernel say what it says once per boot once more; whether that could be done."""
    debugging = Path("/sys/kernel/debug")
    mounted = os.path.ismount(debugging)
    if not mounted:
        subprocess.run(["mount", "-t", "debugfs", "none", debugging], capture_output=True)
    try:
        (debugging / "clear_warn_once").write_text("1")
    except OSError:
        return False
    finally:
        if not mounted:
            subprocess.run(["umount", debugging], capture_output=True)
    return True


def listed() -> set[tuple[str, int]]:
    """Programs, maps and links in the kernel. Raises OSError without the right to see them."""
    found = set()
    for kind, command in KINDS.items():
        # Of union bpf_attr: start_id, next_id, open_flags.
        attributes = ctypes.create_string_buffer(12)
        while _libc.syscall(BPF, command, attributes, len(attributes)) == 0:
            attributes[:4] = attributes[4:8]
            found.add((kind, struct.unpack_from("I", attributes)[0]))
        if ctypes.get_errno() != errno.ENOENT:
            raise OSError(ctypes.get_errno(), f"bpf(2) for the next {kind}")
    return found


def held() -> set[tuple[str, int]]:
    """Programs, maps and links that other processes hold."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/fdinfo/*"):
        if file.parts[2] == str(os.getpid()):
            continue
        with suppress(OSError):
            for line in file.read_text().splitlines():
                word, _, value = line.partition(":\t")
                if word in KINDS:
                    found.add((word, int(value)))
    return found


def unheld() -> set[tuple[str, int]]:
    """Programs, maps and links that no other process holds."""
    return listed() - held()


def controls() -> set[str]:
    """Congestion controls that do not belong to another living process."""
    return {name for name in available() if not foreign(name)}


def foreign(name: str) -> bool:
    """Whether a controller belongs to another living process."""
    owner = PRIVATE.match(name)
    return bool(owner) and owner[1] != str(os.getpid()) and Path("/proc", owner[1]).exists()


def marked() -> list[int]:
    """Living processes that a test of this process started."""
    mark = f"{MARK}={os.getpid()}".encode()
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in file.read_bytes().split(b"\0") and int(file.parts[2]) != os.getpid():
                found.append(int(file.parts[2]))
    return found


def environment() -> dict[str, str]:
    """For processes that a test starts."""
    return os.environ | {MARK: str(os.getpid())}


def inhabited(number: int) -> bool:
    """Whether a process is in the network namespace of this number, or has it open."""
    for pattern in ("[0-9]*/task/*/ns/net", "[0-9]*/fd/*"):
        for file in Path("/proc").glob(pattern):
            with suppress(OSError):
                if os.readlink(file) == f"net:[{number}]":
                    return True
    return False


def eventually(holds: Callable[[], bool], within_s: float = 10.0) -> bool:
    """Whether something comes to hold: the kernel frees much of what is closed a little later."""
    limit = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


class Scene:
    """The machine as it is now; `wrong` says what is not as it was."""

    def __init__(self) -> None:
        try:
            self.log, self._unheld = KernelLog(), unheld()
        except OSError as error:
            from needs import unavailable  # needs pytest, which a guest of tests/kernels has not

            unavailable(f"what is left behind cannot be seen: {error}")
        self._controls = controls()
        self.excused: list[str] = []
        """Reports of the kernel that count for nothing: `unanswered` says why."""

    def wrong(self) -> list[str]:
        """Sentences; none when nothing was left behind."""
        found = []
        if not eventually(lambda: not marked()):
            found.append(f"processes are left: {marked()}")
        if not eventually(lambda: controls() == self._controls):
            found.append(f"congestion controls were {self._controls}, are {controls()}")
        if not eventually(lambda: not unheld() - self._unheld):
            found.append(f"BPF objects are left: {sorted(unheld() - self._unheld)}")
        said, excused = alarming(self.log.new())
        self.excused += excused
        for report in excused:
            warnings.warn(f"excused, for this machine runs no BPF there: {report}", stacklevel=2)
        return found + [f"the kernel says: {text}" for text in said]
