"""What happened at each acknowledgement of a small run, read from its qlog."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from ...scenario import Scenario
from ..library import Floats
from ..logs import Event, traced

FOLDER = Path(__file__).parent


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
    numbers: dict[int, int] = field(default_factory=dict)
    offsets: dict[int, int] = field(default_factory=dict)
    acked: set[int] = field(default_factory=set)

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
def logged(name: str, controller: str) -> Log:
    """The log of the connection of a scenario of this folder, run with seed 1."""
    scenario = Scenario.parse((FOLDER / f"{name}.toml").read_text(encoding="utf-8"), name)
    result, traces = traced(scenario, "user", controller=controller)
    (own,) = result.plan.classes
    timed = (
        [(event["time"] / 1e3, number, event) for event in events]
        for number, events in enumerate(traces)
    )
    merged = list(heapq.merge(*timed, key=lambda one: one[:2]))
    return _read(merged, [_Path() for _ in own.paths], own.payload_bytes)


def _read(events: Sequence[tuple[float, int, Event]], paths: list[_Path], payload: int) -> Log:
    """Events in the order of time, each with its path, as moments and losses."""
    moments: list[Moment] = []
    losses: list[Loss] = []
    for place, (t_s, number, event) in enumerate(events):
        path, data = paths[number], event["data"]
        match event["name"]:
            case "transport:packet_sent":  # a retransmission keeps the number of its data
                offset = data["frames"][0]["offset"]
                packet = data["header"]["packet_number"]
                path.numbers[packet] = path.offsets.setdefault(offset, len(path.offsets))
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
                    own = (t_s, number, more, path.una, sent, path.last_s)
                    moments.append(Moment(*own, before, path.window, srtts, avoids))
                elif path.window < before[number]:
                    losses.append(Loss(t_s, number, before[number], path.window))
            case "recovery:metrics_updated":
                path.take(data, payload)
            case "recovery:congestion_state_updated":
                path.state = data["new"]
    return Log(tuple(moments), tuple(losses))
