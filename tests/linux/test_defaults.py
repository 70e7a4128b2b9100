"""The shell on the settings that a kernel comes with: restart after idle time, tail loss probes, ECN.
The testbed switches them off, an operator's machine has them. Beside it always the kernel's own Reno."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

import numpy as np
import pytest
from relay import MTU, RECEIVER, SENDER, Data, Fate, Relay

from anabranch.linux.controllers import attached
from anabranch.linux.sockets import abort
from anabranch.linux.tcp_info import TcpInfo, tcp_info

pytestmark = pytest.mark.usefixtures("kernel", "controllers")

SHELL = "kernel:reno"
INITIAL = 10
"""Segments of an initial window (RFC 6928)."""


@dataclass
class Connection:
    """A TCP connection over the relay, and what was seen of its sender."""

    relay: Relay
    sender: socket.socket
    receiver: socket.socket
    received: int = 0
    windows: list[int] = field(default_factory=list)
    quiet_s: float = 0
    """How long nothing had come when the last use ended."""

    def info(self) -> TcpInfo:
        return tcp_info(self.sender)

    def feed(self, seconds: float, most: int = 1 << 62) -> None:
        """Sends up to `most` bytes, reads all there are, and looks at the window."""
        begun = last = time.monotonic()
        while time.monotonic() < begun + seconds:
            with suppress(BlockingIOError):
                while most:
                    most -= self.sender.send(bytes(min(most, 1 << 15)))
            with suppress(BlockingIOError):
                while data := self.receiver.recv(1 << 20):
                    self.received += len(data)
                    last = time.monotonic()
            self.windows.append(self.info().cwnd_segments)
            time.sleep(0.002)
        self.quiet_s = time.monotonic() - last


@contextmanager
def connection(controller: str, fate: Callable[[Data], Fate]) -> Iterator[Connection]:
    """A connection of its own, under a controller as the kernel names it."""
    with ExitStack() as stack:
        relay = Relay(fate)
        stack.callback(relay.close)
        with relay.receiver.inside():
            server = socket.socket()
        with relay.sender.inside():
            sender = socket.socket()
        stack.callback(abort, server)
        stack.callback(abort, sender)
        server.bind((RECEIVER, 9000))
        server.listen(1)
        sender.bind((SENDER, 0))
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, controller.encode())
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sender.connect((RECEIVER, 9000))
        receiver, _ = server.accept()
        stack.callback(abort, receiver)
        for end in (sender, receiver):
            end.setblocking(False)
        yield Connection(relay, sender, receiver)


@dataclass
class Seen:
    """What one controller did."""

    counters: dict[str, int]
    mean_window: float
    received: int
    retransmits: int


def both(
    fate: Callable[[], Callable[[Data], Fate]],
    use: Callable[[Connection], None],
    names: tuple[str, ...],
) -> tuple[Seen, Seen, dict[str, int]]:
    """The same use under the kernel's Reno and under the one in our shell; the kernel's counters `names` of
    each, and those of the shell."""
    seen = []
    with attached([SHELL]) as there:
        for controller in ("reno", there.kernel_name(SHELL)):
            with connection(controller, fate()) as made:
                use(made)
                counters = {name: made.relay.counter(name) for name in names}
                window = float(np.mean(made.windows))
                lost = made.info().total_retransmits
                seen.append(Seen(counters, window, made.received, lost))
        return seen[0], seen[1], there.counters()["reno"]


def clean(counters: dict[str, int]) -> None:
    """No callback was missed, so nothing is to be repaired: a repair would be a misjudgement of the shell."""
    assert counters["acks"] > 20
    assert {k: counters[k] for k in ("missed", "mismatches", "repairs")} == {
        "missed": 0,
        "mismatches": 0,
        "repairs": 0,
    }


def test_a_window_decays_in_an_idle_time_as_the_kernels_own_does() -> None:
    seen = []

    def use(made: Connection) -> None:
        made.feed(0.25, most=200_000)
        before, paused = made.info(), time.monotonic()
        time.sleep(0.35)
        idle = (time.monotonic() - paused + made.quiet_s) / before.rto_s
        made.feed(0.004, most=100)
        seen.append((before.cwnd_segments, idle, made.info()))

    *_, counters = both(lambda: lambda _: Fate.PASS, use, ())
    for before, idle, after in seen:
        assert before > 4 * INITIAL and 2 < idle < 4
        decayed = {max(before >> int(halvings), INITIAL) for halvings in (idle - 0.1, idle + 0.2)}
        assert after.cwnd_segments in decayed
        assert after.ssthresh_segments in (before // 2 + before // 4, np.inf)
    assert seen[0][2].ssthresh_segments == seen[1][2].ssthresh_segments
    clean(counters)


def test_marks_reduce_the_window_as_the_kernels_own() -> None:
    def fate() -> Callable[[Data], Fate]:
        return lambda data: Fate.MARK if data.number % 100 == 99 else Fate.PASS

    names = ("TCPDeliveredCE",)
    own, ours, counters = both(fate, lambda made: made.feed(4), names)
    for seen in (own, ours):
        assert seen.retransmits == 0 and seen.counters["TCPDeliveredCE"] > 15
    assert counters["losses"] > 15
    assert ours.mean_window == pytest.approx(own.mean_window, rel=0.2)
    clean(counters)


def test_a_lost_tail_is_probed_and_reduces_the_window_as_the_kernels_own() -> None:
    bursts, size = 14, 8 * (MTU - 52)

    def fate() -> Callable[[Data], Fate]:
        return lambda d: Fate.DROP if d.end % (2 * size) == 0 and not d.again else Fate.PASS

    def use(made: Connection) -> None:
        for _ in range(bursts):
            made.feed(
                0.35, most=size
            )  # one segment alone is probed after 0.2 s and two round trips

    names = ("TCPLossProbes", "TCPLossProbeRecovery")
    own, ours, counters = both(fate, use, names)
    for seen in (own, ours):
        assert seen.received == bursts * size
        assert seen.counters["TCPLossProbeRecovery"] >= bursts // 2 - 2
    assert counters["losses"] >= bursts // 2 - 2
    assert ours.mean_window == pytest.approx(own.mean_window, rel=0.2)
    clean(counters)
