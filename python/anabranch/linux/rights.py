"""Capabilities of this process: root may lack some, as in a container."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from .errors import LinuxError

CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21, "CAP_PERFMON": 38, "CAP_BPF": 39}
"""Capabilities that are checked here, with their numbers (capabilities(7))."""

TO_LOAD = ("CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON")
"""Needed to load, read and remove controllers."""

TO_LOOK = (*TO_LOAD, "CAP_SYS_ADMIN")
"""Needed to look at the sockets of all namespaces, and at what other processes have loaded."""

TO_RUN = ("CAP_SYS_ADMIN", "CAP_NET_ADMIN")
"""Needed for the namespaces and devices of a run."""

IN_SYS_ADMIN = ("CAP_BPF", "CAP_PERFMON")
"""Included in CAP_SYS_ADMIN."""

LOCKDOWN = Path("/sys/kernel/security/lockdown")
"""The level of lockdown, in brackets among all (kernel_lockdown(7))."""

LOCKED = "the kernel is locked down (confidentiality), and BPF may not read its memory, as controllers do"

WHOLE = ["0", "0", "4294967295"]
"""The map of user ids of the machine's first user namespace."""

OF_NAMESPACE = (
    "this is root of a user namespace, which may neither load BPF nor enter the machine's network "
    "namespaces; run it as the machine's own root, outside of a rootless container"
)


def as_root(words: str) -> str:
    """A command of this program as root would run it. sudo does not see a virtual environment, so
    the program is named by its path."""
    program = Path(sys.argv[0])
    path = program if program.name == "anabranch" else Path(".venv/bin/anabranch")
    return " ".join(filter(None, ("sudo", shlex.quote(str(path)), words, "…")))


def is_root() -> bool:
    """Whether this process runs as root."""
    return os.geteuid() == 0


def in_user_namespace(uid_map: Path = Path("/proc/self/uid_map")) -> bool:
    """Whether root is only root of a user namespace."""
    return uid_map.exists() and uid_map.read_text().split() != WHOLE


def missing(wanted: tuple[str, ...], status: Path = Path("/proc/self/status")) -> list[str]:
    """The capabilities in `wanted` that this process lacks."""
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("CapEff:")]
    effective = int(line.split()[1], 16)
    there = {name for name, number in CAPABILITIES.items() if effective >> number & 1}
    if "CAP_SYS_ADMIN" in there:
        there.update(IN_SYS_ADMIN)
    return [name for name in wanted if name not in there]


def lacking(wanted: tuple[str, ...] = TO_LOAD) -> str:
    """Explains which right in `wanted` is missing and what to do; empty if none is missing."""
    if in_user_namespace():
        return OF_NAMESPACE
    if not (names := missing(wanted)):
        return ""
    options = " ".join(f"--cap-add={name.removeprefix('CAP_')}" for name in names)
    return f"this root is without {', '.join(names)}; in a container: {options}, or --privileged"


def lockdown(file: Path = LOCKDOWN) -> str:
    """The level of lockdown; empty if the kernel does not tell it."""
    try:
        return file.read_text().partition("[")[2].partition("]")[0]
    except OSError:
        return ""


def locked() -> bool:
    """Whether BPF may not read the kernel's memory, as far as the kernel tells."""
    return lockdown() == "confidentiality"


def check_root(command: str) -> None:
    """Raises LinuxError unless this process has the rights that a command of `anabranch linux`
    needs.
    """
    if not is_root():
        whole = f"linux {command}"
        raise LinuxError(f"`anabranch {whole}` needs root: {as_root(whole)}")
    if why := lacking(TO_LOOK if command == "status" else TO_LOAD):
        raise LinuxError(why)
