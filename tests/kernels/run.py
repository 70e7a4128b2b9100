"""Boots Linux kernels of Debian under emulation, and tries the controllers on each.

`make test-kernels`, or `.venv/bin/python tests/kernels/run.py --kernel 6.12`. Needs no root and no
KVM, and changes nothing of the host: all that is fetched and made is below target/kernels.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import platform
import sys
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import IO, Any

import image
import machine
from packages import ROOT, Kernel, Unavailable, available, qemu, unpack

CHECKS = {
    "boot": "the kernel runs, and Python on it",
    "check": "`linux check` finds all that is needed",
    "load": "all controllers load, and `status` lists them",
    "idle": "in idle time windows decay as the kernel's Reno's do, and stay where they should",
    "transfer": "two MPTCP subflows under OLIA: same bytes, growth below Reno's, in `status`",
    "couple": "the same under `lia+sbd`, with `linux couple` beside",
    "replay": "the steps of LIA and Coupled CUBIC come out the same in every form",
    "unload": "all controllers unload",
    "module": "the same as modules: layout as in BTF, OLIA couples, steps of LIA the same; refusals",
    "lockdown": "controllers load under integrity; under confidentiality `check` and `load` name it",
    "refused": "a kernel that is too old is named, and nothing loads",
    "nothing left": "no program, map, link, pin, controller; no warning of the kernel",
}
SIGNS = {"passed": "yes", "failed": "NO", "absent": "–"}
LONGEST = 500
"""Characters of what a check saw that are shown."""
LAST_LINES = 15
AT_ONCE = 2
"""Guests that run at a time."""
REFUSED = "6.1"
"""Debian 12's own, which is too old."""
OLDEST = "6.12"
"""The oldest of Debian's that is not too old."""


def main() -> int:
    """The exit status: 1 if a check failed, 2 if nothing could be tried."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--kernel", action="append", help="a series, as 6.12; may be repeated")
    parser.add_argument("--list", action="store_true", help="the kernels that there are")
    parser.add_argument(
        "--prepare", action="store_true", help="fetch and build what guests need, and boot none"
    )
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    chosen = parser.parse_args()
    try:
        if chosen.json and not chosen.json.parent.is_dir():
            raise ValueError(f"--json is {chosen.json}; there is no directory {chosen.json.parent}")
        alone = only_one()
        there = {kernel.name: kernel for kernel in available()}
        if chosen.list:
            for name, kernel in there.items():
                print(f"{name:6}{kernel.version:20}{', '.join(kernel.packages)}")
            return 0
        names = wanted(chosen.kernel, list(there))
        emulator = qemu()
        image.needed()
    except (Unavailable, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    with alone:
        if chosen.prepare:
            return prepared(there, names)
        found = tried(there, names, emulator)
    print(table(found), remarks(found), sep="\n\n")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n")
    return verdict(found)


def only_one() -> IO[str]:
    """A file that is locked while it is open: two at a time would write the same files. Raises
    Unavailable.
    """
    ROOT.mkdir(parents=True, exist_ok=True)
    lock = (ROOT / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Unavailable("another run uses target/kernels: wait until it has ended") from None
    return lock


def wanted(chosen: list[str] | None, there: list[str]) -> list[str]:
    """The series to try: those that were chosen, or the one that is too old, the oldest that is
    not, the host's, and the newest. Raises ValueError for one that is not there.
    """
    for name in chosen or []:
        if name not in there:
            raise ValueError(f"--kernel is {name}; there are {', '.join(there)}")
    if chosen:
        return list(dict.fromkeys(chosen))
    host = ".".join(platform.release().split(".")[:2])
    return sorted({REFUSED, OLDEST, host, there[-1]}, key=lambda name: [*map(int, name.split("."))])


def prepared(there: dict[str, Kernel], names: list[str]) -> int:
    """Fetches and builds what the guests of these kernels need, so that a later run only boots
    them. The exit status: 2 if none can be had; the later run names those that cannot.
    """
    ready = 0
    for name in names:
        try:
            image.prepare(fetched(there, name))
        except Unavailable as error:
            print(f"Linux {name}: not prepared: {error}", file=sys.stderr)
            continue
        ready += 1
        print(f"Linux {name}: prepared", file=sys.stderr)
    return 0 if ready else 2


def fetched(there: dict[str, Kernel], name: str) -> Kernel:
    """The kernel of a series, its packages unpacked. Raises Unavailable."""
    kernel = there.get(name)
    if kernel is None:
        raise Unavailable(f"no package of Linux {name} is there")
    unpack(kernel)
    return kernel


def tried(there: dict[str, Kernel], names: list[str], emulator: Path) -> dict[str, dict[str, Any]]:
    """What the checks found on each kernel; only why if its packages cannot be had.

    One kernel is fetched while others run. Each guest has a process of its own here, which counts
    the processor time of its children.
    """
    found: dict[str, dict[str, Any]] = {}
    running: dict[str, Future[machine.Found]] = {}
    with ProcessPoolExecutor(AT_ONCE) as pool:
        for name in names:
            found[name] = {}
            try:
                kernel = fetched(there, name)
                running[name] = pool.submit(booted, emulator, kernel, image.initrd(kernel))
                found[name]["version"] = kernel.version
            except Unavailable as error:
                print(f"Linux {name}: skipped", file=sys.stderr)
                found[name]["skipped"] = str(error)
        for name, guest in running.items():
            found[name] |= vars(guest.result())
    return found


def booted(emulator: Path, kernel: Kernel, initrd: Path) -> machine.Found:
    """What a kernel's checks found; says each of them, and removes the file for qemu."""

    def told(row: dict[str, Any]) -> None:
        print(f"Linux {kernel.name}: {row['check']} {SIGNS[row['state']]}", file=sys.stderr)

    console = ROOT / f"console-{kernel.name}.txt"
    try:
        found = machine.boot(emulator, kernel.image, initrd, console, told)
    finally:
        initrd.unlink()
    print(f"Linux {kernel.name}: {found.seconds:.0f} s", file=sys.stderr)
    return found


