"""The shell on the settings that a kernel comes with: restart after idle time, tail loss probes,
ECN. The testbed switches them off, an operator's machine has them. Beside it always the kernel's
own Reno."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from beside import Connection, both, clean, repeated
from relay import MTU, Data, Fate

pytestmark = pytest.mark.usefixtures("kernel", "controllers")

INITIAL = 10
"""Segments of an initial window (RFC 6928)."""


@repeated
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


@repeated
def test_marks_reduce_the_window_as_the_kernels_own() -> None:
    def fate() -> Callable[[Data], Fate]:
        return lambda data: Fate.MARK if data.number % 100 == 99 else Fate.PASS

    names = ("TCPDeliveredCE",)
    own, ours, counters = both(fate, lambda made: made.feed(4), names)
    for seen in (own, ours):
        assert seen.counters["TCPDeliveredCE"] > 15
        assert seen.retransmits < 5  # nothing is lost; on a busy machine something may be late
    assert counters["losses"] > 15
    assert ours.mean_window == pytest.approx(own.mean_window, rel=0.2)
    clean(counters)


@repeated
def test_a_lost_tail_is_probed_and_reduces_the_window_as_the_kernels_own() -> None:
    bursts, size = 14, 8 * (MTU - 52)

    def fate() -> Callable[[Data], Fate]:
        return lambda d: Fate.DROP if d.end % (2 * size) == 0 and not d.again else Fate.PASS

    def use(made: Connection) -> None:
        for _ in range(bursts):  # one segment alone is probed after 0.2 s and two round trips
            made.feed(0.35, most=size)
        made.burst(0)

    names = ("TCPLossProbes", "TCPLossProbeRecovery")
    own, ours, counters = both(fate, use, names)
    for seen in (own, ours):
        assert seen.received == bursts * size
        assert seen.counters["TCPLossProbeRecovery"] >= bursts // 2 - 2
    assert counters["losses"] >= bursts // 2 - 2
    assert ours.mean_window == pytest.approx(own.mean_window, rel=0.2)
    clean(counters)
