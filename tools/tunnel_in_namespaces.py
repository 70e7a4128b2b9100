"""Measures `anabranch tunnel` between two namespaces of this machine, over two pairs of devices.

    python tools/tunnel_in_namespaces.py [--megabytes 100] [--rate '100 Mb/s'] [--down FROM,UNTIL]
    python tools/tunnel_in_namespaces.py --iperf3 10 [--rate '100 Mb/s'] [--down FROM,UNTIL]
    python tools/tunnel_in_namespaces.py --over mptcp [...]

curl fetches a file through SOCKS5, or iperf3 sends for so many seconds through a forward, once in
each direction. The tunnel is over UDP, or over Multipath TCP. `--down 3,9` takes the second pair
down between these seconds. It prints the time, the rate, whether the file is the same, and the
processor time of both sides. It needs root, and removes what it makes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

NEAR, FAR = "ab-near", "ab-far"
PORT = 4500
OFFERS = {
    "curl": ["--socks", "127.0.0.1:1080"],
    "iperf3": ["--forward", "127.0.0.1:5201=127.0.0.1:5201"],
}


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


@dataclass(frozen=True)
class Tunnel:
    """Both sides of a tunnel."""

    near: int
    """Process of the side that connects."""
    far: int

    def used_s(self) -> tuple[float, float]:
        """Processor time of both sides so far in seconds."""
        return processor_s(self.near), processor_s(self.far)

    def tell(self, sends: str, before: tuple[float, float], size: int, took: float) -> None:
        """Prints what each side has used since `before` to carry `size` bytes in `took` seconds;
        `sends` is `near` or `far`.
        """
        for name, start, now in zip(("near", "far"), before, self.used_s(), strict=True):
            role = "sends" if name == sends else "receives"
            share, each = (now - start) / took, (now - start) / size * 1e9
            print(f"  the side that {role}: {share:.3f} of a processor, {each:.1f} ns a byte")


def tunnel(held: ExitStack, folder: Path, both: Sequence[str], offer: Sequence[str]) -> Tunnel:
    """Both sides with the options `both`, while `held` is."""
    anabranch = [str(Path(sys.executable).with_name("anabranch")), "tunnel"]
    keys = {}
    for name in ("near", "far"):
        made = [*anabranch, "key", str(folder / f"{name}.key")]
        keys[name] = subprocess.run(made, check=True, capture_output=True, text=True).stdout
    (folder / "peers").write_text(f"{keys['near'].strip()} near\n")
    listen = [w for i in range(2) for w in ("--listen", f"10.66.{i}.2:{PORT}")]
    paths = [w for i in range(2) for w in ("--path", f"10.66.{i}.1=10.66.{i}.2:{PORT}")]
    shared = [*both, "--key"]
    far = [*anabranch, "listen", *shared, str(folder / "far.key"), *listen]
    far += ["--peers", str(folder / "peers"), "--allow", "127.0.0.1"]
    near = [*anabranch, "connect", *shared, str(folder / "near.key"), *paths]
    near += ["--peer", keys["far"].strip(), *offer]
    there = held.enter_context(program(FAR, *far))
    time.sleep(2)
    here = held.enter_context(program(NEAR, *near))
    time.sleep(2)
    return Tunnel(here.pid, there.pid)


def fetch(held: ExitStack, folder: Path, both: Tunnel, megabytes: int) -> None:
    """curl fetches a file through SOCKS5."""
    data = random.Random(1).randbytes(megabytes * 1_000_000)
    (folder / "file").write_bytes(data)
    serving = [sys.executable, "-m", "http.server", "8080", "--directory", str(folder)]
    held.enter_context(program(FAR, *serving))
    time.sleep(1)
    fetched, url = folder / "fetched", "http://127.0.0.1:8080/file"
    before, began = both.used_s(), time.monotonic()
    run(f"curl -sS --proxy socks5h://127.0.0.1:1080 -o {fetched} {url}", NEAR)
    took = time.monotonic() - began
    same = hashlib.sha256(fetched.read_bytes()).digest() == hashlib.sha256(data).digest()
    print(f"curl: {took:.2f} s, {8 * megabytes / took:.1f} Mb/s, the same bytes: {same}")
    both.tell("far", before, len(data), took)


def iperf3(held: ExitStack, both: Tunnel, seconds: int) -> None:
    """iperf3 sends through a forward, once in each direction."""
    held.enter_context(program(FAR, "iperf3", "--server", "--bind", "127.0.0.1"))
    time.sleep(1)
    for sends, words in (("near", ""), ("far", "--reverse")):
        before = both.used_s()
        said = run(f"iperf3 --client 127.0.0.1 --time {seconds} --json {words}", NEAR)
        received = json.loads(said)["end"]["sum_received"]
        size, took = received["bytes"], received["seconds"]
        print(f"iperf3 {words or '--client'}: {8 * size / took / 1e6:.1f} Mb/s over {took:.1f} s")
        both.tell(sends, before, size, took)


def main() -> None:
    """Measures once."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--megabytes", type=int, default=100)
    words.add_argument("--iperf3", type=int, metavar="SECONDS", help="iperf3 in place of curl")
    words.add_argument("--rate", default="100 Mb/s")
    words.add_argument("--over", default="udp", choices=["udp", "mptcp"])
    words.add_argument("--down", help="seconds, such as 3,9")
    chosen = words.parse_args()
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        held.enter_context(namespaces())
        options = ["--over", chosen.over, "--rate", chosen.rate]
        both = tunnel(held, folder, options, OFFERS["iperf3" if chosen.iperf3 else "curl"])
        if chosen.down:
            times = [float(word) for word in chosen.down.split(",")]
            threading.Thread(target=interrupt, args=times, daemon=True).start()
        if chosen.iperf3:
            iperf3(held, both, chosen.iperf3)
        else:
            fetch(held, folder, both, chosen.megabytes)


if __name__ == "__main__":
    main()
