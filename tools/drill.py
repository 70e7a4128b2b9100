"""Runs packetdrill's scripts against our endpoint in packets, and says what came of each.

    sudo .venv/bin/python tools/drill.py CHECKOUT [--suite mptcp] [--suite tcp] [--json FILE]

CHECKOUT is a clone of https://github.com/multipath-tcp/packetdrill, which is under the GPL and no
part of this repository. It is copied and built outside both (bison, flex and a compiler in C are
needed). packetdrill then loads `crates/drill` in place of a kernel, and time is virtual. Each
script runs as it is, with IPv4, in a network namespace of its own: there its shell commands set
what they set for a kernel, and the library reads that.

Exit status: 0 if every script was tried, whatever came of it; 2 if that is not possible.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
SUITES = ("mptcp", "tcp")
"""Folders of `gtests/net`."""

LOCAL = "192.168.17.5"
"""This host's address, in packetdrill's default network; tun0 has it, for the scripts' commands."""

PATIENCE_S = 60
"""Longest time of one script, of the wall clock; the scripts themselves take virtual time."""

NAMESPACE = f"""
ip link set lo up &&
ip tuntap add dev tun0 mode tun &&
ip address add {LOCAL}/16 dev tun0 &&
ip link set tun0 up || exit 99
tc qdisc delete dev tun0 root 2>/dev/null
export OPT_LOCAL_DEV=tun0
LD_PRELOAD="$1" exec "$0" --local_ip={LOCAL} --so_filename="$1" "$2"
"""
"""packetdrill itself sets OPT_LOCAL_DEV only for a kernel."""

REASONS: tuple[tuple[str, str, str], ...] = (
    (r"(\S+): not found", "not runnable", "the script calls {}, which this machine does not have"),
    (r"bad IPv6 address", "not runnable", "IPv6"),
    (r"semantic error: (.*)", "not runnable", "packetdrill cannot read it: {}"),
    (
        r"runtime error in code: (.*)",
        "not runnable",
        "code reads TCP_INFO from the kernel's socket",
    ),
    (
        r"runtime error in sendfile call",
        "not runnable",
        "sendfile between the kernel's descriptors",
    ),
    (r"error executing `(.*?)` command", "not runnable", "looks for its socket in the kernel: {}"),
    (
        r"runtime error in (\w+) call: .*errno 92",
        "not runnable",
        "{} with an option that is not there",
    ),
    (
        r"runtime error in (\w+) call: .*errno 95",
        "not runnable",
        "{} with a flag that is not there",
    ),
    (r"runtime error in (\w+) call: .*errno 38", "not runnable", "{} is not there"),
    (r"runtime error in (\w+) call: (.*)", "failed", "{}: {}"),
    (r"timing error: expected (.*)", "failed", "time: {}"),
    (
        r"packet is not for expected socket",
        "failed",
        "order: a packet of another subflow comes first",
    ),
    (r"error handling packet: (.*)", "failed", "packet: {}"),
)
"""Text of packetdrill, what that makes of the script, and why; the first that is found counts."""


@dataclass(frozen=True)
class Outcome:
    """What came of one script."""

    suite: str
    script: str
    result: str
    reason: str = ""
    line: int | None = None
    evidence: tuple[str, ...] = ()
    """What packetdrill says of both packets."""


def judged(suite: str, script: str, status: int, said: str) -> Outcome:
    """The outcome of packetdrill's exit status and text."""
    if status == 0:
        return Outcome(suite, script, "passed")
    place = re.search(r"\.pkt:(\d+): ", said)
    line = int(place[1]) if place else None
    packets = tuple(re.findall(r"^(?:script|actual) packet: .*$", said, re.MULTILINE))
    for pattern, result, reason in REASONS:
        if found := re.search(pattern, said):
            return Outcome(suite, script, result, reason.format(*found.groups()), line, packets)
    last = said.strip().splitlines()[-1:] or [f"exit status {status}"]
    return Outcome(suite, script, "failed", last[0], line)