def table(found: dict[str, dict[str, Any]]) -> str:
    """Kernels by checks."""
    names = [name for name in CHECKS if any(name in states(row) for row in found.values())]
    lines = [["Linux", *names, "s", "CPU s"]]
    for name, row in found.items():
        cells = [SIGNS[states(row)[each]] if each in states(row) else "" for each in names]
        times = [f"{row[each]:.0f}" for each in ("seconds", "cpu_seconds") if each in row]
        lines.append([row.get("version", name), *cells, *(times or ["", ""])])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in lines]
    return "\n".join("  ".join(row).rstrip() for row in padded)


def states(row: dict[str, Any]) -> dict[str, str]:
    """The state of each check of a kernel."""
    return {each["check"]: each["state"] for each in row.get("checks", [])}


def remarks(found: dict[str, dict[str, Any]]) -> str:
    """What each check saw, and why a kernel was skipped or a guest ended early."""
    lines = []
    for name, row in found.items():
        if "skipped" in row:
            lines.append(f"{name}: skipped: {row['skipped']}")
            continue
        for each in row["checks"]:
            said = f"{shortened(each['detail'])} ({each['seconds']:.1f} s)".strip()
            lines.append(f"{name} {each['check']}: {SIGNS[each['state']]}: {said}")
        if not row["whole"]:
            lines.append(f"{name}: the checks did not come to their end; the console's last lines:")
            lines += [f"    {line}" for line in row["console"]]
            lines += [f"    {shortened(line)}" for line in row["other"][-LAST_LINES:]]
    return "\n".join(lines)


def shortened(text: str) -> str:
    """The beginning and the end of what may be a verifier's log, in one line; JSON has the whole."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def sound(row: dict[str, Any]) -> bool:
    """Whether all checks of a kernel were made, and none failed."""
    return row["whole"] and "failed" not in states(row).values()


def verdict(found: dict[str, dict[str, Any]]) -> int:
    """The exit status for what was found."""
    rows = [row for row in found.values() if "skipped" not in row]
    if not rows:
        return 2
    return 0 if all(map(sound, rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
