"""Draws networks: numbers between 0 and 1 become links, users and events within ranges.

Each number has a name, which an optimiser learns about: "link0.rate" is the place of the rate of
the first link in its range, on a logarithmic scale. A name is asked for only where it matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

from .network import SAME, Event, Link, Network, Path, User, rounded, tidy
from .ranges import Ranges
from .timing import packets, slowed

Choice = TypeVar("Choice")

SELDOM = 0.25
"""The part of draws that has a feature which most networks lack, such as random loss."""

SLACK = 2.0
"""Runs of this many times `Ranges.packets` are accepted where slower links would have too small
windows."""

MOST_OTHERS = 3
"""Classes of other users."""

EventNeed = Literal["never", "seldom", "always"]


@dataclass(frozen=True)
class Needs:
    """What a network must have for a goal to mean something."""

    others: int = 0
    """Least number of other users with data without end."""
    paths: int = 1
    """Least number of the subject's paths."""
    queues: tuple[str, ...] | None = None
    """The only queues, where the goal depends on them."""
    event: EventNeed = "seldom"
    transfers: bool = False
    """Whether somebody makes short transfers; else seldom."""
    steady: bool = False
    """Whether there is nothing that theory leaves out: late starts, transfers, events, bursts of
    losses, jitter, reordering."""
    lawful: bool = False
    """Whether users have controllers with a law, which theory knows. There are two classes then:
    theory's time grows with their number."""
    smooth: bool = False
    """Whether the law under test must not jump: at a jump theory has an interpolation's slopes."""


class Source(Protocol):
    """Where numbers come from: an optimiser, or chance."""

    def unit(self, name: str) -> float:
        """A number from 0 to 1."""

    def pick(self, name: str, options: Sequence[str]) -> str:
        """One of the options."""


def draw(source: Source, ranges: Ranges, needs: Needs) -> Network:
    """A network within the ranges that has what is needed. Raises Unfit for one that has not."""
    return _Drawing(source, ranges, needs).network()


class Unfit(ValueError):
    """A network that is outside the ranges, or that lacks what a goal needs."""


