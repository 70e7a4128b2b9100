"""What the events of a log add up to, for each path of each connection."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .events import ACKED, LOST, METRICS, RECEIVED, SENT, TIMER, TUPLE, Event
from .fields import MOST, Fields, as_whole

MOST_OUTSTANDING = 1 << 20
"""Packets of a path whose fate is awaited, in a log that has no ACKs too; older ones are dropped."""

MOST_BINS = 100_000_000
"""Bins up to the last event; later ones are a wrong clock."""

CARRYING = ("stream", "datagram")
"""Frames that carry data of the application (RFC 9000 §19.8, RFC 9221)."""

ACKS = ("ack", "ack_ecn")
PATH_ACKS = ("path_ack", "path_ack_ecn", "ack_mp", "ack_mp_ecn", "mp_ack")
"""Frames that acknowledge packets of the path that they name (draft-ietf-quic-multipath)."""

FIRST = "path-0"
"""The path of a plain ACK where there are several number spaces."""

Number = tuple[str, int]
"""A packet number space and a number in it."""


@dataclass(frozen=True)
class Span:
    """The time that tables count, and the width of the bins of series."""

    start_s: float = 0.0
    end_s: float = math.inf
    bin_s: float = 0.1

    def bin(self, at_s: float) -> int:
        """The number of a time's bin. Raises ValueError if there would be too many."""
        number = math.floor(at_s / self.bin_s + 1e-9)
        if number >= MOST_BINS:
            raise ValueError(
                f"an event is at {at_s:g} s after the first one, and bins have {self.bin_s:g} s: more "
                f"than {MOST_BINS:,} bins"
            )
        return number


@dataclass
class Carried:
    """Packets of a path in one direction."""

    packets: int = 0
    """With data, in the span."""
    size: float = 0.0
    """Their bytes."""
    payload: float = 0.0
    everywhere: float = 0.0
    """Bytes of packets with data in the whole log."""
    bins: dict[int, float] = field(default_factory=dict)
    """Bytes in each bin of the whole log."""


@dataclass
class Windows:
    """The last value of each metric in each bin: bytes and seconds."""

    cwnd: dict[int, float] = field(default_factory=dict)
    ssthresh: dict[int, float] = field(default_factory=dict)
    srtt: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Outstanding:
    """A packet whose fate is not known yet."""

    at_s: float
    size: float
    payload: float


@dataclass
class Path:
    """What a path of a connection did, as one side saw it."""

    name: str
    first_s: float
    last_s: float
    local: str = ""
    remote: str = ""
    sent: Carried = field(default_factory=Carried)
    received: Carried = field(default_factory=Carried)
    outstanding: dict[Number, Outstanding] = field(default_factory=dict)
    acked_bytes: float = 0.0
    lost: int = 0
    lost_bytes: float = 0.0
    lost_bins: dict[int, int] = field(default_factory=dict)
    trips: int = 0
    trips_s: float = 0.0
    smoothed: tuple[int, float] = (0, 0.0)
    """How many smoothed round trips were logged in the span, and their sum."""
    sampled: bool = False
    """Whether its bytes are counts at samples, and no packets."""
    windows: Windows = field(default_factory=Windows)
    held: tuple[float, float] = (0.0, 0.0)
    """Integral of the window over the span, and the time in which there was one."""
    window: tuple[float, float] | None = None
    """The latest window, and since when."""
    delays: list[tuple[float, float]] = field(default_factory=list)
    """When each acknowledged packet was sent, and its round trip; if they are kept."""
    losses_s: list[float] = field(default_factory=list)


