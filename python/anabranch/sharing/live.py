"""Which subflows of the connections of this machine share a bottleneck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..linux.sampling import SampledConnection, sample
from ..linux.selection import EVERYTHING, Selection
from .finding import DEFAULT, FEWEST_SAMPLES, MOST_PATHS, SHARES, UNSURE, Found, Samples, find


@dataclass(frozen=True)
class Verdict:
    """Which subflows of a connection share a bottleneck."""

    connection: SampledConnection
    parts: list[int]
    """The subflows that had enough round trips, by their places in the connection."""
    found: Found | None
    """Of `parts`; None if they are fewer than two."""

    def confidence(self, a: int, b: int) -> float | None:
        """How sure it is that two subflows of the connection share; None if nothing is known."""
        if self.found is None or a not in self.parts or b not in self.parts:
            return None
        first, second = self.parts.index(a), self.parts.index(b)
        if not self.found.known(first, second):
            return None
        return float(self.found.confidence[-1, first, second])

    @property
    def pairs(self) -> list[tuple[int, int, float | None]]:
        """Every pair of subflows with its confidence."""
        count = len(self.connection.subflows)
        return [(a, b, self.confidence(a, b)) for a in range(count) for b in range(a + 1, count)]

    @property
    def bottlenecks(self) -> list[int | None]:
        """For each subflow the number of its bottleneck, from 1; None if nothing is known of it and
        another one."""
        numbers: list[int | None] = [None] * len(self.connection.subflows)
        known = {place for a, b, sure in self.pairs if sure is not None for place in (a, b)}
        groups = [] if self.found is None else self.found.last
        for number, group in enumerate(groups, 1):
            for part in group:
                if self.parts[part] in known:
                    numbers[self.parts[part]] = number
        return numbers

    @property
    def said(self) -> str:
        """The verdict on the connection in words."""
        sure = [confidence for _, _, confidence in self.pairs]
        if len(sure) == 1:
            return said(sure[0])
        if all(confidence is None for confidence in sure):
            return "not known"
        number = len(set(self.bottlenecks) - {None})
        return f"{number} bottleneck{'s' * (number != 1)}"

    def to_json(self) -> dict[str, Any]:
        """The subflows with what was found of them, and each pair."""
        subflows = self.connection.subflows
        return {
            "namespace": self.connection.namespace,
            "controller": self.connection.controller,
            "subflows": [
                {
                    "local": one.socket.local,
                    "remote": one.socket.remote,
                    "samples": len(one.sent_s),
                    "losses": len(one.lost_s),
                    "bottleneck": number,
                    "group": one.socket.group,
                }
                for one, number in zip(subflows, self.bottlenecks, strict=True)
            ],
            "pairs": [
                {"subflows": [a, b], "confidence": sure, "said": said(sure)}
                for a, b, sure in self.pairs
            ],
        }


def said(confidence: float | None) -> str:
    """The verdict on a pair in words."""
    if confidence is None:
        return "not known"
    if confidence >= SHARES:
        return "share"
    return "do not share" if confidence <= UNSURE else "unsure"


@dataclass(frozen=True)
class Watched:
    """What was found in some seconds."""

    detector: str
    seconds: float
    readings: int
    verdicts: list[Verdict]

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "detector": self.detector,
            "seconds": self.seconds,
            "readings": self.readings,
            "connections": [one.to_json() for one in self.verdicts],
        }


def watch(
    seconds: float,
    only: Selection = EVERYTHING,
    progress: Callable[[float, float], object] | None = None,
) -> Watched:
    """Reads the subflows of this machine for some seconds and judges each connection of MPTCP.

    Raises LinuxError where sockets cannot be read, and without root.
    """
    read = sample(seconds, only, progress)
    verdicts = [judged(one) for one in read.connections]
    return Watched(DEFAULT, read.seconds, read.readings, verdicts)


def judged(connection: SampledConnection) -> Verdict:
    """Which subflows of a connection share a bottleneck, as far as their samples suffice."""
    rows = connection.subflows
    many = [place for place, row in enumerate(rows) if len(row.sent_s) >= FEWEST_SAMPLES]
    parts = many[:MOST_PATHS]
    if len(parts) < 2:
        return Verdict(connection, parts, None)
    samples = [
        Samples(row.sent_s, row.delay_s, row.rtt_s, row.lost_s)
        for row in (rows[place] for place in parts)
    ]
    return Verdict(connection, parts, find(samples))