@dataclass(frozen=True)
class _Drawing:
    source: Source
    ranges: Ranges
    needs: Needs

    def network(self) -> Network:
        if why := impossible(self.ranges, self.needs):
            raise ValueError(why)
        links = self.count("links", *self.ranges.links)
        least = max(self.ranges.paths[0], self.needs.paths)
        same = self.source.unit("rtt.same") < 0.5
        common = self.log("rtt", *self.ranges.rtt_s) if same else None
        paths = self.count("subject.paths", least, self.ranges.paths[1])
        subject = User(SAME, self.paths("subject", paths, links, common))
        users = (subject, *self.others(links, common))
        bare = Network(tuple(Link(1.0) for _ in range(links)), users, 0.0)
        network = tidy(replace(bare, links=self.links(bare)))
        network = replace(network, event=self.event(len(network.links)))
        network = replace(network, links=self.uneven(network.links))
        slowest = (self.ranges.rate_bps[0], self.ranges.window)
        network = slowed(network, self.ranges.packets, slowest, self.ranges.rtt_s[1])
        check(network, self.ranges, self.needs)
        return network

    def others(self, links: int, common: float | None) -> list[User]:
        needs = self.needs
        room = self.ranges.users[1] - 1
        least = max(self.ranges.users[0] - 1, needs.others)
        most = min(1 if needs.lawful else MOST_OTHERS, room)
        classes = self.count("others", min(1, least), most)
        found: list[User] = []
        for place in range(classes):
            name = f"other{place}"
            left = room - sum(user.count for user in found)
            if left <= 0:
                break
            known = [tcp for tcp in self.ranges.others if tcp == "reno" or not needs.lawful]
            controller = self.source.pick(f"{name}.controller", (SAME, *known))
            paths = self.count(f"{name}.paths", 1, 2) if controller == SAME else 1
            count = 1 + min(int(self.source.unit(f"{name}.count") ** 2 * left), left - 1)
            late = not needs.steady and self.seldom(f"{name}.late")
            found.append(User(controller, self.paths(name, paths, links, common), count, late))
        if needs.transfers or (not needs.steady and room and self.seldom("short")):
            if found and sum(user.count for user in found) == room:
                found[-1] = replace(found[-1], count=found[-1].count - 1)
            found = [user for user in found if user.count]
            load = rounded(self.log("short.load", 0.05, 0.5), 1)
            found.append(User("reno", self.paths("short", 1, links, common), transfers=load))
        return found

    def paths(self, name: str, count: int, links: int, common: float | None) -> tuple[Path, ...]:
        return tuple(self.path(f"{name}.path{number}", links, common) for number in range(count))

    def path(self, name: str, links: int, common: float | None) -> Path:
        first = self.place(f"{name}.link", links)
        way: tuple[int, ...] = (first,)
        if links > 1 and self.source.unit(f"{name}.long") < SELDOM:
            second = self.place(f"{name}.second", links - 1)
            way = (first, second + (second >= first))
        rtt_s = common or self.log(f"{name}.rtt", *self.ranges.rtt_s)
        return Path(way, rounded(rtt_s))

    def links(self, bare: Network) -> tuple[Link, ...]:
        """Links with rates at which every even share is large enough, where the range has such."""
        crossed = {link for path in bare.paths for link in path.links}
        return tuple(
            self.link(f"link{place}", bare, place) if place in crossed else bare.links[place]
            for place in range(len(bare.links))
        )

    def link(self, name: str, bare: Network, place: int) -> Link:
        ranges = self.ranges
        least_bps = ranges.window / bare.window(place)  # `bare` has links of 1 bit/s
        low, high = ranges.rate_bps
        rate_bps = self.log(f"{name}.rate", min(max(low, 1.02 * least_bps), high), high)
        queue = self.source.pick(f"{name}.queue", known_queues(ranges, self.needs))
        buffer = rounded(self.log(f"{name}.buffer", *ranges.buffer))
        lossy = self.seldom(f"{name}.lossy")
        loss = rounded(self.log(f"{name}.loss", *ranges.loss)) if lossy else 0.0
        bursty = lossy and not self.needs.steady and self.seldom(f"{name}.bursty")
        burst = rounded(self.log(f"{name}.burst", *ranges.burst)) if bursty else 0.0
        return Link(rounded(rate_bps), queue, buffer, loss, burst)

    def uneven(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        """The links; seldom one of them delays packets at random, or holds some back."""
        if self.needs.steady or not self.seldom("uneven"):
            return links
        place = self.place("uneven.link", len(links))
        if self.source.unit("uneven.kind") < 0.5:
            jitter_s = rounded(self.log("uneven.jitter", *self.ranges.jitter_s))
            link = replace(links[place], jitter_s=jitter_s)
        else:
            reorder = rounded(self.log("uneven.reorder", *self.ranges.reorder))
            link = replace(links[place], reorder=reorder)
        return (*links[:place], link, *links[place + 1 :])

    def event(self, links: int) -> Event | None:
        need = self.needs.event
        if need == "never" or self.needs.steady:
            return None
        if need == "seldom" and not self.seldom("event"):
            return None
        link = self.place("event.link", links)
        if self.source.unit("event.kind") < 0.5:
            return Event(link, "outage", rounded(self.log("event.outage", *self.ranges.outage_s)))
        return Event(link, "step", rounded(self.log("event.step", *self.ranges.step)))

    def log(self, name: str, low: float, high: float) -> float:
        """A value between two others, on a logarithmic scale."""
        if low == high:
            return low
        value: float = low * (high / low) ** self.source.unit(name)
        return min(max(value, low), high)

    def count(self, name: str, low: int, high: int) -> int:
        """A whole number."""
        if low >= high:
            return low
        return low + self.place(name, high - low + 1)

    def place(self, name: str, options: int) -> int:
        """The number of one of so many options."""
        if options == 1:
            return 0
        return min(int(self.source.unit(name) * options), options - 1)

    def seldom(self, name: str) -> bool:
        return self.source.unit(name) > 1.0 - SELDOM


def known_queues(ranges: Ranges, needs: Needs) -> list[str]:
    """The queues that links may have."""
    return [queue for queue in needs.queues or ranges.queues if queue in ranges.queues]


def impossible(ranges: Ranges, needs: Needs) -> str | None:
    """Why no network within the ranges has what is needed; None if one may have."""
    if ranges.users[1] - 1 < needs.others + needs.transfers:
        return f"it needs other users, and --users is at most {ranges.users[1]}"
    if ranges.paths[1] < needs.paths:
        return f"it needs {needs.paths} paths, and --paths is at most {ranges.paths[1]}"
    if needs.queues and not set(needs.queues) & set(ranges.queues):
        return f"it needs {' or '.join(needs.queues)}, and --queues is {','.join(ranges.queues)}"
    return None


def narrowed(ranges: Ranges, needs: Needs) -> Ranges:
    """The part of the ranges that the networks for a goal come from."""
    known = tuple(tcp for tcp in ranges.others if tcp == "reno" or not needs.lawful)
    return replace(
        ranges,
        queues=tuple(known_queues(ranges, needs)),
        others=known,
        paths=(max(ranges.paths[0], needs.paths), ranges.paths[1]),
        users=(max(ranges.users[0], 1 + needs.others), ranges.users[1]),
    )


def check(network: Network, ranges: Ranges, needs: Needs) -> None:
    """Raises Unfit for a network outside the ranges, or without what is needed."""
    low, high = ranges.rate_bps
    if not all(low <= link.rate_bps <= high for link in network.links):
        raise Unfit("a link's rate is outside the range")
    if min(network.windows()) < 0.97 * ranges.window:
        raise Unfit("a window is below the least one")
    if packets(network) > SLACK * ranges.packets:
        raise Unfit("a run has too many packets")
    if not all(link.queue in known_queues(ranges, needs) for link in network.links):
        raise Unfit("a queue is of another kind")
    if not ranges.links[0] <= len(network.links) <= ranges.links[1]:
        raise Unfit("the number of links is outside the range")
    users = sum(user.count for user in network.users)
    if not ranges.users[0] <= users <= ranges.users[1]:
        raise Unfit("the number of users is outside the range")
    if sum(user.count for user in network.others if not user.transfers) < needs.others:
        raise Unfit("there are too few other users")
    least = max(ranges.paths[0], needs.paths)
    if not least <= len(network.subject.paths) <= ranges.paths[1]:
        raise Unfit("the number of the subject's paths is outside the range")
    if needs.transfers and not any(user.transfers for user in network.users):
        raise Unfit("nobody makes short transfers")
    if needs.event == "always" and network.event is None:
        raise Unfit("nothing happens")
    if not all(ranges.rtt_s[0] <= path.rtt_s <= ranges.rtt_s[1] for path in network.paths):
        raise Unfit("a round trip is outside the range")