def build_packetdrill(checkout: Path, into: Path) -> Path:
    """Builds packetdrill in a copy of its folder."""
    source = checkout / "gtests" / "net" / "packetdrill"
    if not (source / "configure").is_file():
        raise SystemExit(
            f"drill: {checkout} is not a checkout of packetdrill: it has no gtests/net/packetdrill"
        )
    for program in ("make", "bison", "flex", "cc", "unshare", "ip", "tc", "sysctl"):
        if not shutil.which(program):
            raise SystemExit(f"drill: the program {program} is needed and not installed")
    shutil.copytree(source, into)
    subprocess.run(["./configure"], cwd=into, check=True)
    # Its own flags make errors of what newer compilers warn of.
    command = ["make", "--silent", "packetdrill", "CFLAGS=-O1 -w"]
    done = subprocess.run(command, cwd=into, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"drill: packetdrill does not build:\n{done.stdout}{done.stderr}")
    return into / "packetdrill"


def build_library() -> Path:
    """Builds `crates/drill`; where cargo has put it."""
    command = ["cargo", "build", "--quiet", "--package", "drill", "--message-format", "json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit("drill: crates/drill does not build")
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    files = [
        Path(file)
        for message in messages
        if message.get("target", {}).get("name") == "drill"
        for file in message.get("filenames", [])
    ]
    return next(file for file in files if file.suffix == ".so")


def run(packetdrill: Path, library: Path, folder: Path, script: Path) -> Outcome:
    """Runs one script in a namespace of its own."""
    command = ["unshare", "--net", "sh", "-c", NAMESPACE]
    command += [str(packetdrill), str(library), str(script)]
    name = str(script.relative_to(folder))
    try:
        done = subprocess.run(
            command,
            cwd=script.parent,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(folder.name, name, "failed", f"it did not end within {PATIENCE_S} s")
    if done.returncode == 99:
        raise SystemExit(f"drill: no namespace with a TUN device, which needs root: {done.stderr}")
    return judged(folder.name, name, done.returncode, done.stderr + done.stdout)


def shown(outcomes: list[Outcome]) -> str:
    """The outcomes as text: a line for each script, and totals."""
    width = max(len(f"{it.suite}/{it.script}") for it in outcomes)
    lines = []
    for it in outcomes:
        where = f"line {it.line}: " if it.line and it.reason else ""
        lines.append(f"{it.suite + '/' + it.script:{width}}  {it.result:12}  {where}{it.reason}")
    for suite in sorted({it.suite for it in outcomes}):
        counts = Counter(it.result for it in outcomes if it.suite == suite)
        parts = ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))
        lines.append(f"{suite}: {counts.total()} scripts, {parts}")
    return "\n".join(line.rstrip() for line in lines)


def main() -> None:
    """Builds, runs and tells."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path, help="a clone of multipath-tcp/packetdrill")
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: mptcp")
    parser.add_argument("--library", type=Path, help="libdrill.so, if it is built already")
    parser.add_argument("--json", type=Path, help="a file for the outcomes as JSON; - for stdout")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("drill: namespaces and TUN devices need root")
    with tempfile.TemporaryDirectory(prefix="drill-") as folder:
        packetdrill = build_packetdrill(options.checkout, Path(folder) / "packetdrill")
        library = (options.library or build_library()).resolve()
        outcomes = []
        for suite in options.suite or ["mptcp"]:
            scripts = options.checkout.resolve() / "gtests" / "net" / suite
            outcomes += [
                run(packetdrill, library, scripts, script)
                for script in sorted(scripts.rglob("*.pkt"))
            ]
    if options.json:
        text = json.dumps([asdict(it) for it in outcomes], indent=1)
        if str(options.json) == "-":
            print(text)
            return
        options.json.write_text(text + "\n")
    print(shown(outcomes))


if __name__ == "__main__":
    try:
        main()
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
            sys.exit(2)
        raise
