"""A sender with one segment in a round trip, against the receiver of the real kernel: the timer of
its delayed ACK grows and stops as `transport.delayed_ack = "linux"` says
(crates/transport/src/tcp/linux_ack.rs).
"""

from __future__ import annotations

import fcntl
import socket
import struct
import termios
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import takewhile
from statistics import median

import pytest
from relay import DEFAULTS, RECEIVER, Fate, Relay

pytestmark = pytest.mark.usefixtures("kernel")

PORT = 9000
QUICK_MS = 20.0
"""Half of the shortest timer: less is an ACK at once."""
LATE_MS = 25.0
"""What clock ticks, the wire and a busy machine add to a timer."""
ATTEMPTS = 3
"""A busy machine delays single packets, and no attempt with a late one counts."""
SEGMENTS = 70
"""The window has grown after some 30, and the timer after five more."""
CASES = {"fast": (100, False), "slow": (240, False), "pushed": (100, True)}
"""Round trip in milliseconds, and whether segments have PSH."""
TIMERS_MS = {"fast": (40, 80, 100), "slow": (40, 80, 160, 200)}


def unacknowledged(sender: socket.socket) -> int:
    """Bytes that have not been acknowledged."""
    (count,) = struct.unpack("i", fcntl.ioctl(sender.fileno(), termios.TIOCOUTQ, bytes(4)))
    return int(count)


def waits_ms(delay_s: float, *, push: bool) -> list[float]:
    """How much longer than the wire each of some full segments has waited for its ACK, when the
    next one is sent only then.
    """
    fixed = DEFAULTS | {"net.ipv4.tcp_moderate_rcvbuf": "0"}  # a buffer whose window stops growing
    found = []
    with closing(Relay(lambda _: Fate.PASS, fixed, delay_s)) as relay:
        with relay.receiver.inside():
            server = socket.create_server((RECEIVER, PORT))
        with relay.sender.inside():
            sender = socket.socket()
        with server, sender:
            sender.connect((RECEIVER, PORT))
            accepted, _ = server.accept()
            reader = threading.Thread(target=read_all, args=(accepted,), daemon=True)
            reader.start()
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            segment = bytes(sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG))
            for _ in range(SEGMENTS):
                begin = time.monotonic()
                sender.send(segment, 0 if push else socket.MSG_MORE)
                while unacknowledged(sender):
                    time.sleep(0.0005)
                found.append(1e3 * (time.monotonic() - begin - 2 * delay_s))
        reader.join()
    return found


def read_all(accepted: socket.socket) -> None:
    """An application that reads at once."""
    with accepted:
        while accepted.recv(1 << 16):
            pass


def follows(waits: list[float], timers_ms: tuple[int, ...]) -> bool:
    """Whether ACKs are quick at first, while the window grows, and then wait for these timers."""
    at_once = list(takewhile(lambda wait: wait < QUICK_MS, waits))
    # A sender marks a segment with PSH now and then all the same, and its ACK comes at once.
    timed = [wait for wait in waits if wait >= QUICK_MS]
    first, grown = timed[: len(timers_ms)], timed[len(timers_ms) :]
    return (
        8 <= len(at_once) <= 40
        and len(grown) > 20
        and all(within(wait, timer) for wait, timer in zip(first, timers_ms, strict=True))
        and within(median(grown), timers_ms[-1])
    )


def within(wait_ms: float, timer_ms: int) -> bool:
    return timer_ms - 1 < wait_ms < timer_ms + LATE_MS


@pytest.fixture(scope="module")
def waits(kernel: None) -> dict[str, list[float]]:
    """The waits of each case. Connections mostly wait, so that all are there at once."""
    with ThreadPoolExecutor(len(CASES)) as pool:
        begun = {
            case: pool.submit(waits_ms, rtt_ms / 2e3, push=push)
            for case, (rtt_ms, push) in CASES.items()
        }
        return {case: one.result() for case, one in begun.items()}


@pytest.mark.parametrize("case", TIMERS_MS)
def test_the_wait_of_a_lone_segment_doubles_from_40_ms_to_the_handshakes_round_trip_or_200_ms(
    case: str, waits: dict[str, list[float]]
) -> None:
    rtt_ms, push = CASES[case]
    tried = [waits[case]]
    while not follows(tried[-1], TIMERS_MS[case]):
        assert len(tried) < ATTEMPTS, tried
        tried.append(waits_ms(rtt_ms / 2e3, push=push))


def test_a_full_segment_with_psh_is_acknowledged_at_once_when_all_has_been_read(
    waits: dict[str, list[float]],
) -> None:
    assert median(waits["pushed"]) < QUICK_MS, waits["pushed"]
