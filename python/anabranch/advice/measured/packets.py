"""Captures: pcapng and pcap, from the side that sent the data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ...capture import Capture
from ...capture import read as read_capture
from ...unused import unused
from ..fitting import FEWEST, Packets
from .paths import Measured, measured

FORMAT = "a capture (pcapng, pcap)"

MAGIC = (
    b"\x0a\x0d\x0d\x0a",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
)


def knows(head: bytes) -> bool:
    """By its first four bytes."""
    return head[:4] in MAGIC


def read(path: Path) -> Measured:
    """The paths of the connection with most data among those that have several. Raises OSError and
    ValueError.
    """
    return of(read_capture(path, delays=True))


def of(capture: Capture) -> Measured:
    """The paths of a capture or of a log. Raises ValueError."""
    rows = _subflows(capture)
    names = _names(capture, rows)
    found = measured(names, [_packets(capture, row) for row in rows])
    return replace(found, diseases=_diseases(capture, rows))


def _diseases(capture: Capture, rows: list[int]) -> list[str]:
    """Why a path carried nothing."""
    flow = int(capture.paths.flow[rows[0]])
    own = np.flatnonzero(capture.paths.flow == flow).tolist()
    found = unused(capture, flow, [row for row in own if row not in rows])
    if len(own) == 1 and not capture.paths.multipath[own[0]] and not capture.labels:
        found.append(
            "the connection is plain TCP: the application did not ask for MPTCP (`mptcpize run`), the "
            "other side has none, or a middlebox strips its options"
        )
    return found


def _subflows(capture: Capture) -> list[int]:
    """Subflows of one connection with enough round trips; of several, that with most data."""
    many = [row for row in capture.order if len(capture.delays[row].rtt_s) >= FEWEST]
    flows = capture.paths.flow[many]
    data = {flow: capture.paths.data_ip_bytes[capture.paths.flow == flow].sum() for flow in flows}
    several = [flow for flow in data if (flows == flow).sum() > 1]
    if not several and not many:
        raise ValueError(
            f"{capture.name}: no subflow has {FEWEST} round trips; is it from the side that sent the data?"
        )
    chosen = max(several or data, key=lambda flow: float(data[flow]))
    return [row for row in many if capture.paths.flow[row] == chosen]


def _names(capture: Capture, rows: list[int]) -> list[str]:
    """Of each subflow the end in which it differs from the others, without its port."""
    if capture.labels:
        return [capture.label(row) for row in rows]
    ends = [[part.strip() for part in capture.label(row).split("→")] for row in rows]
    for place in (0, -1):
        names = [end[place].rpartition(":")[0] or end[place] for end in ends]
        if len(set(names)) == len(names):
            return names
    return [capture.label(row) for row in rows]


def _packets(capture: Capture, row: int) -> Packets:
    delays, paths = capture.delays[row], capture.paths
    bits = 8.0 * float(paths.data_ip_bytes[row]) / max(float(paths.sent_packets[row]), 1.0)
    return Packets(
        np.asarray(delays.sent_s), np.asarray(delays.rtt_s), np.asarray(delays.repeated_s), bits
    )
