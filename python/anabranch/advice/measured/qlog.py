"""qlog of the side that sent the data: draft-ietf-quic-qlog, as JSON or as a sequence of texts.

A path is a trace, or within a trace a `path_id` of its events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..fitting import FEWEST, Packets
from .paths import Measured, measured

FORMAT = "a qlog"

RECORD = "\x1e"
"""Begins each record of a sequence (RFC 7464)."""


def knows(head: bytes) -> bool:
    """By the names that a qlog begins with."""
    return head.lstrip()[:1] in (b"{", b"\x1e") and (
        b"qlog_version" in head or b"qlog_format" in head or b"urn:ietf:params:qlog" in head
    )


def read(path: Path) -> Measured:
    """The paths that sent enough packets. Raises OSError and ValueError."""
    try:
        traces = list(_traces(path.read_text("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no qlog: {error}") from None
    seen: dict[str, Seen] = {}
    for number, (title, events) in enumerate(traces):
        for event in events:
            name = str(title or f"trace-{number}")
            data = event.get("data", {})
            of = event.get("path_id", event.get("path", data.get("path_id")))
            if of not in (None, ""):
                name = f"path-{of}"
            seen.setdefault(name, Seen()).take(event)
    enough = {name: one for name, one in seen.items() if len(one.rtt_s) >= FEWEST}
    if not enough:
        raise ValueError(
            f"{path}: no path has {FEWEST} acknowledged packets; is it from the side that sent the data?"
        )
    return measured(list(enough), [one.packets() for one in enough.values()])


def _traces(text: str) -> Iterator[tuple[str | None, list[dict[str, Any]]]]:
    """Title and events of each trace, with times in milliseconds since the first."""
    if text.startswith(RECORD):
        first, *events = [json.loads(part) for part in text.split(RECORD) if part.strip()]
        trace = first.get("trace", {})
        yield trace.get("title"), _timed(events, trace.get("common_fields", {}))
        return
    for trace in json.loads(text)["traces"]:
        yield trace.get("title"), _timed(trace["events"], trace.get("common_fields", {}))


def _timed(events: list[dict[str, Any]], common: dict[str, Any]) -> list[dict[str, Any]]:
    """Events with times since the first trace began, whatever they are relative to."""
    if common.get("time_format") == "delta":
        now = 0.0
        for event in events:
            now += float(event["time"])
            event["time"] = now
    return events


@dataclass
class Seen:
    """Packets of a path."""

    outstanding: dict[tuple[str, int], float] = field(default_factory=dict)
    """When each was sent, by packet number space and number."""
    sent_s: list[float] = field(default_factory=list)
    rtt_s: list[float] = field(default_factory=list)
    lost_s: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def take(self, event: dict[str, Any]) -> None:
        """An event in the order of time."""
        name, data = str(event["name"]).rpartition(":")[2], event.get("data", {})
        header, now_s = data.get("header", {}), float(event["time"]) * 1e-3
        space = str(header.get("packet_type", ""))
        if name == "packet_sent":
            self.outstanding[space, int(header["packet_number"])] = now_s
            self.sizes.append(int(data.get("raw", {}).get("length", 0)))
        elif name == "packet_received":
            for frame in data.get("frames", ()):
                if frame.get("frame_type") == "ack":
                    self._acked(space, frame.get("acked_ranges", ()), now_s)
        elif name == "packet_lost":
            self.lost_s.append(now_s)

    def _acked(self, space: str, ranges: list[list[int]], now_s: float) -> None:
        for part in ranges:
            for number in range(int(part[0]), int(part[-1]) + 1):
                sent_s = self.outstanding.pop((space, number), None)
                if sent_s is not None:
                    self.sent_s.append(sent_s)
                    self.rtt_s.append(now_s - sent_s)

    def packets(self) -> Packets:
        """As arrays."""
        full = [size for size in self.sizes if size > 0]
        bits = 8.0 * float(np.mean(full)) if full else 12_000.0
        return Packets(np.array(self.sent_s), np.array(self.rtt_s), np.array(self.lost_s), bits)