class Connection:
    """The paths of a connection."""

    def __init__(self, name: str, side: str, span: Span, keep: bool) -> None:
        """Nothing happened yet; with `keep` every round trip and loss is kept."""
        self.name, self.side, self.span, self.keep = name, side, span, keep
        self.paths: dict[str, Path] = {}
        self.packets = 0
        self.half_open = False
        self.guessed = 0
        """Losses whose path is a guess."""
        self._unplaced: list[tuple[float, Number, float | None]] = []
        self._timer: str | None = None
        """The path whose timer was set or expired last."""

    def take(self, event: Event, title: str = "") -> None:
        """An event, in the order of the log; `title` is the path of all events that name none."""
        if self._unplaced and event.at_s > self._unplaced[0][0]:
            self._place([])
        if event.name in (SENT, RECEIVED):
            path = self._path(event, title)
            self.packets += 1
            self._packet(event, path)
        elif event.name == LOST:
            self._on_lost(event, title)
        elif event.name == METRICS:
            self._on_metrics(event, self._path(event, title))
        elif event.name == ACKED:
            path = self._path(event, title)
            space = space_of(event.data.text("packet_number_space"))
            self._on_acked(event.at_s, [path], space, numbers(event.data, path.outstanding, space))
            self._place([path.name])
        elif event.name == TUPLE:
            self._on_tuple(event, title)
        elif event.name == TIMER and event.path in self.paths:
            kind = event.data.text("timer_type") or ""
            if kind in ("loss_timeout", "pto", "ack"):
                self._timer = event.path
                self._place([event.path])

    def finish(self) -> None:
        """The log has ended."""
        self._place([])
        for path in self.paths.values():
            self._hold(path, self.span.end_s if self.span.end_s < math.inf else path.last_s)

    def _path(self, event: Event, title: str) -> Path:
        """The path of an event: the one that it names, the trace's, or the connection's only one."""
        name = event.path or title
        if not name:
            name = next(iter(self.paths)) if len(self.paths) == 1 else FIRST
        path = self.paths.get(name)
        if path is None:
            path = self.paths[name] = Path(name, event.at_s, event.at_s)
        path.last_s = max(path.last_s, event.at_s)
        return path

    def _inside(self, at_s: float) -> bool:
        return self.span.start_s <= at_s < self.span.end_s

    def _packet(self, event: Event, path: Path) -> None:
        data = event.data
        header = data.part("header")
        number, space = header.whole("packet_number"), space_of(kind_of(data, header))
        frames = list(data.parts("frames"))
        size, payload = size_of(data, header), payload_of(data, frames)
        carries = payload is not None if "frames" in data or payload is not None else True
        way = path.sent if event.name == SENT else path.received
        if carries:
            self._carried(way, event.at_s, size)
            if self._inside(event.at_s):
                way.packets += 1
                way.payload += payload or 0.0
        if event.name == SENT and number is not None:
            if len(path.outstanding) >= MOST_OUTSTANDING:
                del path.outstanding[next(iter(path.outstanding))]
            path.outstanding[space, number] = Outstanding(event.at_s, size, payload or 0.0)
        if event.name == RECEIVED:
            self._acks(event, path, space, frames)

    def _carried(self, way: Carried, at_s: float, size: float) -> None:
        way.everywhere += size
        number = self.span.bin(at_s)
        way.bins[number] = way.bins.get(number, 0.0) + size
        if self._inside(at_s):
            way.size += size

    def _acks(self, event: Event, path: Path, space: str, frames: list[Fields]) -> None:
        """The acknowledgements in a packet that was received on `path`."""
        seen = []
        for frame in frames:
            kind = frame.text("frame_type")
            if kind in PATH_ACKS:
                number = frame.whole("path_id")
                names = [path.name if number is None else f"path-{number}"]
            elif kind in ACKS:
                # On a path with a number space of its own a plain ACK is for the first path.
                names = list(dict.fromkeys([FIRST, path.name, *self.paths]))
            else:
                continue
            of = [self.paths[name] for name in names if name in self.paths]
            ranges = list(self._ranges(frame))
            for one in of:
                found = within(ranges, one.outstanding, space)
                if found:
                    seen.append((one, found))
                    break
        self._place([one.name for one, _ in seen])
        for one, found in seen:
            self._on_acked(event.at_s, [one], space, found)

    def _ranges(self, frame: Fields) -> Iterator[tuple[int, int]]:
        """Ranges of numbers, both ends included."""
        for first, last in ranges_of(frame, "acked_ranges"):
            self.half_open = self.half_open and first != last
            yield first, last - 1 if self.half_open else last

    def _on_acked(
        self, at_s: float, paths: Iterable[Path], space: str, found: Iterable[int]
    ) -> None:
        for path in paths:
            for number in found:
                packet = path.outstanding.pop((space, number), None)
                if packet is None:
                    continue
                trip_s = max(at_s - packet.at_s, 0.0)
                if self.keep:
                    path.delays.append((packet.at_s, trip_s))
                if self._inside(at_s):
                    path.acked_bytes += packet.payload
                    path.trips += 1
                    path.trips_s += trip_s

    def _on_lost(self, event: Event, title: str) -> None:
        header = event.data.part("header")
        # picoquic writes the packet's number and type beside its header too.
        source = header if "packet_number" in header else event.data
        number = source.whole("packet_number")
        space = space_of(kind_of(event.data, header))
        if event.path or title or len(self.paths) <= 1 or number is None:
            self._lost(
                self._path(event, title), event.at_s, (space, -1 if number is None else number)
            )
            return
        size = size_of(event.data, header) or None
        self._unplaced.append((event.at_s, (space, number), size))

    def _place(self, names: list[str]) -> None:
        """Gives losses without a path to one of `names`, on which something happened just after.

        noq logs a loss without its path, just before the ACK or the timer that showed it. Numbers
        of two paths may be the same.
        """
        for at_s, number, size in self._unplaced:
            having = [path for path in self.paths.values() if number in path.outstanding]
            exact = [path for path in having if path.outstanding[number].size == size] or having
            fitting = [path for path in exact if path.name in names] or exact
            if len(fitting) > 1:
                fitting = [path for path in fitting if path.name == self._timer] or fitting
                self.guessed += 1
            if not fitting:
                self.guessed += 1
                fitting = list(self.paths.values())
            self._lost(fitting[0], at_s, number)
        self._unplaced.clear()

    def _lost(self, path: Path, at_s: float, number: Number) -> None:
        packet = path.outstanding.pop(number, None)
        if self.keep:
            path.losses_s.append(at_s)
        place = self.span.bin(at_s)
        path.lost_bins[place] = path.lost_bins.get(place, 0) + 1
        if self._inside(at_s):
            path.lost += 1
            path.lost_bytes += packet.payload if packet else 0.0

    def _on_metrics(self, event: Event, path: Path) -> None:
        data, place = event.data, self.span.bin(event.at_s)
        windows = path.windows
        cwnd = data.number("congestion_window" if "congestion_window" in data else "cwnd")
        if cwnd is not None:
            self._hold(path, event.at_s)
            path.window = (cwnd, event.at_s)
            windows.cwnd[place] = cwnd
        ssthresh, srtt = data.number("ssthresh"), data.number("smoothed_rtt", event.scale_s)
        if ssthresh is not None and ssthresh < MOST:  # noq has 2^64 - 1 for none
            windows.ssthresh[place] = ssthresh
        if srtt is not None:
            windows.srtt[place] = srtt
            if self._inside(event.at_s):
                path.smoothed = (path.smoothed[0] + 1, path.smoothed[1] + srtt)
        # Of a log that was sampled: what arrived since the sample before.
        arrived = data.number("delivered_bytes")
        if arrived is not None:
            path.sampled = True
            more = max(arrived - path.sent.everywhere, 0.0)
            self._carried(path.sent, event.at_s, more)
        lost = data.whole("packets_lost")
        for _ in range(min((lost or 0) - sum(path.lost_bins.values()), MOST_OUTSTANDING)):
            self._lost(path, event.at_s, ("", -1))

    def _hold(self, path: Path, at_s: float) -> None:
        """Adds the time for which the latest window stood."""
        if path.window is None:
            return
        cwnd, since_s = path.window
        lasted = min(at_s, self.span.end_s) - max(since_s, self.span.start_s)
        if lasted > 0:
            path.held = (path.held[0] + cwnd * lasted, path.held[1] + lasted)

    def _on_tuple(self, event: Event, title: str) -> None:
        path = self._path(event, title)
        for name in ("local", "remote"):
            end = endpoint(event.data.part(f"tuple_{name}")) or endpoint(
                event.data.part(f"path_{name}")
            )
            if end:
                setattr(path, name, end)


