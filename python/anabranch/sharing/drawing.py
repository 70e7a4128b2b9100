"""Random networks of which it is known whether the paths of a connection share a bottleneck."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

DURATION_S = 30.0
"""How long a detector may look."""

PACKET_BITS = 12_000

SUBJECT = "subject"
"""Name of the class with several paths."""

QUEUES = ("droptail", "droptail", "droptail", "red", "codel", "pie")
"""Disciplines of bottlenecks, each as often as it stands here."""

SHALLOWEST_PACKETS = 10
"""The smallest queue: below it, bursts of slow start alone fill it."""

JITTER = 0.01
"""Largest random processing time at the first hop, as a part of the round trip of its path: without
it the phases of flows lock at a drop-tail queue (Floyd and Jacobson 1992).
"""


@dataclass(frozen=True)
class Bottleneck:
    """A congested link and its other users."""

    rate_bps: float
    queue: str
    queue_packets: int
    rivals: tuple[tuple[str, float], ...]
    """Controller and round trip in seconds of each long-lived TCP beside the connection."""
    short_load: float
    """Offered load of short transfers, as a part of the rate."""
    reverse: bool
    """Whether a TCP sends in the other direction, whose queue delays ACKs."""


@dataclass(frozen=True)
class Way:
    """A path of the connection."""

    bottleneck: int
    rtt_s: float
    """Without queues."""
    before: float
    """The part of the one-way delay before the bottleneck."""
    noise_s: float = 0.0
    """Largest random delay behind the bottleneck, as that of a radio link: the path's own."""
    side_load: float = 0.0
    """Load on a queue of the path's own, which is twice as fast as the bottleneck: an application
    that writes and pauses at random.
    """


@dataclass(frozen=True)
class Network:
    """A connection over several paths, and the congested links below them."""

    number: int
    shared: bool
    """Whether all paths cross the same bottleneck; otherwise each has one of its own."""
    bottlenecks: tuple[Bottleneck, ...]
    ways: tuple[Way, ...]

    def document(self, controller: str, duration_s: float = DURATION_S) -> dict[str, Any]:
        """A scenario of the network, as nested data, with this controller of the connection."""
        return document(self, controller, duration_s)


@dataclass(frozen=True)
class Ranges:
    """What networks are drawn from; intervals are drawn with a uniform logarithm, whole numbers
    and choices uniformly.
    """

    rate_bps: tuple[float, float] = (4e6, 100e6)
    rtt_s: tuple[float, float] = (0.010, 0.200)
    buffer_bdp: tuple[float, float] = (0.5, 3.0)
    """Size of a queue in products of rate and mean round trip of its paths."""
    queues: tuple[str, ...] = QUEUES
    paths: tuple[int, ...] = (2, 2, 2, 3, 4)
    rivals: tuple[int, ...] = (0, 1, 2, 3)
    rival_controllers: tuple[str, ...] = ("reno", "cubic")
    short_load: tuple[float, ...] = (0.0, 0.05, 0.2)
    reverse: float = 0.3
    """Probability of a TCP in the other direction."""
    alike: float = 0.25
    """Probability that paths which share nothing have equal rates, round trips and queues, as two
    lines of one provider.
    """
    noise_s: tuple[float, ...] = (0.0, 0.001, 0.005)
    side_load: tuple[float, ...] = (0.0, 0.0, 0.3)
    before: tuple[float, float] = (0.05, 0.95)
    """The part of the one-way delay before the bottleneck: differences of it are lags between what
    paths see of one queue.
    """

    def changed(self, **changes: Any) -> Ranges:
        """The same with some of them replaced."""
        return Ranges(**{**self.__dict__, **changes})


def between(random: Random, ends: tuple[float, float]) -> float:
    """A number between two ends, with a uniform logarithm."""
    low, high = ends
    return low if low == high else math.exp(random.uniform(math.log(low), math.log(high)))


