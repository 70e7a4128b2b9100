"""Events of cells, and packets of small runs: what a coded path sends, and its feedback."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...result import Recording, Result
from ...runs import Run
from ...scenario import load
from ..library import Floats
from ..logs import Steps, steps, traced

CODED, ACKNOWLEDGEMENT = 0xC1, 0xC2
"""First bytes of what a coded path sends and gets."""
KEEP = 120
"""Bytes of each packet in a capture: all headers."""
BACK_S = 1.0
"""The oldest that a loss can be when the sender asks about it: the longest RTT with full queues."""


class Events(NamedTuple):
    """Events of one path of one run: time and kind, shape (events,) each; sorted by time."""

    t_s: Floats
    kind: NDArray[np.str_]

    def times(self, *kinds: str) -> Floats:
        """When these happened."""
        return self.t_s[np.isin(self.kind, kinds)]


def of_path(one: Run, flow: int, path: int) -> Events:
    """A path's events in a run with its log."""
    log = one.events_log
    own = (np.asarray(log.flow) == flow) & (np.asarray(log.path) == path)
    return Events(np.asarray(log.t_s, dtype=float)[own], np.asarray(log.kind, dtype=str)[own])


@dataclass(frozen=True)
class Combination:
    """A coded packet as it leaves the sender: segments base to base + count - 1."""

    t_s: float
    base: int
    count: int


class Acknowledgement(NamedTuple):
    """Feedback to the sender: loss flag, first segment not seen, degrees of freedom, segments
    covered.
    """

    t_s: float
    flag: bool
    first_unseen: int
    rank: int
    highest: int

    @property
    def lost(self) -> int:
        """Degrees of freedom that are missing."""
        return max(self.highest - self.rank, 0)


class Captured(NamedTuple):
    """One run of a path: its packets, feedback and events; when its window and ssthresh changed,
    and to how many segments.
    """

    result: Result
    sent: tuple[Combination, ...]
    told: tuple[Acknowledgement, ...]
    events: Events
    windows: Steps
    thresholds: Steps

    def in_slow_start(self, at_s: float) -> bool:
        """Whether the window is below ssthresh just before a time."""
        threshold = self.thresholds.at(at_s, before=True)
        return bool(np.isnan(threshold) or self.windows.at(at_s, before=True) < threshold)

    def acknowledged(self, at_s: float) -> int:
        """Increase of the first unseen segment from the previous acknowledgement to the one at a
        time.
        """
        for before, ack in pairwise(self.told):
            if abs(ack.t_s - at_s) < 1e-9:
                return ack.first_unseen - before.first_unseen
        return 0

    def verdicts(self) -> list[tuple[float, str, bool]]:
        """Time and name of what Couple+ did, and whether a timeout was the cause."""
        timeouts = set(self.events.times("timeout"))
        return [
            (float(t), kind, t in timeouts)
            for t, kind in zip(self.events.t_s, self.events.kind, strict=True)
            if kind in ("asked", "noise", "congestion")
        ]


@cache
def captured(overrides: tuple[str, ...], controller: str) -> Captured:
    """A run of the static network with seed 1, and the packets and feedback of the multipath flow's
    last path, which is coded.
    """
    scenario = load("couple-plus/static")
    user = scenario.plan(overrides=overrides).classes[0]
    asked: dict[str, Any] = {"controller": controller, "overrides": overrides}
    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(pcap=Path(folder) / "run.pcapng", keep_bytes=KEEP)
        result, (*_, own) = traced(
            scenario, user.name, recording=recording, series=True, events=True, **asked
        )
        data = Path(folder, "run.pcapng").read_bytes()
    path = len(user.paths) - 1
    sent, told = [], []
    for t_s, packet in _packets(data, f"{user.name}.path{path}"):
        if packet[0] == CODED:
            base, *_, count = struct.unpack(">I3xB", packet[4:12])
            sent.append(Combination(t_s, base, count))
        elif packet[0] == ACKNOWLEDGEMENT:
            first, rank, highest = struct.unpack(">III", packet[4:16])
            told.append(Acknowledgement(t_s, bool(packet[1] & 1), first, rank, highest))
    changes = (steps(own, key, user.payload_bytes) for key in ("congestion_window", "ssthresh"))
    events = of_path(result.runs[0], 0, path)
    return Captured(result, tuple(sent), tuple(told), events, *changes)


def _packets(data: bytes, name: str) -> Iterator[tuple[float, bytes]]:
    """Times and UDP payloads of an interface in a capture (pcapng), in the machine's byte order."""
    at, names = 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        body = data[at + 8 : at + length - 4]
        at += length
        if kind == 1:
            (size,) = struct.unpack_from("<H", body, 10)
            names.append(body[12 : 12 + size].decode())
        elif kind == 6:
            interface, high, low, kept, _ = struct.unpack_from("<IIIII", body)
            packet = body[20 : 20 + kept]
            if names[interface] == name and packet[9] == 17:
                yield ((high << 32) + low) / 1e9, packet[4 * (packet[0] & 15) + 8 :]


class Episode(NamedTuple):
    """From a loss's being asked about to the verdict, with the losses that it is about."""

    asked_s: float
    end_s: float
    congestion: bool
    dropped: int
    """Packets that queues dropped."""
    lost: int
    """Packets that the air took."""


def episodes(events: Events, start_s: float, end_s: float) -> list[Episode]:
    """The episodes of a path that begin within a time and end in a verdict.

    A loss counts to the first verdict after it, if it is not older than a round trip when it is
    asked about.
    """
    found: list[Episode] = []
    asked, before = None, -np.inf
    drops, losses = events.times("drop"), events.times("loss")
    for t_s, kind in zip(events.t_s, events.kind, strict=True):
        if kind == "asked":
            asked = float(t_s)
        elif kind in ("noise", "congestion") and asked is not None:
            since = max(before, asked - BACK_S)
            counts = [int(((x > since) & (x <= t_s)).sum()) for x in (drops, losses)]
            if start_s <= asked < end_s:
                found.append(Episode(asked, float(t_s), kind == "congestion", *counts))
            asked, before = None, float(t_s)
    return found