def endpoint(info: Fields) -> str:
    """An address with its port, if the log has them."""
    for version, form in (("v4", "{}"), ("v6", "[{}]")):
        address = info.text(f"ip_{version}")
        if address:
            port = info.whole(f"port_{version}")
            return form.format(address) + (f":{port}" if port is not None else "")
    return ""


def space_of(kind: str | None) -> str:
    """The packet number space of a type of packet (RFC 9000 §12.3)."""
    kind = (kind or "1rtt").lower()
    return kind if kind in ("initial", "handshake") else "data"


def kind_of(data: Fields, header: Fields) -> str | None:
    """The type of a packet."""
    return header.text("packet_type") or data.text("packet_type")


def size_of(data: Fields, header: Fields) -> float:
    """Bytes of a packet, 0 if the log does not say; noq has them in the header's length."""
    raw = data.part("raw")
    for place, key in ((raw, "length"), (header, "packet_size"), (header, "length")):
        size = place.number(key)
        if size is not None:
            return size
    return 0.0


def payload_of(data: Fields, frames: list[Fields]) -> float | None:
    """Bytes of data of the application in a packet. None if it carries none, or if that is unknown;
    NaN if it carries some, but the log does not say how many.
    """
    found: float | None = None
    for frame in frames:
        if frame.text("frame_type") in CARRYING:
            raw = frame.part("raw")
            long = raw.number("length") if "length" in raw else frame.number("length")
            found = (found or 0.0) + (math.nan if long is None else long)
    if found is None and not frames:
        return data.part("raw").number("payload_length") or None
    return found


