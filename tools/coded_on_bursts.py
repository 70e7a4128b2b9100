"""Measures coded paths under Couple+ beside LIA, over two links that lose packets in bursts.

    python tools/coded_on_bursts.py [--loss 0.01] [--burst 4] [--seconds 40] [--repeat 5]

Each link has 8 Mb/s, 20 ms and 50 packets of queue, and is emulated. One connection sends without
end: through `anabranch tunnel` with coded paths under Couple+, through it uncoded under LIA, and
over the kernel's MPTCP under LIA. It prints what the application received after ten seconds, with
95 % intervals. It needs root, and leaves nothing.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pyroute2 import IPRoute

from anabranch import linux
from anabranch.linux.emulation import Emulation
from anabranch.linux.namespace import Namespace
from anabranch.linux.wiring import FIRST_PORT, Network, receiver_address, sender_address
from anabranch.scenario import Scenario
from anabranch.statistics import interval

WARMUP_S = 10
SINK, ENTRY = 9000, 9001
"""Ports of the application's receiver, and of the tunnel's forward to it."""
PATIENCE_S = 20
TUNNELS = {
    "coded, Couple+, tunnel": ("--controller=couple+",),
    "uncoded, LIA, tunnel": ("--controller=lia", "--uncoded"),
}
KERNEL = "uncoded, LIA, kernel's MPTCP"
CHUNK = bytes(65_536)


def scenario(loss: float, burst: float, seconds: float) -> Scenario:
    """Two links that lose packets, and way back over links that lose none."""
    lossy = f"loss = {{ probability = {loss}, burst = {burst} }}\n" if loss else ""
    parts = [f'name = "bursts"\nduration = "{seconds + WARMUP_S} s"\nwarmup = "{WARMUP_S} s"\n']
    for side in ("left", "right"):
        for name, more in ((side, lossy), (f"{side}-back", "")):
            parts.append(
                f'[[link]]\nname = "{name}"\nrate = "8 Mb/s"\ndelay = "20 ms"\n'
                f'queue = {{ droptail = {{ packets = "50 packets" }} }}\n{more}'
            )
    ways = ", ".join(f'{{ links = ["{s}"], back = ["{s}-back"] }}' for s in ("left", "right"))
    parts.append(f'[[flow]]\nname = "user"\ncontroller = "lia"\npath = [{ways}]\n')
    return Scenario.parse("".join(parts), "bursts")


@contextmanager
def network(of: Scenario, seed: int) -> Iterator[Network]:
    """The emulated links between two namespaces, while the block runs."""
    with Network(of.plan()) as made:
        for side in made.sides:
            with side.namespace.inside(), IPRoute() as route:
                (lo,) = route.link_lookup(ifname="lo")
                route.link("set", index=lo, state="up")
        emulation = Emulation(of, made, seed=seed, overrides=[], controller=None)
        try:
            emulation.start(of.plan().duration_s + 2 * PATIENCE_S)
            yield made
        finally:
            emulation.stop()


class Sink:
    """The application's receiver: it counts."""

    def __init__(self, namespace: Namespace) -> None:
        """Listens."""
        self.received = 0
        with namespace.inside():
            self.listener = socket.create_server(("127.0.0.1", SINK))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                stream, _ = self.listener.accept()
                with stream:
                    while part := stream.recv(len(CHUNK)):
                        self.received += len(part)


def send(namespace: Namespace, until: Callable[[], bool]) -> None:
    """Sends into the tunnel's forward, as soon as that takes connections."""
    while not until():
        with suppress(OSError):
            with namespace.inside():
                stream = socket.create_connection(("127.0.0.1", ENTRY), timeout=PATIENCE_S)
            with stream:
                while not until():
                    stream.sendall(CHUNK)
        time.sleep(0.2)


def through_tunnel(of: Scenario, seed: int, options: tuple[str, ...]) -> float:
    """Mb/s that the application received."""
    anabranch = [str(Path(sys.executable).with_name("anabranch")), "tunnel"]
    seconds = of.plan().duration_s - WARMUP_S
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="anabranch-")))
        made = held.enter_context(network(of, seed))
        near, far = made.senders[0].namespace, made.receivers[0].namespace
        keys = {}
        for name in ("near", "far"):
            words = [*anabranch, "key", str(folder / name)]
            keys[name] = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        (folder / "peers").write_text(keys["near"])
        paths = range(2)
        listen = [f"--listen={receiver_address(0, path)}:{FIRST_PORT}" for path in paths]
        listen += ["--allow=127.0.0.1", f"--key={folder}/far", f"--peers={folder}/peers"]
        ends = [(sender_address(0, path), receiver_address(0, path)) for path in paths]
        connect = [f"--path={here}={there}:{FIRST_PORT}" for here, there in ends]
        connect += [f"--forward=127.0.0.1:{ENTRY}=127.0.0.1:{SINK}", f"--key={folder}/near"]
        connect += [f"--peer={keys['far'].strip()}"]
        sink = Sink(far)
        held.callback(sink.listener.close)
        for namespace, words in ((far, ["listen", *listen]), (near, ["connect", *connect])):
            with namespace.inside():
                quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
                process = subprocess.Popen([*anabranch, *words, *options], **quiet)
            held.callback(process.wait)
            held.callback(process.kill)
        over = threading.Event()
        held.callback(over.set)
        threading.Thread(target=send, args=(near, over.is_set), daemon=True).start()
        limit = time.monotonic() + PATIENCE_S
        while not sink.received:
            if time.monotonic() > limit:
                raise SystemExit(f"nothing arrived through the tunnel in {PATIENCE_S} s")
            time.sleep(0.05)
        time.sleep(WARMUP_S)
        first, began = sink.received, time.monotonic()
        time.sleep(seconds)
        return 8e-6 * (sink.received - first) / (time.monotonic() - began)


def over_kernel(of: Scenario, seed: int) -> float:
    """Mb/s that the application received."""
    (one,) = linux.run(of, [seed], controller="lia").runs
    return float(one.flows.goodput_bps[0]) / 1e6


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loss", type=float, default=0.01, help="part of the packets lost")
    parser.add_argument("--burst", type=float, default=4, help="mean packets of a burst")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    of = scenario(asked.loss, asked.burst, asked.seconds)
    ways: dict[str, Callable[[int], float]] = {
        name: lambda seed, options=options: through_tunnel(of, seed, options)  # type: ignore[misc]
        for name, options in TUNNELS.items()
    }
    ways[KERNEL] = lambda seed: over_kernel(of, seed)
    for name, measure in ways.items():
        found = interval([measure(seed) for seed in range(1, asked.repeat + 1)])
        print(f"{name}: {found.mean:.2f} ± {found.half:.2f} Mb/s", flush=True)


if __name__ == "__main__":
    main()
