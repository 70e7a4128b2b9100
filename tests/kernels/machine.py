"""A guest under qemu, whose processors are emulated: no KVM is needed.

The kernel's console is the first serial port, and goes into a file. The second is for the checks: a
line of JSON each.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MEMORY_MIB = 1536
"""The files of the guest are in it twice while it boots."""
LIMIT_S = 300.0
"""A guest that takes longer is ended."""
LAST_LINES = 15
COMMAND_LINE = "console=ttyS0 quiet panic=-1 mitigations=off"


@dataclass
class Found:
    """What a guest told."""

    checks: list[dict[str, Any]] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    """Lines that are no JSON: tracebacks."""
    whole: bool = False
    """Whether the checks came to their end."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of the host's processors, in user mode and in the kernel."""
    console: list[str] = field(default_factory=list)
    """The last lines of the kernel's console, if the checks did not come to their end."""


def boot(
    qemu: Path, kernel: Path, initrd: Path, console: Path, told: Callable[[dict[str, Any]], None]
) -> Found:
    """Boots a kernel and waits until the guest has switched itself off; `told` gets each check as
    it ends.
    """
    found, begun, before = Found(), time.monotonic(), cpu_seconds()
    environment = os.environ | {"LD_LIBRARY_PATH": libraries(qemu)}
    command = arguments(qemu, kernel, initrd, console)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
    ) as process:
        limit = threading.Timer(LIMIT_S, process.kill)
        limit.start()
        try:
            assert process.stdout
            for line in process.stdout:
                read(line.decode(errors="replace").strip(), found, told)
        except BaseException:
            process.kill()
            raise
        finally:
            limit.cancel()
    found.seconds, found.cpu_seconds = time.monotonic() - begun, cpu_seconds() - before
    if not found.whole:
        lines = console.read_text(errors="replace").splitlines() if console.exists() else []
        found.console = lines[-LAST_LINES:]
        if found.seconds >= LIMIT_S:
            found.console.append(f"ended after {LIMIT_S:g} s")
    return found


def read(line: str, found: Found, told: Callable[[dict[str, Any]], None]) -> None:
    """Takes a line of the guest's."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        found.other += [line] if line else []
    elif "check" in row:
        found.checks.append(row)
        told(row)
    else:
        found.whole = found.whole or bool(row.get("end"))


def arguments(qemu: Path, kernel: Path, initrd: Path, console: Path) -> list[str]:
    """The command line of qemu."""
    share = qemu / "usr/share"
    return [
        str(qemu / "usr/bin/qemu-system-x86_64"),
        *("-L", str(share / "qemu"), "-L", str(share / "seabios")),
        *("-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", str(MEMORY_MIB)),
        *("-nodefaults", "-no-reboot", "-display", "none"),
        *("-serial", f"file:{console}", "-serial", "stdio"),
        *("-kernel", str(kernel), "-initrd", str(initrd), "-append", COMMAND_LINE),
    ]


def libraries(qemu: Path) -> str:
    """Where qemu's libraries are that the host lacks."""
    places = [*qemu.glob("usr/lib/*-linux-gnu"), *qemu.glob("lib/*-linux-gnu")]
    return ":".join(map(str, places))


def cpu_seconds() -> float:
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
