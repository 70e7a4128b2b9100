"""Random networks whose bottlenecks are channels of Wi-Fi.

Stations of a channel share its airtime: while one sends, the others wait. Two paths over one
channel therefore share a bottleneck, whether their packets wait in one queue or in two. Nothing is
lost but by collisions and full queues: losses on the air would keep windows too small to fill the
channel, and what is not full is no bottleneck.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from .drawing import (
    DURATION_S,
    JITTER,
    Bottleneck,
    Document,
    Ranges,
    Way,
    between,
    congest,
    draw_bottleneck,
    queue_table,
)


@dataclass(frozen=True)
class Layout:
    """Where the two paths of a connection cross channels, and who sends their data there."""

    title: str
    channels: tuple[int | None, int | None]
    """The channel of each path; None is a wire."""
    up: bool = False
    """Whether the host sends the data, rather than the access point."""
    own_station: bool = True
    """Whether each path has an access point and an adapter of its own, and so a queue; otherwise
    both paths wait in one queue.
    """

    @property
    def shared(self) -> bool:
        """Whether the paths share a bottleneck: the airtime of a channel."""
        return self.channels[0] == self.channels[1]


LAYOUTS = {
    "one-queue": Layout("one channel, one access point", (0, 0), own_station=False),
    "one-queue-up": Layout(
        "one channel, one access point, upwards", (0, 0), up=True, own_station=False
    ),
    "two-queues": Layout("one channel, two access points", (0, 0)),
    "two-queues-up": Layout("one channel, two access points, upwards", (0, 0), up=True),
    "two-channels": Layout("two channels", (0, 1)),
    "two-channels-up": Layout("two channels, upwards", (0, 1), up=True),
    "beside-a-wire": Layout("Wi-Fi and a wire", (0, None)),
}

STANDARDS = ("g", "n-5")
"""Amendments that a channel has, at their fastest rates for one stream: 54 and 65 Mb/s."""

RINGS = {"g": 1, "n-5": 32}
"""Packets in the driver: what is aggregated comes from there."""

QUEUES = ("droptail", "droptail", "codel")

QUEUE_PACKETS = (50.0, 500.0)
"""Size of the queue of a station that sends the connection's data."""


@dataclass(frozen=True)
class Station:
    """A station of others, with a TCP."""

    controller: str
    rtt_s: float
    up: bool
    access_point: int


@dataclass(frozen=True)
class Channel:
    """A channel of Wi-Fi and its other users."""

    standard: str
    queue: str
    queue_packets: int
    stations: tuple[Station, ...]


@dataclass(frozen=True)
class WifiNetwork:
    """A connection over two paths, of which one at least crosses a channel."""

    number: int
    layout: Layout
    channels: tuple[Channel, ...]
    wires: tuple[Bottleneck, ...]
    ways: tuple[Way, ...]

    @property
    def shared(self) -> bool:
        """Whether the paths share a bottleneck."""
        return self.layout.shared

    def document(self, controller: str, duration_s: float = DURATION_S) -> dict[str, Any]:
        """A scenario of the network, as nested data, with this controller of the connection."""
        return _document(self, controller, duration_s)


