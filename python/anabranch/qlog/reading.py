"""Logs as captures: qlog of this program and of QUIC stacks, in the tables of `anabranch capture`."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from .. import capture as captures
from ..capture import Capture, CapturedSeries, CaptureFacts, Delays, LoggedWindows
from ..tables import CapturedFlows, CapturedPaths
from . import texts, xquic
from .events import Trace
from .tally import Carried, Connection, Span
from .tally import Path as Counted

FORMATS: tuple[ModuleType, ...] = (texts, xquic)
"""Each has `knows(head)`, whether a file with these first bytes is one, and
`traces(path, partial)`.
"""

HEAD_BYTES = 4096


def knows(head: bytes) -> bool:
    """Whether a file with these first bytes is a log of QUIC."""
    return any(form.knows(head) for form in FORMATS)


def head_of(path: str | Path) -> bytes:
    """The first bytes of a file. Raises OSError."""
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a directory; name a file")
    try:
        with Path(path).open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise OSError(f"{path} cannot be read: {error.strerror or error}") from None


def read(
    path: str | Path,
    *,
    bin_s: float = 0.1,
    start_s: float = 0.0,
    end_s: float | None = None,
    partial: bool = False,
    delays: bool = False,
) -> Capture:
    """Reads a qlog, or the event log of xquic, as `anabranch.capture.read` reads packets: a path is
    a subflow, a lost packet a retransmission, and bytes are those of QUIC packets.

    Forms of qlog are those of the current drafts and of 0.3 in JSON and JSON-SEQ, and picoquic's
    draft-00. Times count from the first event. Files are read in bounded memory; with `partial` one
    that is cut off is read up to there.

    Raises OSError, and ValueError that names the record and what is wrong in it.
    """
    captures.check_bins(bin_s)
    head = head_of(path)
    forms = [form for form in FORMATS if form.knows(head)]
    if not forms:
        raise ValueError(f"{path} is no log of QUIC: neither qlog nor the event log of xquic")
    first_s, last_s = captures.whole_bins(bin_s, start_s), captures.whole_bins(bin_s, end_s)
    span = Span(first_s or 0.0, math.inf if last_s is None else last_s, bin_s)
    try:
        found = Found(span, delays)
        traces = forms[0].traces(Path(path), partial)
        found.take(traces)
        notes = [note for trace in traces for note in trace.notes]
        return found.capture(str(path), (start_s, end_s), notes)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise OSError(f"{path} cannot be read: {why}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read_file(path: str | Path, **how: Unpack[How]) -> Capture:
    """Reads a capture or a log, by its first bytes. Arguments and errors are those of `read`."""
    return (read if knows(head_of(path)) else captures.read)(path, **how)


class How(TypedDict, total=False):
    """The arguments of `read`."""

    bin_s: float
    start_s: float
    end_s: float | None
    partial: bool
    delays: bool


@dataclass(frozen=True)
class Look:
    """What a trace has among its events."""

    first_s: float
    """The earliest time, infinite if there is no event."""
    paths: bool
    """Whether an event names its path."""

    @classmethod
    def of(cls, trace: Trace) -> Look:
        """Reads all of them, and keeps none."""
        first_s, paths = math.inf, False
        for _, event in trace.events:
            first_s = min(first_s, event.at_s)
            paths = paths or event.path is not None
        return cls(first_s, paths)


class Found:
    """The connections of a file."""

    def __init__(self, span: Span, keep: bool) -> None:
        """None yet."""
        self.span, self.keep = span, keep
        self.connections: dict[tuple[str, str], Connection] = {}
        self.first_s: float | None = None
        self.last_s = 0.0

    def take(self, traces: list[Trace]) -> None:
        """Counts all events. Traces of one file count from one origin: that of the first event."""
        if len(traces) == 1:
            self._trace(traces[0], "")
        else:  # they may begin in any order, and are looked through first
            looks = [Look.of(trace) for trace in traces]
            self.first_s = min((look.first_s for look in looks), default=0.0)
            for number, (trace, look) in enumerate(zip(traces, looks, strict=True)):
                self._trace(trace, "" if look.paths else trace.title or f"trace-{number}")
        for connection in self.connections.values():
            connection.finish()

    def _trace(self, trace: Trace, title: str) -> None:
        """One trace; `title`, if it is one of several that stand for a path each."""
        side = trace.flow if trace.side == "network" and trace.flow else trace.side
        for group, event in trace.events:
            if self.first_s is None:
                self.first_s = event.at_s
            at_s = max(event.at_s - self.first_s, 0.0)
            self.last_s = max(self.last_s, at_s)
            connection = self._connection(group or ("" if title else trace.title), side)
            if trace.half_open and not connection.paths:
                connection.half_open = True
            connection.take(replace(event, at_s=at_s), title)

    def _connection(self, name: str, side: str) -> Connection:
        key = name, side
        if key not in self.connections:
            self.connections[key] = Connection(name, side, self.span, self.keep)
        return self.connections[key]

    def capture(self, name: str, asked: tuple[float, float | None], notes: list[str]) -> Capture:
        """All of it as a capture. Raises ValueError if there is nothing."""
        kept = [one for one in self.connections.values() if one.paths]
        rows = [(flow, one, path) for flow, one in enumerate(kept) for path in one.paths.values()]
        if not rows:
            raise ValueError("it has no event of a packet or of a metric")
        bounds = captures.bounds(self.span.bin_s, self.last_s, *asked)
        lasted = bounds[1] - bounds[0] or math.nan
        paths = table(rows, lasted)
        flows = connections(kept, paths, lasted)
        facts = CaptureFacts(
            packets=sum(one.packets for one in kept),
            other_packets=0,
            malformed_packets=0,
            first_s=float(self.first_s or 0.0),
            duration_s=self.last_s,
        )
        guessed = sum(one.guessed for one in kept)
        if guessed:
            notes = [
                *notes,
                f"losses whose path is a guess, as the log does not name it: {guessed}",
            ]
        bins = Bins.of(self.span, self.last_s)
        series = CapturedSeries(
            t_s=bins.t_s,
            data_ip_bytes=bins.sums([way(path).bins for _, _, path in rows]),
            bin_s=bins.bin_s,
        )
        return Capture(
            name,
            facts,
            flows,
            paths,
            series,
            bounds,
            notes,
            delays=[delays(path) for _, _, path in rows] if self.keep else [],
            labels=labels(kept),
            windows=windows([path for _, _, path in rows], bins),
        )


def way(path: Counted) -> Carried:
    """The direction in which a path carried more."""
    return path.sent if path.sent.everywhere >= path.received.everywhere else path.received


def sends(path: Counted) -> bool:
    """Whether the side that wrote the log sent most of the path's data."""
    return way(path) is path.sent


