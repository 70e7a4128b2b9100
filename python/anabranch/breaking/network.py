"""Networks as data: what the search draws and the shrinking makes smaller."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

SAME = "same"
"""Stands for the controller under test as that of another user."""

PACKET_BITS = 8 * 1500
"""Bits of a full packet on the wire."""

EventKind = Literal["outage", "step"]


@dataclass(frozen=True)
class Link:
    """A bottleneck. It has no delay: round trips belong to paths."""

    rate_bps: float
    queue: str = "droptail"
    """A kind of `queues.QUEUES`."""
    buffer: float = 1.0
    """Its size in bandwidth-delay products, at the mean round trip of the paths that cross it."""
    loss: float = 0.0
    """Random loss, a probability."""
    burst: float = 0.0
    """Mean number of consecutive packets that random loss takes; 0 for independent losses."""
    jitter_s: float = 0.0
    """Largest random extra delay of a packet; packets keep their order."""
    reorder: float = 0.0
    """Probability that a packet is held back, so that others overtake it."""


@dataclass(frozen=True)
class Path:
    """A path of a user: the links that it crosses, and its round trip without queues."""

    links: tuple[int, ...]
    """Places in `Network.links`, in order."""
    rtt_s: float


@dataclass(frozen=True)
class User:
    """A user, or `count` identical ones."""

    controller: str
    """The name of a TCP, or `SAME`."""
    paths: tuple[Path, ...]
    count: int = 1
    late: bool = False
    """Whether it starts in the middle of the measured time."""
    transfers: float = 0.0
    """Short transfers, as a part of the rate of the path's slowest link; 0 is data without end."""


@dataclass(frozen=True)
class Event:
    """A change of a link in the first part of the measured time."""

    link: int
    kind: EventKind
    size: float
    """Seconds of an outage; the new rate over the old one for a step."""


@dataclass(frozen=True)
class Network:
    """Links and users; the first user is the subject, which has the controller under test."""

    links: tuple[Link, ...]
    users: tuple[User, ...]
    duration_s: float
    event: Event | None = None

    @property
    def subject(self) -> User:
        """The user whose controller is under test."""
        return self.users[0]

    @property
    def others(self) -> tuple[User, ...]:
        """All other users."""
        return self.users[1:]

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of every user."""
        return tuple(path for user in self.users for path in user.paths)

    def crossing(self, link: int) -> Iterator[tuple[User, Path]]:
        """The users' paths that cross a link."""
        return ((user, path) for user in self.users for path in user.paths if link in path.links)

    def rtt_s(self, link: int) -> float:
        """The mean round trip of the paths that cross a link."""
        found = [path.rtt_s for _, path in self.crossing(link)]
        return sum(found) / len(found)

    def bdp_packets(self, link: int) -> float:
        """The bandwidth-delay product of a link."""
        return self.links[link].rate_bps * self.rtt_s(link) / PACKET_BITS

    def flows(self, link: int) -> int:
        """How many subflows and flows without end share a link."""
        return sum(user.count for user, _ in self.crossing(link) if not user.transfers)

    def window(self, link: int) -> float:
        """The window in segments of each flow without end on a link that they alone fill, with an
        empty queue: equal losses give Reno equal windows. Infinite where there is no such flow.
        """
        flows = sum(
            user.count / path.rtt_s for user, path in self.crossing(link) if not user.transfers
        )
        return self.links[link].rate_bps / PACKET_BITS / flows if flows else math.inf

    def windows(self) -> list[float]:
        """`window` of every link."""
        return [self.window(link) for link in range(len(self.links))]

    def to_json(self) -> dict[str, Any]:
        """Plain data, which `of_json` reads."""
        return asdict(self)

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> Network:
        """The network of plain data."""
        users = [
            User(
                **{key: value for key, value in user.items() if key != "paths"},
                paths=tuple(Path(tuple(path["links"]), path["rtt_s"]) for path in user["paths"]),
            )
            for user in content["users"]
        ]
        event = content.get("event")
        return cls(
            tuple(Link(**link) for link in content["links"]),
            tuple(users),
            content["duration_s"],
            Event(**event) if event else None,
        )

    @property
    def size(self) -> tuple[float, ...]:
        """What makes a network large, the most important first; shrinking lowers it.

        Links, users, paths, links that paths cross, events, random losses, those in bursts, jitter,
        reordering, late starts, short transfers; then how many kinds of queues, kinds of
        controllers, sizes of buffers, round trips and rates there are; then digits of the numbers;
        then the duration.
        """
        links, users, paths = self.links, self.users, self.paths
        queues = {link.queue for link in links}
        others = {user.controller for user in self.others}
        counted = (
            len(links),
            sum(user.count for user in users),
            len(paths),
            sum(len(path.links) for path in paths),
            int(self.event is not None),
            sum(link.loss > 0 for link in links),
            sum(link.burst > 0 for link in links),
            sum(link.jitter_s > 0 for link in links),
            sum(link.reorder > 0 for link in links),
            sum(user.late for user in users),
            sum(user.transfers > 0 for user in users),
            len(queues) + sum(link.queue != "droptail" for link in links),
            len(others - {"reno"}),
            len({link.buffer for link in links}),
            len({path.rtt_s for path in paths}),
            len({link.rate_bps for link in links}),
        )
        return (*map(float, counted), float(sum(map(digits, self.numbers()))), self.duration_s)

    def numbers(self) -> Iterator[float]:
        """The numbers that a reader of the network has to know."""
        for link in self.links:
            yield from (link.rate_bps, link.buffer, link.loss, link.burst)
            yield from (link.jitter_s, link.reorder)
        yield from (path.rtt_s for path in self.paths)
        yield from (user.transfers for user in self.users)
        if self.event:
            yield self.event.size