def ranges_of(fields: Fields, key: str) -> Iterator[tuple[int, int]]:
    """Ranges of packet numbers, lowest first; one number alone stands for itself."""
    value = fields.values.get(key, [])
    if not isinstance(value, list):
        raise fields.wrong(key, "a list of ranges")
    for part in value:
        ends = [as_whole(one) for one in part] if isinstance(part, list) else []
        if not 1 <= len(ends) <= 2 or None in ends:
            raise fields.wrong(key, "a list of ranges, each of one or two packet numbers")
        known = [end for end in ends if end is not None]
        yield min(known), max(known)


def numbers(data: Fields, outstanding: dict[Number, Outstanding], space: str) -> list[int]:
    """The packets of an event `packets_acked`: a list of numbers, or xquic's range."""
    if "range" in data:
        low, high = data.values["range"]
        return within([(min(low, high), max(low, high))], outstanding, space)
    value = data.values.get("packet_numbers") or []
    if not isinstance(value, list):
        raise data.wrong("packet_numbers", "a list of packet numbers")
    found = [as_whole(one) for one in value]
    if None in found:
        raise data.wrong("packet_numbers", "a list of packet numbers")
    return [one for one in found if one is not None]


def within(
    ranges: list[tuple[int, int]], outstanding: dict[Number, Outstanding], space: str
) -> list[int]:
    """The outstanding packets in some ranges, however wide these are."""
    found: list[int] = []
    for first, last in ranges:
        if last - first < len(outstanding):
            every = range(first, last + 1)
            found.extend(number for number in every if (space, number) in outstanding)
        else:
            found.extend(n for of, n in outstanding if of == space and first <= n <= last)
    return found