def table(rows: list[tuple[int, Connection, Counted]], lasted: float) -> CapturedPaths:
    """A row for each path."""
    paths = [path for _, _, path in rows]
    carried = [way(path) for path in paths]
    ends = [ends_of(one, path) for _, one, path in rows]
    size = np.array([one.size for one in carried])
    return CapturedPaths(
        flow=np.array([flow for flow, _, _ in rows], dtype=np.int64),
        initiator=[initiator for initiator, _ in ends],
        responder=[responder for _, responder in ends],
        multipath=np.array([len(one.paths) > 1 for _, one, _ in rows], dtype=bool),
        upward=np.array([sends(path) == (one.side != "server") for _, one, path in rows]),
        start_s=np.array([path.first_s for path in paths]),
        end_s=np.array([path.last_s for path in paths]),
        sent_packets=np.array(
            [np.nan if path.sampled else float(way(path).packets) for path in paths]
        ),
        data_ip_bytes=size,
        payload_bytes=np.array([one.payload for one in carried]),
        retransmits=np.array([float(path.lost) for path in paths]),
        retransmitted_bytes=np.array([path.lost_bytes for path in paths]),
        acked_bytes=np.array([acknowledged(path) for path in paths]),
        rtt_s=np.array([round_trip(path) for path in paths]),
        throughput_bps=8.0 * size / lasted,
    )