def draw_bottleneck(random: Random, ranges: Ranges, rtt_s: float, rate_bps: float) -> Bottleneck:
    """A congested link of this rate, whose paths have this mean round trip."""
    bdp_packets = rate_bps * rtt_s / PACKET_BITS
    rivals = tuple(
        (random.choice(ranges.rival_controllers), between(random, ranges.rtt_s))
        for _ in range(random.choice(ranges.rivals))
    )
    return Bottleneck(
        rate_bps=rate_bps,
        queue=random.choice(ranges.queues),
        queue_packets=max(
            SHALLOWEST_PACKETS, round(between(random, ranges.buffer_bdp) * bdp_packets)
        ),
        rivals=rivals,
        short_load=random.choice(ranges.short_load),
        reverse=random.random() < ranges.reverse,
    )


def draw(number: int, seed: int, ranges: Ranges | None = None) -> Network:
    """The network of this number: even ones share, odd ones do not."""
    ranges = ranges or Ranges()
    random = Random(f"anabranch.sharing {seed} {number}")
    shared, paths = number % 2 == 0, random.choice(ranges.paths)
    alike = not shared and random.random() < ranges.alike
    rtts = [between(random, ranges.rtt_s) for _ in range(paths)]
    rates = [between(random, ranges.rate_bps) for _ in range(paths)]
    if alike:
        rtts, rates = rtts[:1] * paths, rates[:1] * paths
    if shared:
        bottlenecks = [draw_bottleneck(random, ranges, sum(rtts) / paths, rates[0])]
    else:
        bottlenecks = [
            draw_bottleneck(random, ranges, rtt_s, rate_bps)
            for rtt_s, rate_bps in zip(rtts, rates, strict=True)
        ]
    if alike:
        like = bottlenecks[0]
        bottlenecks = [
            Bottleneck(
                like.rate_bps,
                like.queue,
                like.queue_packets,
                own.rivals,
                own.short_load,
                own.reverse,
            )
            for own in bottlenecks
        ]
    ways = tuple(
        Way(
            0 if shared else place,
            rtt_s,
            random.uniform(*ranges.before),
            random.choice(ranges.noise_s),
            random.choice(ranges.side_load),
        )
        for place, rtt_s in enumerate(rtts)
    )
    return Network(number, shared, tuple(bottlenecks), ways)


@dataclass
class Document:
    """A scenario in the making."""

    duration_s: float
    links: list[dict[str, Any]] = field(default_factory=list)
    flows: list[dict[str, Any]] = field(default_factory=list)

    def line(self, name: str, delay_s: float, jitter_s: float = 0.0) -> str:
        """Adds a link that is never full."""
        link = {"name": name, "delay": _time(delay_s)}
        if jitter_s:
            link["jitter"] = _time(jitter_s)
        self.links.append(link)
        return name

    def over(self, medium: str, name: str, start: str, end: str) -> str:
        """Adds a link over a shared medium, from a station to another."""
        self.links.append({"name": name, "medium": medium, "from": start, "to": end})
        return name

    def tcp(
        self, name: str, controller: str, links: list[str], back: list[str], **more: Any
    ) -> None:
        """Adds a TCP."""
        path = {"links": links, "back": back}
        self.flows.append({"name": name, "controller": controller, "path": [path], **more})

    def written(self, name: str, controller: str, paths: list[dict[str, Any]]) -> dict[str, Any]:
        """The whole as nested data, with the connection whose paths are judged."""
        subject = {"name": SUBJECT, "controller": controller, "subject": True, "path": paths}
        return {
            "name": name,
            "duration": _time(self.duration_s),
            "sample": "1 s",
            "link": self.links,
            "flow": [subject, *self.flows],
        }


def document(network: Network, controller: str, duration_s: float = DURATION_S) -> dict[str, Any]:
    """A scenario of the network, as nested data, with this controller of the connection."""
    made = Document(duration_s)
    for place, bottleneck in enumerate(network.bottlenecks):
        congest(made, place, bottleneck)
    paths = []
    for number, way in enumerate(network.ways):
        one_way_s = way.rtt_s / 2.0
        place = way.bottleneck
        links = [made.line(f"near-{number}", way.before * one_way_s, JITTER * way.rtt_s)]
        if way.side_load:
            links.append(_side(made, number, way, network.bottlenecks[place]))
        links.append(f"down-{place}")
        links.append(made.line(f"far-{number}", (1.0 - way.before) * one_way_s, way.noise_s))
        back = made.line(f"back-{number}", one_way_s)
        paths.append({"links": links, "back": [f"up-{place}", back]})
    return made.written(f"sharing-{network.number}", controller, paths)