def digits(value: float) -> int:
    """How unround a number is: 0 for zero and 1, 2 and 5 times a power of ten, else its significant
    digits up to three.
    """
    if value == 0:
        return 0
    text = f"{value:.2e}".partition("e")[0].replace(".", "").rstrip("0")
    return 0 if text in ("1", "2", "5") else len(text)


def rounded(value: float, places: int = 2) -> float:
    """A number with so many significant digits."""
    return float(f"{value:.{places - 1}e}")


def rounder(value: float) -> list[float]:
    """Rounder numbers near a number, the roundest and then the nearest first."""
    if digits(value) == 0:
        return []
    power = math.floor(math.log10(value))
    near = sorted(
        (float(f"{m}e{power + shift}") for m in (1, 2, 5) for shift in (0, 1)),
        key=lambda other: abs(math.log(other / value)),
    )[:2]
    single = rounded(value, 1)
    return [*near, *([single] if digits(single) < digits(value) and single not in near else [])]


def tidy(network: Network) -> Network:
    """The same network without links that nobody crosses, in one order: links as paths meet them,
    the other users by their paths; equal users are counted together.

    The subject stays first, and an event on a link that is gone goes too.
    """
    users = (network.subject, *_merged(network.others))
    met = dict.fromkeys(link for user in users for path in user.paths for link in path.links)
    place = {link: number for number, link in enumerate(met)}

    def moved(user: User) -> User:
        paths = (
            replace(path, links=tuple(place[link] for link in path.links)) for path in user.paths
        )
        return replace(user, paths=tuple(paths))

    event = network.event
    if event:
        event = replace(event, link=place[event.link]) if event.link in place else None
    return replace(
        network,
        links=tuple(network.links[link] for link in met),
        users=tuple(map(moved, users)),
        event=event,
    )


def _merged(users: Sequence[User]) -> list[User]:
    """Users in one order, equal ones counted together."""
    found: dict[User, int] = {}
    for user in users:
        alone = replace(user, count=1)
        found[alone] = found.get(alone, 0) + user.count
    merged = [replace(user, count=count) for user, count in found.items()]
    return sorted(merged, key=lambda user: (_key(user), user.count))


def _key(user: User) -> tuple[Any, ...]:
    paths = tuple((path.links, path.rtt_s) for path in user.paths)
    return (user.transfers > 0, user.controller == SAME, user.controller, user.late, paths)
