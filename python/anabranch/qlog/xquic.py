"""The event log of xquic: a line of text for each event (src/common/xqc_log_event_callback.c).

    [2024/05/14 11:34:11 642348] [packet_sent] |scid:…|FUNCTION|<==|conn:…|path_id:0|pkt_num:7|…|

The log is at the level of debugging for packets. `sent` and `len` are bytes of a packet as it is
on the wire, `size` lacks its authentication tag. Bytes of data in a packet are not logged. Metrics
name no path: they belong to the path whose packets were acknowledged or lost just before
(xqc_send_ctl_on_ack_received). Behind `latest_rtt` of BBR a value is missing (`ctl_rttvar`), so
that the fields that follow show the next one's; they are not read. Before 1.8 packets name no
path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from .events import ACKED, LOST, METRICS, RECEIVED, SENT, Event, Trace, called, named
from .fields import Fields, as_whole

LINE = re.compile(
    r"\[(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) (\d{1,6})\] \[([a-z_]+)\] \|(?:scid:([0-9a-f]*)\|)?(.*)"
)
BEGIN = re.compile(rb"\s*\[\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \d{1,6}\] \[[a-z_]+\] \|")

MOST_LINE = 1 << 16
"""xquic writes at most 2 KiB (XQC_MAX_LOG_LEN)."""

READ = (SENT, RECEIVED, LOST, ACKED, METRICS)

DATA = ("STREAM", "DATAGRAM")
"""Names in `frame_flag` of packets with data."""


def knows(head: bytes) -> bool:
    """By the time and the event's name that a line begins with."""
    return BEGIN.match(head) is not None


def traces(path: Path, partial: bool) -> list[Trace]:
    """The one trace of a file; its events name their connection. Raises OSError and ValueError."""
    return [Trace(events(path))]


def events(path: Path) -> Iterator[tuple[str, Event]]:
    """The events that are read, in the order of the file."""
    start: datetime | None = None
    near: dict[str, str] = {}
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MOST_LINE):
            number += 1
            found = LINE.match(line.decode("utf-8", "replace"))
            if found is None or named(found[3]) not in READ:
                continue
            day, micro, name, scid, rest = found.groups()
            place = f"line {number}"
            try:
                now = datetime.strptime(day, "%Y/%m/%d %H:%M:%S")
            except ValueError:
                raise ValueError(f"{place}: {day} is no time") from None
            now += timedelta(microseconds=int(micro))
            start = start or now
            values = dict(part.partition(":")[::2] for part in rest.split("|") if ":" in part)
            fields = Fields(dict(values), place)
            path_id = fields.whole("path_id")
            group = scid or ""
            if path_id is not None and named(name) in (ACKED, LOST):
                near[group] = called(str(path_id))
            of = called(str(path_id)) if path_id is not None else near.get(group)
            at_s = (now - start).total_seconds()
            yield group, Event(at_s, named(name), of, translated(named(name), fields))


def translated(name: str, line: Fields) -> Fields:
    """The data of an event under the drafts' names."""
    data: dict[str, Any] = {}
    if name == METRICS:
        data = {
            "congestion_window": line.whole("cwnd"),
            "smoothed_rtt": line.number("srtt", 1e-3),  # logged in microseconds
        }
    elif name == ACKED:
        low, high = line.whole("low"), line.whole("high")
        if low is None or high is None:
            raise line.wrong("low" if low is None else "high", "a packet's number")
        data = {
            "packet_number_space": SPACES.get(line.text("pkt_space") or ""),
            "range": [low, high],
        }
    else:
        # Of a loss, `lost_pn` is no packet but the threshold below which all are lost.
        number = line.whole("pkt_num")
        size = line.text("len") or line.text("sent") or line.text("size")
        flags = (line.text("frame_flag") or "").split()
        data = {
            "header": {
                "packet_number": number,
                "packet_type": SPACES.get(line.text("pkt_pns") or ""),
            },
            "raw": {"length": as_whole(size) if size else None},
            "frames": [{"frame_type": "stream"} for flag in flags if flag in DATA][:1],
        }
    return Fields(data, line.place)


SPACES = {"0": "initial", "1": "handshake", "2": "1RTT"}
"""Packet number spaces (XQC_PNS_INIT, XQC_PNS_HSK, XQC_PNS_APP_DATA)."""