def acknowledged(path: Counted) -> float:
    """Bytes of data that the other side acknowledged, or that arrived; NaN of samples."""
    if path.sampled:
        return np.nan
    return path.acked_bytes if sends(path) else path.received.payload


def round_trip(path: Counted) -> float:
    """The mean from a packet to its ACK; of a log without these, of the smoothed round trips."""
    if path.trips:
        return path.trips_s / path.trips
    count, total = path.smoothed
    return total / count if count else np.nan


def ends_of(connection: Connection, path: Counted) -> tuple[str, str]:
    """The initiator and the responder of a path: addresses if the log has them."""
    here, there = path.local or "here", path.remote or "there"
    return (there, here) if connection.side == "server" else (here, there)


def connections(kept: list[Connection], paths: CapturedPaths, lasted: float) -> CapturedFlows:
    """A row for each connection."""
    number, none = len(kept), np.zeros(len(kept))

    def total(column: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(paths.flow, weights=column, minlength=number).astype(float)

    acked = total(paths.acked_bytes)
    return CapturedFlows(
        token=[None] * number,
        subflows=np.array([float(len(one.paths)) for one in kept]),
        acked_bytes=acked,
        joins_proved=none,
        joins_disproved=none,
        addresses_announced=none,
        addresses_withdrawn=none,
        throughput_bps=total(paths.throughput_bps),
        goodput_bps=8.0 * acked / lasted,
    )


def labels(kept: list[Connection]) -> list[str]:
    """A name for each path; with its connection's where there are several."""
    found = []
    for flow, one in enumerate(kept):
        before = f"{one.name or flow} " if len(kept) > 1 else ""
        found += [
            name if one.name and name.startswith(one.name) else before + name for name in one.paths
        ]
    return found


def delays(path: Counted) -> Delays:
    """Round trips and losses of a path, in the order of sending."""
    sent = np.array(sorted(path.delays), dtype=float).reshape(-1, 2)
    return Delays(sent[:, 0], sent[:, 1], np.array(path.losses_s, dtype=float))


@dataclass(frozen=True)
class Bins:
    """Bins of a series: those of the counts, or several of these together."""

    bin_s: float
    count: int
    together: int

    @classmethod
    def of(cls, span: Span, last_s: float) -> Bins:
        """As many as a series may have, up to the last event."""
        count = span.bin(last_s) + 1
        together = -(-count // MOST_BINS)
        return cls(together * span.bin_s, -(-count // together), together)

    @property
    def t_s(self) -> NDArray[np.float64]:
        """When each begins."""
        return np.arange(self.count, dtype=np.float64) * self.bin_s

    def sums(self, columns: Sequence[Mapping[int, float]]) -> NDArray[np.float64]:
        """What fell into each bin, shape (bins, columns)."""
        found = np.zeros((self.count, len(columns)))
        for number, column in enumerate(columns):
            for place, value in column.items():
                found[place // self.together, number] += value
        return found

    def latest(self, columns: Sequence[Mapping[int, float]]) -> NDArray[np.float64]:
        """The latest value in each bin or before it, NaN before the first."""
        found: NDArray[np.float64] = np.full((self.count, len(columns)), np.nan)
        for number, column in enumerate(columns):
            for place in sorted(column):
                found[place // self.together, number] = column[place]
        known = np.where(np.isnan(found), 0, np.arange(self.count)[:, None])
        last = np.maximum.accumulate(known, axis=0)
        held: NDArray[np.float64] = np.take_along_axis(found, last, axis=0)
        return held


MOST_BINS = 10_000
"""Bins of a series, as of a capture's."""


def windows(paths: list[Counted], bins: Bins) -> LoggedWindows:
    """The windows that the log has."""
    means = [path.held[0] / path.held[1] if path.held[1] else np.nan for path in paths]
    return LoggedWindows(
        t_s=bins.t_s,
        cwnd_bytes=bins.latest([path.windows.cwnd for path in paths]),
        ssthresh_bytes=bins.latest([path.windows.ssthresh for path in paths]),
        srtt_s=bins.latest([path.windows.srtt for path in paths]),
        lost_packets=bins.sums([path.lost_bins for path in paths]),
        mean_cwnd_bytes=np.array(means),
    )
