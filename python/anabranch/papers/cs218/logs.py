"""Events at each acknowledgement of a small run, read from its qlog, and the values of a formula
for the same ones.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...result import Recording, run
from ...scenario import Scenario

Floats = NDArray[np.float64]

BYTE = 1 / 1448
"""One byte in segments: windows are logged in whole bytes."""


@dataclass(frozen=True)
class Moment:
    """An acknowledgement of new data; windows in segments, times in seconds."""

    t_s: float
    path: int
    segments: int
    """Number of segments that it newly acknowledges."""
    una: int
    nxt: int
    """Segments of the path that are acknowledged, and that had been sent before it came."""
    last_s: float
    """The round trip that it measured."""
    before: Floats
    """Windows of all paths when it came."""
    after: float
    """The window of its path then."""
    srtts_s: Floats
    """Smoothed RTTs of all paths; that of its own path includes this sample; zero before
    the first.
    """
    avoids: bool
    """Whether the path was in congestion avoidance, and the window not below ssthresh."""


@dataclass(frozen=True)
class Loss:
    """A congestion event: its path and the window before and after, in segments."""

    t_s: float
    path: int
    before: float
    after: float


@dataclass(frozen=True)
class Log:
    """All that happened to the paths of a connection, in the order of time."""

    moments: tuple[Moment, ...]
    losses: tuple[Loss, ...]


@dataclass
class _Path:
    """State of a path while its log is read."""

    window: float = 0.0
    ssthresh: float = np.inf
    srtt_s: float = 0.0
    last_s: float = 0.0
    state: str = ""
    una: int = 0

    def __post_init__(self) -> None:
        """Nothing was sent yet."""
        self.numbers: dict[int, int] = {}
        self.offsets: dict[int, int] = {}
        self.acked: set[int] = set()

    def send(self, packet: int, offset: int) -> None:
        """Records a sent packet; a retransmission keeps the number of its data."""
        self.numbers[packet] = self.offsets.setdefault(offset, len(self.offsets))

    def acknowledge(self, ranges: Sequence[Sequence[int]]) -> int:
        """Number of segments by which the cumulative acknowledgement advances."""
        for first, last in ranges:
            self.acked.update(self.numbers[packet] for packet in range(first, last + 1))
        before = self.una
        while self.una in self.acked:
            self.una += 1
        return self.una - before

    def take(self, metrics: Mapping[str, float], payload: int) -> None:
        """Metrics as they are from now on."""
        self.window = metrics.get("congestion_window", self.window * payload) / payload
        self.srtt_s = metrics.get("smoothed_rtt", self.srtt_s * 1e3) / 1e3
        self.last_s = metrics.get("latest_rtt", self.last_s * 1e3) / 1e3
        self.ssthresh = metrics.get("ssthresh", self.ssthresh * payload) / payload


@cache
def logged(text: str, controller: str, name: str = "user") -> Log:
    """A run of a scenario with seed 1, and the events on the paths of the first user of a class."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.qlog"
        scenario = Scenario.parse(text, "small")
        result = run(scenario, (1,), controller=controller, recording=Recording(qlog=file))
        traces = json.loads(file.read_text())["traces"]
    payload = next(c.payload_bytes for c in result.plan.classes if c.name == name)
    own = [trace for trace in traces if trace["title"].startswith(f"{name}.0.")]
    events = [
        (event["time"], number, place, event)
        for number, trace in enumerate(own)
        for place, event in enumerate(trace["events"])
    ]
    events.sort(key=lambda entry: entry[:3])
    ordered = [(time / 1e3, number, event) for time, number, _, event in events]
    return _read(ordered, [_Path() for _ in own], payload)


def _read(
    events: Sequence[tuple[float, int, dict[str, Any]]], paths: list[_Path], payload: int
) -> Log:
    """Events in the order of time, each with its path, as moments and losses."""
    moments: list[Moment] = []
    losses: list[Loss] = []
    for place, (t_s, number, event) in enumerate(events):
        path, data = paths[number], event["data"]
        match event["name"]:
            case "transport:packet_sent":
                path.send(data["header"]["packet_number"], data["frames"][0]["offset"])
            case "transport:packet_received":
                before, sent = np.array([p.window for p in paths]), len(path.offsets)
                avoids = path.state == "congestion_avoidance" and path.window >= path.ssthresh
                frames = data.get("frames", [{"acked_ranges": []}])  # none where nothing is new
                more = path.acknowledge(frames[0]["acked_ranges"])
                follows = events[place + 1] if place + 1 < len(events) else None
                if follows and follows[1] == number and "metrics" in follows[2]["name"]:
                    path.take(follows[2]["data"], payload)
                srtts = np.array([p.srtt_s for p in paths])
                if more:
                    moments.append(
                        Moment(
                            t_s, number, more, path.una, sent, path.last_s,
                            before, path.window, srtts, avoids,
                        )
                    )  # fmt: skip
                elif path.window < before[number]:
                    losses.append(Loss(t_s, number, before[number], path.window))
            case "recovery:metrics_updated":
                path.take(data, payload)
            case "recovery:congestion_state_updated":
                path.state = data["new"]
    return Log(tuple(moments), tuple(losses))


