"""Files of qlog in JSON and JSON-SEQ: the current drafts, 0.3 and its successors, draft-00.

Both are read in bounded memory: a sequence record by record, JSON event by event. What a trace in
JSON says of itself may stand behind its events, so that JSON is read once more for these.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .events import Event, Trace, named, path_of
from .fields import Fields, as_number
from .scanning import PIECE, CutOff, Scanner

RECORD = b"\x1e"
"""Begins each record of a sequence (RFC 7464)."""

MOST_RECORD = 1 << 26
"""Bytes of the longest record: no event needs more."""

MARKS = (b"qlog_version", b"qlog_format", b"urn:ietf:params:qlog", b"file_schema")


def knows(head: bytes) -> bool:
    """By the names that a qlog begins with."""
    return head.lstrip()[:1] in (b"{", RECORD) and any(mark in head for mark in MARKS)


def traces(path: Path, partial: bool) -> list[Trace]:
    """The traces of a file. Raises OSError and ValueError, also while their events are read."""
    with path.open("rb") as file:
        head = file.read(PIECE).lstrip()[:1]
    return [sequence(path, partial)] if head == RECORD else contained(path, partial)


def parsed(text: bytes, place: str) -> Any:
    """JSON. Raises ValueError that says where it is not."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{place} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise ValueError(f"{place} is not JSON of a log: it is nested too deeply") from None
    except ValueError as error:  # not UTF-8, or a number with thousands of digits
        raise ValueError(f"{place} is not JSON: {error}") from None


