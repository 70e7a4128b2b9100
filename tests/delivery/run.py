"""The package for routers and the wheel on a fresh Debian, under the kernel of this machine:
`sudo make test-delivery`.

debootstrap makes the file system once, in target/; each run lays a fresh one over it. The package
has namespaces of its own, without a network: what it needs it brings. The wheel has this machine's
network, for pip. Nothing may be left in the kernel.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "target" / "rootfs"
RELEASE = "bookworm"
PACKAGES = "python3-venv,iproute2,ca-certificates"

BPF = 321 if platform.machine() == "x86_64" else 280
"""Number of bpf(2)."""
KINDS = {"program": 11, "map": 12, "link": 31}
"""Commands of bpf(2) that find the next object of a kind."""

PROGRAM = "anabranch-linux"
PINS = "/sys/fs/bpf/anabranch"
CHOICE = "/proc/sys/net/ipv4/tcp_congestion_control"
AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"

TRANSFER = """
import json, socket, subprocess, threading, time
MPTCP, SIZE = 262, 64 << 20
server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
server.bind(("10.9.0.1", 0))
server.listen(1)
client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)
client.connect(server.getsockname())
accepted, _ = server.accept()
thread = threading.Thread(target=client.sendall, args=(bytes(SIZE),))
thread.start()
left = SIZE
while left:
    left -= len(accepted.recv(1 << 20))
thread.join()
print(subprocess.run(["anabranch-linux", "status", "--json"], capture_output=True, text=True).stdout)
print(subprocess.run(["anabranch-linux", "unload", "olia"], capture_output=True, text=True).stderr)
"""
"""64 MB over an MPTCP connection in the namespace; the status and a refusal while it is open."""


def objects() -> set[tuple[str, int]]:
    """Kind and number of each BPF object in the kernel."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = set()
    for kind, command in KINDS.items():
        attributes = (ctypes.c_uint32 * 3)()  # the last number, the next one, flags
        size = ctypes.sizeof(attributes)
        while libc.syscall(BPF, command, attributes, size) == 0:
            found.add((kind, attributes[1]))
            attributes[0] = attributes[1]
    return found


def must(words: list[str], status: int = 0, environment: dict[str, str] | None = None) -> str:
    """What a command prints, which must end with this status."""
    done = subprocess.run(words, text=True, capture_output=True, env=environment)
    if done.returncode != status:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        sys.exit(f"FAILED: `{' '.join(words)}` ended with {done.returncode}, not {status}")
    return done.stdout


def expect(holds: bool, what: str) -> None:
    """Ends the test unless something holds."""
    if not holds:
        sys.exit(f"FAILED: {what}")
    print(f"  {what}")


def base() -> Path:
    """The file system of a fresh Debian, made if it is not there."""
    made, finished = BASE / RELEASE, BASE / f"{RELEASE}.made"
    if not finished.exists():
        shutil.rmtree(made, ignore_errors=True)
        targets = must(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)"])
        mirrors = [line.split()[0] for line in targets.splitlines() if line.endswith(RELEASE)]
        if not mirrors or not shutil.which("debootstrap"):
            sys.exit("error: debootstrap is missing, or a mirror of Debian in apt's sources")
        print(f"making {made}")
        words = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE]
        must([*words, str(made), mirrors[0]])
        finished.touch()
    return made


class Machine:
    """A fresh file system over the common one, within the namespaces of this process."""

    def __init__(self, lower: Path, work: Path) -> None:
        """Mounts it; the mounts go with the namespace."""
        must(["mount", "-t", "tmpfs", "tmpfs", str(work)])
        for name in ("upper", "work", "root"):
            (work / name).mkdir()
        layers = f"lowerdir={lower},upperdir={work}/upper,workdir={work}/work"
        self.root = work / "root"
        must(["mount", "-t", "overlay", "-o", layers, "overlay", str(self.root)])
        for kind in ("proc", "sysfs"):
            place = self.root / kind.removesuffix("fs")
            must(["mount", "-t", kind, kind, str(place)])
        must(["mount", "--rbind", "/dev", f"{self.root}/dev"])
        (self.root / "opt").mkdir(exist_ok=True)

    def bind(self, file: str) -> None:
        """Shows a file or folder of this machine there, if it exists."""
        if os.path.exists(file):
            there = self.root / file.lstrip("/")
            if os.path.isdir(file):
                there.mkdir(parents=True, exist_ok=True)
            else:
                there.touch()
            must(["mount", "--bind", "-o", "ro", file, str(there)])

    def run(self, *words: str, status: int = 0) -> str:
        """What a command prints there."""
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        path = "/usr/sbin:/usr/bin:/sbin:/bin"
        environment = {"PATH": path, "HOME": "/root", "COLUMNS": "160", "LC_ALL": "C.UTF-8"} | kept
        return must(["chroot", str(self.root), *words], status, environment)

    def take(self, file: Path) -> str:
        """Copies a file there; its path."""
        shutil.copy(file, self.root / "opt" / file.name)
        return f"/opt/{file.name}"


