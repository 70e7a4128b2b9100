"""Shrinking: from a broken network to the smallest one that is broken in the same way.

As in Hypothesis, simpler networks are tried one after the other, the most different first, and
each that is still broken takes the place of the last. `Network.size` says what simpler is: fewer
links, users and paths come before rounder numbers. It falls with every step, so shrinking ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from .drawing import SLACK, Needs, Unfit, check
from .kind import Judged
from .network import SAME, Link, Network, Path, User, digits, rounded, rounder, tidy
from .ranges import Ranges
from .timing import deepened, least_duration_s, packets, round_down, slowed, timed

Part = TypeVar("Part")

MOST_TRIED = 600
"""Networks that one shrinking tries at most."""

Broken = Callable[[Network], Judged | None]
"""The verdict on a network if it is broken, else None."""


@dataclass(frozen=True)
class Step:
    """A network of a shrinking, and how it is broken."""

    network: Network
    judged: Judged


@dataclass(frozen=True)
class _Rules:
    """What a smaller network has to be."""

    broken: Broken
    ranges: Ranges
    needs: Needs
    ended: Callable[[], bool]


def shrink(
    start: Step,
    broken: Broken,
    ranges: Ranges,
    needs: Needs,
    tell: Callable[[int, Step], object] = lambda tried, step: None,
    ended: Callable[[], bool] = lambda: False,
) -> list[Step]:
    """The broken networks from `start` to the smallest one, each smaller than the last.

    `broken` is asked about networks within the ranges that have what is needed; it has to answer
    the same for the same network. `tell` hears how many were tried, and the smallest so far;
    `ended` says that time is up.
    """
    tell(1, start)
    rules = _Rules(broken, ranges, needs, ended)
    chain, tried = [start], {tidy(start.network)}
    again = True
    while again:
        again = False
        for simpler in PASSES:
            while step := _first(chain[-1].network, simpler, rules, tried):
                chain.append(step)
                again = True
                tell(len(tried), step)
            if len(tried) >= MOST_TRIED or ended():
                return chain
    return chain


def _first(
    current: Network,
    simpler: Callable[[Network], Iterator[Network]],
    rules: _Rules,
    tried: set[Network],
) -> Step | None:
    """The first of the simpler networks that is broken."""
    for candidate in simpler(current):
        network = fitted(candidate, rules.ranges, rules.needs)
        if network is None or network in tried or not network.size < current.size:
            continue
        if len(tried) >= MOST_TRIED or rules.ended():
            return None
        tried.add(network)
        if verdict := rules.broken(network):
            return Step(network, verdict)
    return None


def fitted(network: Network, ranges: Ranges, needs: Needs) -> Network | None:
    """The network in order, with a duration that measures something; None if it is outside the
    ranges. Links on which windows would be too small get faster, and all links slower where a run
    would cost too much.
    """
    network = timed(deepened(_widened(tidy(network), ranges.window)))
    if packets(network) > SLACK * ranges.packets:
        network = slowed(
            network, SLACK * ranges.packets, (ranges.rate_bps[0], ranges.window), ranges.rtt_s[1]
        )
    try:
        check(network, ranges, needs)
    except (Unfit, ValueError):
        return None
    return network


def _widened(network: Network, least_window: float) -> Network:
    """The network with rates that leave every flow the least window."""
    links = []
    for link, window in zip(network.links, network.windows(), strict=True):
        rate_bps = link.rate_bps
        if window < least_window:
            rate_bps = rounded(1.05 * least_window / window * rate_bps)
        links.append(replace(link, rate_bps=rate_bps))
    return replace(network, links=tuple(links))


def fewer_users(network: Network) -> Iterator[Network]:
    """Without a class of other users, or with one of them; at the same rates, and at rates that
    leave everybody's share as it was.
    """
    for place, user in reversed(list(enumerate(network.users))):
        if place == 0:
            continue
        counts = [
            0,
            *([1] if user.count > 2 else []),
            *([user.count - 1] if user.count > 1 else []),
        ]
        for count in counts:
            kept = (replace(user, count=count),) if count else ()
            fewer = replace(
                network, users=network.users[:place] + kept + network.users[place + 1 :]
            )
            yield fewer
            yield _same_shares(fewer, network)


def _same_shares(fewer: Network, before: Network) -> Network:
    """The network with rates in proportion to the users that are left."""
    links = [
        replace(
            link,
            rate_bps=rounded(
                link.rate_bps * max(fewer.flows(place), 1) / max(before.flows(place), 1)
            ),
        )
        for place, link in enumerate(fewer.links)
    ]
    return replace(fewer, links=tuple(links))


def fewer_links(network: Network) -> Iterator[Network]:
    """Without a link, or with two links as one."""
    places = range(len(network.links))
    for gone in reversed(places):
        if found := _mapped(network, {place: place for place in places if place != gone}):
            yield found
    for gone in reversed(places):
        for kept in places:
            if kept != gone and (found := _mapped(network, dict(enumerate(places)) | {gone: kept})):
                yield found


def _mapped(network: Network, new: Mapping[int, int]) -> Network | None:
    """The network with `new` links in its paths, without those that have none; None if the subject
    has no path left.
    """

    def paths(user: User) -> tuple[Path, ...]:
        found = []
        for path in user.paths:
            links = dict.fromkeys(new[link] for link in path.links if link in new)
            if links:
                found.append(replace(path, links=tuple(links)))
        return tuple(found)

    users = [replace(user, paths=paths(user)) for user in network.users]
    if not users[0].paths:
        return None
    event = network.event
    if event:
        event = replace(event, link=new[event.link]) if event.link in new else None
    kept = tuple(user for user in users if user.paths)
    return replace(network, users=kept, event=event)


def fewer_paths(network: Network) -> Iterator[Network]:
    """Without a path of a user, or with a shorter one."""
    for place, user in enumerate(network.users):
        for number in reversed(range(len(user.paths))):
            if len(user.paths) > 1:
                yield _with_user(network, place, replace(user, paths=_without(user.paths, number)))
            for gone in range(len(user.paths[number].links)):
                links = user.paths[number].links
                if len(links) > 1:
                    path = replace(user.paths[number], links=_without(links, gone))
                    paths = (*user.paths[:number], path, *user.paths[number + 1 :])
                    yield _with_user(network, place, replace(user, paths=paths))


def _without(parts: tuple[Part, ...], place: int) -> tuple[Part, ...]:
    return parts[:place] + parts[place + 1 :]


def _with_user(network: Network, place: int, user: User) -> Network:
    return replace(network, users=(*network.users[:place], user, *network.users[place + 1 :]))


def _with_link(network: Network, place: int, link: Link) -> Network:
    return replace(network, links=(*network.links[:place], link, *network.links[place + 1 :]))


def plainer_traffic(network: Network) -> Iterator[Network]:
    """Without the event, random losses, bursts, jitter, reordering, late starts and short
    transfers; Reno for other TCPs.
    """
    if network.event:
        yield replace(network, event=None)
    even = tuple(replace(link, jitter_s=0.0, reorder=0.0) for link in network.links)
    yield replace(network, links=tuple(replace(link, loss=0.0, burst=0.0) for link in even))
    yield replace(network, links=even)
    for place, link in enumerate(network.links):
        for plainer in (
            replace(link, loss=0.0, burst=0.0),
            replace(link, burst=0.0),
            replace(link, jitter_s=0.0),
            replace(link, reorder=0.0),
        ):
            if plainer != link:
                yield _with_link(network, place, plainer)
    for place, user in enumerate(network.users):
        if place and (user.late or user.transfers):
            yield _with_user(network, place, replace(user, late=False, transfers=0.0))
        if place and user.controller not in ("reno", SAME):
            yield _with_user(network, place, replace(user, controller="reno"))
        if place and user.controller == SAME:
            for path in user.paths:
                alone = replace(user, controller="reno", paths=(path,))
                yield _with_user(network, place, alone)


def plainer_queues(network: Network) -> Iterator[Network]:
    """Plainer queues, drop-tail first, and queues of one bandwidth-delay product."""
    yield replace(network, links=tuple(replace(o, queue="droptail") for o in network.links))
    for place, link in enumerate(network.links):
        if link.queue != "droptail":
            yield _with_link(network, place, replace(link, queue="droptail"))
    for buffer in dict.fromkeys((1.0, *(link.buffer for link in network.links))):
        yield replace(network, links=tuple(replace(o, buffer=buffer) for o in network.links))


def equal_numbers(network: Network) -> Iterator[Network]:
    """One round trip for all paths, one rate for all links."""
    for rtt_s in sorted({path.rtt_s for path in network.paths}, key=digits):
        yield _at_rtts(network, {path.rtt_s: rtt_s for path in network.paths})
    for rate_bps in sorted({link.rate_bps for link in network.links}, key=digits):
        links = (replace(link, rate_bps=rate_bps) for link in network.links)
        yield replace(network, links=tuple(links))
    rtts = sorted({path.rtt_s for path in network.paths})
    for one in rtts:
        for other in rtts:
            if one != other:
                yield _at_rtts(network, {one: other})


def _at_rtts(network: Network, new: dict[float, float]) -> Network:
    users = (
        replace(
            user,
            paths=tuple(replace(p, rtt_s=new.get(p.rtt_s, p.rtt_s)) for p in user.paths),
        )
        for user in network.users
    )
    return replace(network, users=tuple(users))


NUMBERS: tuple[tuple[Callable[[Link], float], Callable[[Link, float], Link]], ...] = (
    (lambda link: link.rate_bps, lambda link, value: replace(link, rate_bps=value)),
    (lambda link: link.buffer, lambda link, value: replace(link, buffer=value)),
    (lambda link: link.loss, lambda link, value: replace(link, loss=value)),
    (lambda link: link.burst, lambda link, value: replace(link, burst=value)),
    (lambda link: link.jitter_s, lambda link, value: replace(link, jitter_s=value)),
    (lambda link: link.reorder, lambda link, value: replace(link, reorder=value)),
)
"""How each number of a link is read, and written."""


def rounder_numbers(network: Network) -> Iterator[Network]:
    """Each number rounder: all that are equal at once."""
    for rtt_s in sorted({path.rtt_s for path in network.paths}):
        for value in rounder(rtt_s):
            yield _at_rtts(network, {rtt_s: value})
    for get, put in NUMBERS:
        for old in sorted({get(link) for link in network.links}):
            for value in rounder(old):
                links = (put(o, value) if get(o) == old else o for o in network.links)
                yield replace(network, links=tuple(links))
    for place, user in enumerate(network.users):
        for value in rounder(user.transfers):
            yield _with_user(network, place, replace(user, transfers=value))
    if network.event:
        for value in rounder(network.event.size):
            yield replace(network, event=replace(network.event, size=value))


def shorter(network: Network) -> Iterator[Network]:
    """A shorter run, as long as it measures something."""
    least_s = least_duration_s(network)
    if network.duration_s > least_s:
        yield replace(network, duration_s=least_s)
        yield replace(network, duration_s=max(least_s, round_down(network.duration_s)))


PASSES = (
    fewer_links,
    fewer_users,
    fewer_paths,
    plainer_traffic,
    plainer_queues,
    equal_numbers,
    rounder_numbers,
    shorter,
)
"""What is tried, in this order, each as long as it helps."""