GAMMA, LOW_WINDOW = 30, 38
"""Compound TCP: packets in the queue that are too many, and the window from which on it gains."""

Increment = Callable[[int, Floats, Floats, float], float]
"""Arguments: a path, all windows, all smoothed RTTs and `DWND/α`. Returns the growth per segment,
in segments.
"""


def linked(windows: Floats, srtts_s: Floats) -> float:
    """α/w_tot of equation (1) of the report."""
    known = srtts_s > 0
    x = windows[known] / srtts_s[known]
    return float((x / srtts_s[known]).max() / x.sum() ** 2)


def lia(path: int, windows: Floats, srtts_s: Floats, boost: float) -> float:
    """Equation (2): nothing is boosted."""
    return min(linked(windows, srtts_s), 1 / float(windows[path]))


def twice(path: int, windows: Floats, srtts_s: Floats, boost: float) -> float:
    """Twice the amount of RTT Compensator: its increment times 1 + DWND/α."""
    return (1 + boost) * lia(path, windows, srtts_s, boost)


def capped(path: int, windows: Floats, srtts_s: Floats, boost: float) -> float:
    """α + DWND in the place of α inside the minimum."""
    return min((1 + boost) * linked(windows, srtts_s), 1 / float(windows[path]))


@dataclass(frozen=True)
class Step:
    """An acknowledgement in congestion avoidance: the growth of the window, and its growth by a
    formula.
    """

    moment: Moment
    count: int
    """`ackCount` with it."""
    boost: float
    """`DWND/α`: bestRTT/lastRTT, at most 1, or nothing up to the threshold."""
    grown: float
    expected: float

    @property
    def off(self) -> float:
        """By how much it grew otherwise, in segments."""
        return self.grown - self.expected


def replayed(log: Log, increment: Increment, threshold: int = 5) -> list[Step]:
    """The pseudo code of Section 3.2.3 at each acknowledgement of a log; a path that is alone is a
    TCP.
    """
    paths = {m.path for m in log.moments}
    counts, best = dict.fromkeys(paths, 0), dict.fromkeys(paths, np.inf)
    losses = list(log.losses)
    found = []
    for m in log.moments:
        while losses and losses[0].t_s <= m.t_s:
            counts[losses.pop(0).path] = 0
        counts[m.path] += 1
        boost = min(1.0, best[m.path] / m.last_s) if counts[m.path] > threshold else 0.0
        best[m.path] = min(best[m.path], m.last_s)
        if m.avoids:
            alone = (m.srtts_s > 0).sum() < 2
            rule = lia if alone else increment
            expected = m.segments * rule(m.path, m.before, m.srtts_s, boost)
            grown = m.after - m.before[m.path]
            found.append(Step(m, counts[m.path], boost, float(grown), expected))
    return found


@dataclass(frozen=True)
class Sum:
    """Compound TCP's two windows after an acknowledgement, in segments, with the logged one."""

    t_s: float
    cwnd: float
    dwnd: float
    logged: float


def compound(log: Log) -> list[Sum]:
    """Tan et al., INFOCOM 2006, at each acknowledgement of a log of one path without a loss.

    α = 1/8, k = 3/4, ζ = 1, γ = 30 packets; `dwnd` does not grow in windows below 38.
    """
    base, cwnd, dwnd, end = np.inf, 0.0, 0.0, 0
    samples: list[float] = []
    found = []
    for m in log.moments:
        base = min(base, m.last_s)
        samples.append(m.last_s)
        cwnd = cwnd + m.segments / (cwnd + dwnd) if m.avoids else m.after
        if m.una >= end:
            win = cwnd + dwnd
            diff = win * (1 - base / float(np.mean(samples)))
            if m.avoids and diff >= GAMMA:
                dwnd = max(dwnd - diff, 0.0)
            elif m.avoids and win >= LOW_WINDOW:
                dwnd += max(win**0.75 / 8 - 1, 0.0)
            samples, end = [], m.nxt
        if m.avoids:
            found.append(Sum(m.t_s, cwnd, dwnd, m.after))
    return found