def records(file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Each record with its number from 1, and whether it is complete: it ends with a newline."""
    number, held = 0, b""
    while piece := file.read(PIECE):
        *whole, held = (held + piece).split(RECORD)
        for text in whole:
            if text.strip():
                number += 1
                yield number, text, True
        if len(held) > MOST_RECORD:
            raise ValueError(f"record {number + 1} has more than {MOST_RECORD >> 20} MiB")
    if held.strip():
        yield number + 1, held, held.endswith(b"\n")


def sequence(path: Path, partial: bool) -> Trace:
    """The trace of a sequence (main schema §5, and JSON-SEQ of qlog 0.3)."""
    with path.open("rb") as file:
        first = next(records(file), None)
    if first is None:
        raise ValueError("record 1 is missing: it says what the log is of")
    head = Fields.of(parsed(first[1], "record 1"), "record 1")
    outer = head.part("trace")
    trace = described(outer, iter(()))
    trace.title = trace.title or head.text("title") or ""

    def events() -> Iterator[tuple[str, Event]]:
        clock = Clock(outer)
        with path.open("rb") as file:
            for number, text, complete in records(file):
                place = f"record {number}"
                if number == 1:
                    continue
                try:
                    content = parsed(text, place)
                except ValueError:
                    if complete:
                        raise
                    if not partial:
                        raise ValueError(
                            f"{place} is cut off; `--partial` takes what was read"
                        ) from None
                    trace.notes.append(f"broken: {place} is cut off")
                    return
                yield clock.event(Fields.of(content, place))

    trace.events = events()
    return trace


def contained(path: Path, partial: bool) -> list[Trace]:
    """The traces of a JSON file (main schema §4, and its predecessors)."""
    outlines: list[dict[str, Any]] = []
    notes: list[str] = []
    with path.open("rb") as file:
        try:
            outline(Scanner(file), path, outlines)
        except CutOff as error:
            if not partial:
                raise ValueError(f"{error}; `--partial` takes what was read") from None
            notes.append(f"broken: {error}")
    found = []
    for number, values in enumerate(outlines):
        outer = Fields(values, f"the file: traces[{number}]")
        events = values.get("events")
        if "error_description" in outer or (events is None and notes):
            continue
        if not isinstance(events, Listed):
            raise outer.wrong("events", "a list of events")
        found.append(described(outer, Timed(outer, events)))
    if found:
        found[-1].notes.extend(notes)
    return found


@dataclass
class Listed:
    """A list of events in a file."""

    path: Path
    place: str
    at: int
    """The byte at which it begins."""
    count: int = 0
    """Its events; of a list that is cut off, those before that place."""

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """The events as they stand there, each with its place."""
        with self.path.open("rb") as file:
            scanner = Scanner(file, self.at)
            for number in scanner.items():
                if number == self.count:
                    return
                scanner.where = f"{self.place}[{number}]"
                yield scanner.where, scanner.value()


def outline(scanner: Scanner, path: Path, traces: list[dict[str, Any]]) -> None:
    """Reads what each trace of a file says of itself, and where its events are."""
    for key in scanner.members():
        if key != "traces":
            scanner.value()
            continue
        if scanner.peek() != "[":
            raise Fields({key: scanner.value()}, "the file").wrong(key, "a list of traces")
        traces.clear()
        for number in scanner.items():
            scanner.where = f"the file: traces[{number}]"
            if scanner.peek() != "{":
                Fields.of(scanner.value(), scanner.where)
            traces.append({})
            outline_of_one(scanner, path, traces[-1])
        scanner.where = "the file"
    scanner.end()


def outline_of_one(scanner: Scanner, path: Path, outer: dict[str, Any]) -> None:
    """Reads a trace but for its events, which are only counted."""
    place = scanner.where
    for key in scanner.members():
        scanner.where = f"{place}.{key}"
        if key != "events" or scanner.peek() != "[":
            outer[key] = scanner.value()
            continue
        outer[key] = events = Listed(path, scanner.where, scanner.at)
        for number in scanner.items():
            scanner.where = f"{events.place}[{number}]"
            scanner.value()
            events.count += 1
    scanner.where = place


@dataclass(frozen=True)
class Timed:
    """The events of a trace: objects, or arrays of the fields that `event_fields` names."""

    outer: Fields
    listed: Listed

    def __iter__(self) -> Iterator[tuple[str, Event]]:
        """Each with its connection."""
        columns = self.outer.values.get("event_fields")
        if columns is not None and not (
            isinstance(columns, list) and all(isinstance(one, str) for one in columns)
        ):
            raise self.outer.wrong("event_fields", "a list of names")
        clock = Clock(self.outer)
        for place, one in self.listed:
            event = one if columns is None else row(one, columns, place)
            yield clock.event(Fields.of(event, place))


def row(values: Any, columns: Sequence[str], place: str) -> dict[str, Any]:
    """An event of draft-00 as an object: `relative_time`, `category`, `event`, `data`, and
    picoquic's `path_id`.
    """
    if not isinstance(values, list) or len(values) != len(columns):
        raise ValueError(f"{place} is not an array of {len(columns)} values")
    found = {name.lower(): value for name, value in zip(columns, values, strict=True)}
    name = found.get("event", found.get("event_type", found.get("name")))
    event = {"name": name, "data": found.get("data"), "path_id": found.get("path_id")}
    for key, form in (("time", None), ("relative_time", None), ("delta_time", "delta")):
        if key in found:
            event |= {"time": found[key], "time_format": form}
    if "group_id" in found:
        event["group_id"] = found["group_id"]
    return event


def described(outer: Fields, events: Iterable[tuple[str, Event]]) -> Trace:
    """A trace with what it says of itself."""
    point = outer.part("vantage_point")
    clock = outer.part("common_fields").values.get("reference_time")
    return Trace(
        events,
        outer.text("title") or "",
        (point.text("type") or "unknown").lower(),
        (point.text("flow") or "").lower(),
        # The library of noq writes its ranges as Rust has them; nothing else leaves these empty.
        half_open=outer.values.get("event_schemas") == []
        and isinstance(clock, dict)
        and clock.get("clock_type") == "",
    )


class Clock:
    """Turns the times of a trace into seconds, and its fields into those of each event."""

    def __init__(self, outer: Fields) -> None:
        """Of a trace, whose `common_fields` stand for each event's own."""
        self.common = outer.part("common_fields")
        self.form = self.common.text("time_format")
        units = outer.part("configuration").text("time_units") or "ms"
        if units not in UNITS_S:
            raise outer.part("configuration").wrong("time_units", f"{' or '.join(UNITS_S)}")
        self.scale_s = UNITS_S[units]
        self.now = 0.0

    def event(self, event: Fields) -> tuple[str, Event]:
        """An event and its connection."""
        time, name = as_number(event.values.get("time")), event.values.get("name")
        if time is None or abs(time) > LATEST:
            raise event.wrong("time", "a number")
        if not isinstance(name, str):
            raise event.wrong("name", "the name of an event")
        if (event.text("time_format") or self.form) in DELTAS:
            self.now += time
        else:
            self.now = time
        data = event.part("data")
        path = path_of(event, data)
        if path is None and ("path_id" in self.common or "tuple" in self.common):
            path = path_of(self.common, NOTHING)
        group = event.text("group_id") or self.common.text("group_id") or ""
        return group, Event(self.now * self.scale_s, named(name), path, data, self.scale_s)


UNITS_S = {"ms": 1e-3, "us": 1e-6}
"""Units of time: milliseconds since draft-02, either before (draft-marx-qlog-main-schema-00)."""

DELTAS = ("delta", "relative_to_previous_event")
"""Formats of time in which an event's time counts from the one before it."""

LATEST = 1e18
"""Later times are no times."""

NOTHING = Fields({}, "")
