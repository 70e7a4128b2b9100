"""The kernel's own test program of MPTCP, `mptcp_connect`, as the peer of our endpoint.

    unshare --net .venv/bin/python tests/linux/selftest.py SOURCE [--size BYTES] [--trouble PART]

SOURCE is tools/testing/selftests/net/mptcp/mptcp_connect.c of Linux, under the GPL and no part of
this repository; Debian has it in linux-source-6.1. It is built in a temporary directory. For each
role of ours and each way of the program to move data (`-m`), both ends send BYTES over two
subflows, without trouble, and with that part of packets lost, delayed beyond later ones and copied.
One object of JSON is printed for each. Exit status: 1 if bytes differ or the program fails, 2 if
nothing can be tried.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wire_peer import LINGER_S, PATIENCE_S, Network, Ours, Settings, digest, open_devices, pattern

from anabranch.wire import Driver, Host, random_number

MODES = ("poll", "mmap", "sendfile")
POLL_S = "60"
"""How long the program waits for data."""


def build(source: Path, into: Path) -> Path:
    """Builds the program as the kernel's Makefile does, without its headers."""
    if source.name != "mptcp_connect.c" or not source.is_file():
        print(f"selftest: {source} is not mptcp_connect.c", file=sys.stderr)
        sys.exit(2)
    binary = into / "mptcp_connect"
    subprocess.run(["cc", "-O2", "-w", "-o", str(binary), str(source)], check=True)
    return binary


def wait_for_listener(program: subprocess.Popen[bytes]) -> None:
    """Waits until a socket listens on port 80."""
    while program.poll() is None:
        lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
        if any(line.split()[1].endswith(":0050") and line.split()[3] == "0A" for line in lines):
            return
        time.sleep(0.01)


def exchange(
    driver: Driver, settings: Settings, port: int, command: list[str], data: Path, copy: Path
) -> dict[str, object]:
    """One connection, and what became of it."""
    began = time.monotonic()
    with data.open("rb") as source, copy.open("wb") as sink:
        program = subprocess.Popen(command, stdin=source, stdout=sink, stderr=subprocess.PIPE)
        if settings.role == "client":
            wait_for_listener(program)
        end = Ours(driver, settings, port)
        while not (end.ended and end.closed and program.poll() is not None):
            end.step()
            driver.turn(0.01)
            if time.monotonic() - began > PATIENCE_S:
                program.kill()
                break
    seconds = time.monotonic() - began
    while len(driver.host) > 0 and time.monotonic() - began < seconds + LINGER_S:
        driver.turn(0.01)
    right = digest(settings.size)
    status = program.wait()
    said = program.stderr.read().decode() if program.stderr else ""
    return {
        "there": hashlib.sha256(copy.read_bytes()).hexdigest() == right,
        "back": end.whole.hexdigest() == right,
        "status": status,
        "said": said.strip(),
        "paths": len(end.paths),
        "left": len(driver.host),
        "seconds": round(seconds, 2),
    }


def main() -> int:
    """Tries everything; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--size", type=int, default=8_000_000, help="bytes each way")
    parser.add_argument("--trouble", type=float, default=0.01, help="part of the packets")
    options = parser.parse_args()
    devices = open_devices()
    subprocess.run(["ip", "mptcp", "limits", "set", "subflows", "4"], check=True)
    right = True
    with tempfile.TemporaryDirectory() as folder:
        binary = build(options.source, Path(folder))
        data, copy = Path(folder) / "data", Path(folder) / "copy"
        with data.open("wb") as file:
            while (done := file.tell()) < options.size:
                file.write(pattern(done, options.size - done))
        tries = itertools.product(("client", "server"), MODES, (0.0, options.trouble))
        for number, (role, mode, trouble) in enumerate(tries):
            settings = Settings(role=role, size=options.size, trouble=trouble)
            subprocess.run(["ip", "mptcp", "endpoint", "flush"], check=True)
            if role == "server":
                endpoint = "ip mptcp endpoint add 10.77.1.1 subflow"
                subprocess.run(endpoint.split(), check=True)
            host = Host("lia", random_number)
            host.listen(80)
            driver = Driver(host, devices, Network(settings))
            ends = ["-l", "0.0.0.0"] if role == "client" else ["10.77.0.2"]
            command = [str(binary), "-m", mode, "-p", "80", "-t", POLL_S, *ends]
            found = exchange(driver, settings, 20_000 + number, command, data, copy)
            right &= bool(found["there"] and found["back"] and found["status"] == 0)
            print(json.dumps({"ours": role, "mode": mode, "trouble": trouble, **found}), flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