def congest(made: Document, place: int, bottleneck: Bottleneck) -> None:
    """Adds a bottleneck in both directions, and its other users."""
    for name in (f"down-{place}", f"up-{place}"):
        queue = queue_table(bottleneck.queue, bottleneck.queue_packets)
        made.links.append({"name": name, "rate": _rate(bottleneck.rate_bps), "queue": queue})
    for number, (controller, rtt_s) in enumerate(bottleneck.rivals):
        name = f"rival-{place}-{number}"
        there = made.line(name, rtt_s / 2.0, JITTER * rtt_s)
        back = made.line(f"{name}-back", rtt_s / 2.0)
        links, way_back = [there, f"down-{place}"], [f"up-{place}", back]
        made.tcp(name, controller, links, way_back, spread="2 s")
    if bottleneck.short_load:
        _shorts(made, place, bottleneck)
    if bottleneck.reverse:
        there = made.line(f"reverse-{place}", 0.02, 0.001)
        back = made.line(f"reverse-{place}-back", 0.02)
        links, way_back = [there, f"up-{place}"], [f"down-{place}", back]
        made.tcp(f"reverse-{place}", "cubic", links, way_back, spread="2 s")


def _side(made: Document, number: int, way: Way, bottleneck: Bottleneck) -> str:
    """Adds a queue that only this path crosses, and the traffic on it. It is no bottleneck: a TCP
    leaves half of it, and bursts of the application need at most the other half.
    """
    name, rate_bps = f"side-{number}", SIDE_SPEED * bottleneck.rate_bps
    made.links.append(
        {
            "name": name,
            "rate": _rate(rate_bps),
            "queue": queue_table("droptail", bottleneck.queue_packets),
        }
    )
    burst_bps = rate_bps - bottleneck.rate_bps
    on = way.side_load * rate_bps / burst_bps
    made.flows.append(
        {
            "name": f"{name}-traffic",
            "protocol": "udp",
            "app_rate": _rate(burst_bps),
            "pauses": {"on": _time(BURST_S), "off": _time(BURST_S * (1.0 - on) / on)},
            "path": [{"links": [name]}],
        }
    )
    return name


SIDE_SPEED = 2.0
"""Rate of a path's own queue in rates of its bottleneck."""

BURST_S = 0.1
"""Mean length of a burst on a path's own queue."""

SHORT_BYTES = 50_000
"""Mean size of a short transfer."""


def _shorts(made: Document, place: int, bottleneck: Bottleneck) -> None:
    there = made.line(f"short-{place}", 0.02, 0.001)
    back = made.line(f"short-{place}-back", 0.02)
    made.tcp(
        f"short-{place}",
        "cubic",
        [there, f"down-{place}"],
        [f"up-{place}", back],
        arrivals=bottleneck.short_load * bottleneck.rate_bps / (8 * SHORT_BYTES),
        transfer=f"{SHORT_BYTES} B",
        sizes={"pareto": 1.5},
    )


def queue_table(kind: str, packets: int) -> dict[str, Any]:
    """A queue of this kind: RED drops between a quarter and three quarters of it."""
    limit = f"{packets} packets"
    if kind == "droptail":
        return {"droptail": {"packets": limit}}
    if kind == "red":
        ends = {
            "min": f"{max(2, packets // 4)} packets",
            "max": f"{max(4, 3 * packets // 4)} packets",
        }
        return {"red": {**ends, "max_p": 0.1, "limit": limit}}
    return {kind: {"limit": limit}}


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e6)} us"


def _rate(bps: float) -> str:
    return f"{round(bps / 1e3)} kb/s"
