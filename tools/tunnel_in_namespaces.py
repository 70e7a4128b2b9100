"""Measures `anabranch tunnel` between two namespaces of this machine, over two pairs of devices.

    python tools/tunnel_in_namespaces.py [--megabytes 100] [--rate '100 Mb/s'] [--down FROM,UNTIL]

curl fetches a file through SOCKS5; `--down 3,9` takes the second pair down between these seconds.
It prints the time, the rate, whether the file is the same, and the processor time of both sides. It
needs root, and removes what it makes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

NEAR, FAR = "ab-near", "ab-far"
PORT = 4500


def run(line: str, within: str = "") -> str:
    """What a command prints, in a namespace if one is named."""
    words = (["ip", "netns", "exec", within] if within else []) + line.split()
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@contextmanager
def namespaces() -> Iterator[None]:
    """Two namespaces and two pairs of devices: path i has network 10.66.i."""
    for name in (NEAR, FAR):
        run(f"ip netns add {name}")
        run("ip link set lo up", name)
    try:
        for path in range(2):
            run(f"ip link add near{path} netns {NEAR} type veth peer name far{path} netns {FAR}")
            for name, side, host in ((NEAR, "near", 1), (FAR, "far", 2)):
                run(f"ip address add 10.66.{path}.{host}/24 dev {side}{path}", name)
                run(f"ip link set {side}{path} up", name)
        yield
    finally:
        for name in (NEAR, FAR):
            run(f"ip netns delete {name}")


@contextmanager
def program(within: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a namespace, while the block runs."""
    started = subprocess.Popen(
        ["ip", "netns", "exec", within, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield started
    finally:
        started.terminate()
        started.wait()


def processor_s(pid: int) -> float:
    """Processor time of a process in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupt(from_s: float, until_s: float) -> None:
    """Takes the second pair down for a while."""
    time.sleep(from_s)
    run("ip link set near1 down", NEAR)
    time.sleep(until_s - from_s)
    run("ip link set near1 up", NEAR)


def main() -> None:
    """Measures once."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--megabytes", type=int, default=100)
    words.add_argument("--rate", default="100 Mb/s")
    words.add_argument("--down", help="seconds, such as 3,9")
    chosen = words.parse_args()
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        data = random.Random(1).randbytes(chosen.megabytes * 1_000_000)
        (folder / "file").write_bytes(data)
        anabranch = [str(Path(sys.executable).with_name("anabranch")), "tunnel"]
        keys = {}
        for name in ("near", "far"):
            made = [*anabranch, "key", str(folder / f"{name}.key")]
            keys[name] = subprocess.run(made, check=True, capture_output=True, text=True).stdout
        (folder / "peers").write_text(f"{keys['near'].strip()} near\n")
        held.enter_context(namespaces())
        serving = [sys.executable, "-m", "http.server", "8080", "--directory", str(folder)]
        held.enter_context(program(FAR, *serving))
        listen = [w for i in range(2) for w in ("--listen", f"10.66.{i}.2:{PORT}")]
        paths = [w for i in range(2) for w in ("--path", f"10.66.{i}.1=10.66.{i}.2:{PORT}")]
        shared = ["--rate", chosen.rate, "--key"]
        far = [*anabranch, "listen", *shared, str(folder / "far.key"), *listen]
        far += ["--peers", str(folder / "peers"), "--allow", "127.0.0.1,8080"]
        near = [*anabranch, "connect", *shared, str(folder / "near.key"), *paths]
        near += ["--peer", keys["far"].strip(), "--socks", "127.0.0.1:1080"]
        sender = held.enter_context(program(FAR, *far))
        time.sleep(2)
        receiver = held.enter_context(program(NEAR, *near))
        time.sleep(2)
        before = [processor_s(side.pid) for side in (sender, receiver)]
        if chosen.down:
            times = [float(word) for word in chosen.down.split(",")]
            threading.Thread(target=interrupt, args=times, daemon=True).start()
        began = time.monotonic()
        fetched = folder / "fetched"
        run(
            f"curl -s --proxy socks5h://127.0.0.1:1080 -o {fetched} http://127.0.0.1:8080/file",
            NEAR,
        )
        took = time.monotonic() - began
        same = hashlib.sha256(fetched.read_bytes()).digest() == hashlib.sha256(data).digest()
        print(f"{took:.2f} s, {8 * chosen.megabytes / took:.1f} Mb/s, the same bytes: {same}")
        for name, side, start in zip(
            ("sends", "receives"), (sender, receiver), before, strict=True
        ):
            used = processor_s(side.pid) - start
            each = used / len(data) * 1e9
            print(f"the side that {name}: {used:.2f} s of a processor, {each:.1f} ns a byte")


if __name__ == "__main__":
    main()