def draw_wifi(
    number: int,
    seed: int,
    layout: Layout,
    stations: int,
    standards: tuple[str, ...] = STANDARDS,
    queues: tuple[str, ...] = QUEUES,
) -> WifiNetwork:
    """The network of this number in a layout, with so many stations of others on each channel.
    Round trips, random noise and controllers of others have the ranges of wired networks.
    """
    random, ranges = Random(f"anabranch.sharing wifi {seed} {number}"), Ranges()
    rtts = [between(random, ranges.rtt_s) for _ in layout.channels]
    ways = tuple(
        Way(
            0 if channel is None else channel,
            rtt_s,
            random.uniform(*ranges.before),
            random.choice(ranges.noise_s),
        )
        for channel, rtt_s in zip(layout.channels, rtts, strict=True)
    )
    there = [channel for channel in dict.fromkeys(layout.channels) if channel is not None]
    access_points = 2 if layout.own_station and layout.shared else 1
    channels = tuple(
        Channel(
            random.choice(standards),
            random.choice(queues),
            round(between(random, QUEUE_PACKETS)),
            tuple(
                Station(
                    random.choice(ranges.rival_controllers),
                    between(random, ranges.rtt_s),
                    random.random() < 0.5,
                    random.randrange(access_points),
                )
                for _ in range(stations)
            ),
        )
        for _ in there
    )
    wires = [
        draw_bottleneck(random, ranges, rtt_s, between(random, ranges.rate_bps))
        for channel, rtt_s in zip(layout.channels, rtts, strict=True)
        if channel is None
    ]
    return WifiNetwork(number, layout, channels, tuple(wires), ways)


def _document(network: WifiNetwork, controller: str, duration_s: float) -> dict[str, Any]:
    made, layout = Document(duration_s), network.layout
    media = [_medium(place, one) for place, one in enumerate(network.channels)]
    for place, wire in enumerate(network.wires):
        congest(made, place, wire)
    paths = []
    for number, (channel, way) in enumerate(zip(layout.channels, network.ways, strict=True)):
        one_way_s = way.rtt_s / 2.0
        near = made.line(f"near-{number}", way.before * one_way_s, JITTER * way.rtt_s)
        far = made.line(f"far-{number}", (1.0 - way.before) * one_way_s, way.noise_s)
        back = made.line(f"back-{number}", one_way_s)
        if channel is None:
            there, answer = "down-0", "up-0"
        else:
            there, answer = _crossing(made, network, number, channel, media)
        paths.append({"links": [near, there, far], "back": [answer, back]})
    for place, one in enumerate(network.channels):
        _others(made, place, one)
    return made.written(f"sharing-wifi-{network.number}", controller, paths) | {"medium": media}


def _medium(place: int, channel: Channel) -> dict[str, Any]:
    return {"name": f"air-{place}", "standard": channel.standard, "station": []}


def _crossing(
    made: Document,
    network: WifiNetwork,
    path: int,
    channel: int,
    media: list[dict[str, Any]],
) -> tuple[str, str]:
    """The links of a path over its channel and back, and the station that sends its data."""
    layout, air = network.layout, network.channels[channel]
    number = path if layout.own_station and layout.shared else 0
    # An access point for each path, or one; a host has an adapter for each channel at least.
    access, host = _access_point(channel, number), f"host-{channel}-{number}"
    sender, receiver = (host, access) if layout.up else (access, host)
    there, back = f"there-{channel}-{number}", f"answer-{channel}-{number}"
    if not any(link["name"] == there for link in made.links):
        made.over(media[channel]["name"], there, sender, receiver)
        made.over(media[channel]["name"], back, receiver, sender)
        media[channel]["station"].append(
            {
                "name": sender,
                "queue": queue_table(air.queue, air.queue_packets),
                "ring": f"{RINGS[air.standard]} packets",
            }
        )
    return there, back


def _access_point(channel: int, number: int) -> str:
    return f"ap-{channel}-{number}"


def _others(made: Document, place: int, channel: Channel) -> None:
    """Adds the stations of others, each with a TCP through an access point."""
    medium = f"air-{place}"
    for number, one in enumerate(channel.stations):
        name, access = f"other-{place}-{number}", _access_point(place, one.access_point)
        ends = (name, access) if one.up else (access, name)
        made.over(medium, f"{name}-there", *ends)
        made.over(medium, f"{name}-answer", *reversed(ends))
        line = made.line(f"{name}-line", one.rtt_s / 2.0, JITTER * one.rtt_s)
        back = made.line(f"{name}-back", one.rtt_s / 2.0)
        made.tcp(
            name,
            one.controller,
            [line, f"{name}-there"],
            [f"{name}-answer", back],
            spread="2 s",
        )
