"""Reno in our shell beside the kernel's own, event by event: losses, losses that were none,
reordering.

What befalls a packet hangs on the order of packets and hardly on time: so the windows are the same,
and not only alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from beside import AT_ONCE, SHELL, Connection, both, clean, repeated
from relay import MTU, Data, Fate

from anabranch.linux.tcp_info import TcpInfo

pytestmark = pytest.mark.usefixtures("kernel", "controllers")

SEGMENT = MTU - 52
"""Bytes."""

LOST = (30, 330, 900, 1100, 1102, 2000, 2300, 3300)
"""Segments of the stream; two of them in one window, so that there is one congestion event less."""

UNDOS = ("TCPTimeouts", "TCPSpuriousRTOs", "TCPLossUndo", "TCPFullUndo", "TCPDSACKUndo")
UNTIMED = {"net.ipv4.tcp_timestamps": "0"}
"""Then a spurious timeout shows in what is acknowledged after it (F-RTO, RFC 5682)."""


@dataclass
class Losses:
    """Drops what is `LOST`, and keeps the threshold at each repetition."""

    made: Connection | None = None
    thresholds: list[float] = field(default_factory=list)

    def __call__(self, data: Data) -> Fate:
        if data.again and self.made:
            self.thresholds.append(self.made.info().ssthresh_segments)
        lost = data.begin // SEGMENT in LOST and not data.again
        return Fate.DROP if lost else Fate.PASS


@dataclass
class Spurious:
    """Drops one segment early, and lets another fate befall a next one when it is asked to."""

    fate: Fate
    armed: bool = False
    befell: list[tuple[TcpInfo, TcpInfo]] = field(default_factory=list)
    """Before and after each event."""

    def __call__(self, data: Data) -> Fate:
        if self.armed and not data.again:
            self.armed = False
            return self.fate
        return Fate.DROP if data.number == 30 else Fate.PASS

    def use(self, made: Connection) -> None:
        """Two events in congestion avoidance."""
        made.burst(400)
        for _ in range(2):
            before, self.armed = made.info(), True
            self.befell.append((before, made.burst(before.cwnd_segments + 6)))


@pytest.mark.parametrize("law", [SHELL, "lia"])
@repeated
def test_on_one_path_each_loss_sets_the_threshold_that_the_kernels_own_sets(law: str) -> None:
    courses: list[Losses] = []

    def fate() -> Losses:
        courses.append(Losses())
        return courses[-1]

    def use(made: Connection) -> None:
        courses[-1].made = made
        made.burst(LOST[-1] + 100)

    *_, counters = both(fate, use, (), AT_ONCE, law=law)
    own, ours = (course.thresholds for course in courses)
    assert len(own) == len(LOST) and max(own) - min(own) > 5
    assert ours == pytest.approx(own, abs=1)  # which ACK comes first decides about one segment
    assert counters["losses"] == len(LOST) - 1
    assert counters["coupled"] == 0
    clean(counters)


@pytest.mark.parametrize(
    ("fate", "chosen", "undone"),
    [
        (Fate.STALL, {}, {"TCPTimeouts": 2, "TCPLossUndo": 2}),
        (Fate.STALL, UNTIMED, {"TCPTimeouts": 2, "TCPLossUndo": 2, "TCPSpuriousRTOs": 2}),
        (Fate.AHEAD, AT_ONCE, {"TCPFullUndo": 2}),
        (Fate.BEHIND, AT_ONCE, {"TCPDSACKUndo": 2}),
    ],
)
@repeated
def test_a_loss_that_was_none_leaves_the_window_and_the_threshold_that_were(
    fate: Fate, chosen: Mapping[str, str], undone: dict[str, int]
) -> None:
    course = Spurious(fate)
    own, ours, counters = both(lambda: course, course.use, UNDOS, chosen)
    for seen in (own, ours):
        assert seen.counters == dict.fromkeys(UNDOS, 0) | undone
    for before, after in course.befell:
        window = before.cwnd_segments
        assert window <= after.cwnd_segments <= window + 1
        # What the kernel keeps as the threshold of an open window (tcp_current_ssthresh).
        assert after.ssthresh_segments == max(before.ssthresh_segments, window // 2 + window // 4)
    windows = [after.cwnd_segments for _, after in course.befell]
    assert windows[:2] == windows[2:]
    assert counters["losses"] == 3
    clean(counters)


@pytest.mark.parametrize(("allowed", "window"), [("3", 180), ("100", 120)])
@repeated
def test_deliveries_out_of_order_raise_the_window_where_they_raise_the_kernels_own(
    allowed: str, window: int
) -> None:
    windows: list[int] = []

    def fate(data: Data) -> Fate:
        return Fate.OVERTAKEN if data.number % 16 == 12 else Fate.PASS

    chosen = AT_ONCE | {"net.ipv4.tcp_reordering": allowed}
    *_, counters = both(
        lambda: fate,
        lambda made: windows.append(made.burst(200).cwnd_segments),
        (),
        chosen,
        delay_s=0.02,  # RACK waits for a quarter of a round trip
    )
    assert windows == pytest.approx([window, window], rel=0.1)
    clean(counters)