def newest(pattern: str) -> Path:
    """The newest file in target/ of a pattern."""
    found = sorted((ROOT / "target").glob(pattern), key=lambda file: file.stat().st_mtime)
    if not found:
        sys.exit(f"error: there is no target/{pattern}: run `make deb wheel`")
    return found[-1]


def package(there: Machine) -> None:
    """Installs the package, uses it as an operator does, and purges it with a controller loaded."""
    must(["ip", "link", "set", "lo", "up"])
    for address in ("10.9.0.1/32", "10.9.0.2/32"):
        must(["ip", "address", "add", address, "dev", "lo"])
    there.run("ip", "mptcp", "limits", "set", "subflows", "2", "add_addr_accepted", "2")
    there.run("ip", "mptcp", "endpoint", "add", "10.9.0.2", "dev", "lo", "subflow")
    before = set(there.run("sh", "-c", "find /etc /usr /lib/systemd -type f").splitlines())
    there.run("dpkg", "--install", there.take(newest("anabranch-linux_*.deb")))
    linked = there.run("sh", "-c", f"ldd /usr/bin/{PROGRAM} 2>&1 || true")
    expect("not a dynamic executable" in linked, "the program is linked statically")
    expect("load (controllers in the kernel): yes" in there.run(PROGRAM, "check"), "check says yes")
    expect("loaded as ab_olia" in there.run(PROGRAM, "load", "olia"), "olia is loaded")
    there.run("sh", "-c", f"echo ab_olia > {CHOICE}")
    status, refusal = there.run("python3", "-c", TRANSFER).rsplit("\nerror: ", 1)
    sending = [
        one["subflows"]
        for one in json.loads(status)["connections"]
        if sum(row["delivered"] for row in one["subflows"]) > 1000
    ]
    expect(len(sending) == 1, "64 MB went over MPTCP, and status shows the connection")
    expect(len(sending[0]) == 2, "it has two subflows, which olia couples")
    expect("ab_olia is in use by " in refusal, "unload is refused while it is in use")
    there.run(PROGRAM, "load", "lia+sbd")
    there.run("dpkg", "--purge", PROGRAM)
    there.run("test", "-e", PINS, status=1)
    expect("ab_" not in there.run("cat", AVAILABLE), "after the purge no controller is loaded")
    expect(there.run("cat", CHOICE) == "reno\n", "the default of new connections is reno")
    after = set(there.run("sh", "-c", "find /etc /usr /lib/systemd -type f").splitlines())
    expect(after <= before, "and no file of the package is left")


def wheel(there: Machine) -> None:
    """Installs the wheel with pip, loads and unloads a controller, and simulates."""
    for file in ("/etc/resolv.conf", "/etc/ssl/certs", "/etc/pip.conf"):
        there.bind(file)
    file = there.take(newest("wheels/anabranch-*.whl"))
    there.run("python3", "-m", "venv", "/opt/venv")
    there.run("/opt/venv/bin/pip", "install", "--quiet", file)
    command = "/opt/venv/bin/anabranch"
    said = there.run(command, "linux", "check")
    expect("linux load (controllers in the kernel): yes" in said, "check says yes")
    expect("loaded as ab_olia" in there.run(command, "linux", "load", "olia"), "olia is loaded")
    expect("ab_olia" in there.run(command, "linux", "status"), "status shows it")
    expect(there.run(command, "linux", "unload", "olia") == "unloaded\n", "it is taken out")
    values = ("duration=1 s", "warmup=0 s")
    spread = [f"flow.{flow}.spread=0 s" for flow in ("multipath", "single-path")]
    short = [word for value in (*values, *spread) for word in ("--set", value)]
    said = there.run(command, "run", "khalili/scenario-c", "-c", "olia", *short)
    expect("Mb/s" in said, "a second is simulated")


PARTS: dict[str, tuple[Callable[[Machine], None], list[str]]] = {
    "package": (package, ["--mount", "--pid", "--net"]),
    "wheel": (wheel, ["--mount", "--pid"]),
}
"""What is tested, and the namespaces that it has of its own."""


def main() -> None:
    """Tests the parts that are named, or both; with a folder behind a name, within namespaces."""
    if os.geteuid() != 0:
        sys.exit("error: this needs root: sudo make test-delivery")
    work = BASE / "work"
    if sys.argv[1:2] == ["--inside"]:
        PARTS[sys.argv[2]][0](Machine(BASE / RELEASE, work))
        return
    base()
    work.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PARTS:
        print(name, flush=True)
        before, begun = objects(), time.monotonic()
        spaces = PARTS[name][1]
        words = ["unshare", *spaces, "--fork", "--kill-child", "--propagation", "private"]
        done = subprocess.run([*words, sys.executable, __file__, "--inside", name], check=False)
        if done.returncode != 0:
            sys.exit(done.returncode)
        for _ in range(100):  # the kernel frees programs some time after their last user
            if not objects() - before:
                break
            time.sleep(0.1)
        expect(not objects() - before, "no program, map or link is left in the kernel")
        print(f"  {time.monotonic() - begun:.0f} s", flush=True)
    print("done")


if __name__ == "__main__":
    main()
