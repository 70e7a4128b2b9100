"""A TCP connection over the relay under the kernel's own Reno, and the same one under a controller
of ours: for a connection with one path that is Reno in our shell."""

from __future__ import annotations

import functools
import socket
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import ParamSpec

import numpy as np
from relay import DEFAULTS, DELAY_S, RECEIVER, SENDER, Data, Fate, Relay

from anabranch.linux.controllers import attached, law_of
from anabranch.linux.sockets import abort
from anabranch.linux.tcp_info import TcpInfo, tcp_info

P = ParamSpec("P")

SHELL = "kernel:reno"

LARGE = 6 * 2**20
AT_ONCE = {
    "net.ipv4.tcp_rmem": f"4096 {LARGE} {LARGE}",
    "net.ipv4.tcp_wmem": f"4096 {LARGE} {LARGE}",
    "net.ipv4.tcp_rto_min_us": "1000000",
}
"""All of a burst fits the buffers, and a relay that does not get to run is no timeout: what happens
is then the order of packets alone, and a busy machine changes none of it."""

SETTLED_S = 0.1
"""After the last acknowledgement: so late may come what the receiver says of a second copy."""


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

    def feed(self, seconds: float, most: int = 1 << 62) -> int:
        """Sends up to `most` bytes, reads all there are, and looks at the window; how many were not
        sent.
        """
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
        return most

    def burst(self, segments: int, within_s: float = 10) -> TcpInfo:
        """Sends so many segments, and returns when all are acknowledged and a while has passed."""
        unsent = segments * self.info().mss_bytes
        whole, limit = self.received + unsent, time.monotonic() + within_s
        while (self.received < whole or self.info().unacked) and time.monotonic() < limit:
            unsent = self.feed(0.01, unsent)
        self.feed(SETTLED_S, 0)
        return self.info()


@contextmanager
def connection(
    controller: str,
    fate: Callable[[Data], Fate],
    chosen: Mapping[str, str] = DEFAULTS,
    delay_s: float = DELAY_S,
) -> Iterator[Connection]:
    """A connection of its own, under a controller as the kernel names it."""
    with ExitStack() as stack:
        relay = Relay(fate, chosen, delay_s)
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


class Unasked(AssertionError):
    """The kernel has not made a callback."""


def repeated(test: Callable[P, None]) -> Callable[P, None]:
    """Tries a test again when a callback was not made, as happens by chance on some machines
    (docs/explanation/linux.md): not three times in a row."""

    @functools.wraps(test)
    def tried(*arguments: P.args, **named: P.kwargs) -> None:
        for _ in range(2):
            try:
                return test(*arguments, **named)
            except Unasked as unasked:
                warnings.warn(f"tried again: {unasked}", stacklevel=2)
        return test(*arguments, **named)

    return tried


def both(
    fate: Callable[[], Callable[[Data], Fate]],
    use: Callable[[Connection], None],
    names: tuple[str, ...],
    chosen: Mapping[str, str] = DEFAULTS,
    delay_s: float = DELAY_S,
    law: str = SHELL,
    own: str = "reno",
) -> tuple[Seen, Seen, dict[str, int]]:
    """The same use under a controller of the kernel's own and under one of ours; the kernel's
    counters `names` of each, and those of the controller. Raises Unasked."""
    seen = []
    with attached([law]) as there:
        for controller in (own, there.kernel_name(law)):
            with connection(controller, fate(), chosen, delay_s) as made:
                use(made)
                counters = {name: made.relay.counter(name) for name in names}
                copies = made.relay.counter("TCPDSACKRecv")
                window = float(np.mean(made.windows))
                lost = made.info().total_retransmits
                seen.append(Seen(counters, window, made.received, lost))
        counted = there.counters()[law_of(law)]
    # A state that changed unseen is one that was not told. And an ACK that only tells of a second
    # copy is for no controller while nothing is under way.
    if counted["mismatches"] or counted["missed"] > copies:
        raise Unasked(str(counted))
    return seen[0], seen[1], counted


def clean(counters: dict[str, int]) -> None:
    """No callback was missed, so nothing is to be repaired: a repair would be a misjudgement of the
    shell.
    """
    assert counters["acks"] > 20
    assert counters["mismatches"] == counters["repairs"] == 0
