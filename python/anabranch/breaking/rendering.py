"""Networks as scenarios."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..statistics import significant
from .network import SAME, Link, Network, Path, User
from .queues import QUEUES
from .timing import EVENT_AT, HELD, WARMUP

SUBJECT = "subject"
"""Name of the class of the user whose controller is under test."""

NAMES = {SAME: "peer", "reno": "tcp"}
"""Names of classes of other users, by controller; others have their controller's."""

JITTER = 0.02
"""Largest random processing time at a user's line, as a part of the path's round trip."""

TRANSFER_BYTES = 100_000
"""Mean size of short transfers."""

SOURCE = "found by `anabranch break`"

CHOICES = (
    (
        "delays",
        "at each user's own line, half of the round trip each way",
        "a link that several users share then has one queue and no delay of its own",
    ),
    (
        "random processing time",
        f"up to {100 * JITTER:g} % of the round trip at each line",
        "hosts vary by themselves; without it phases of flows lock at a drop-tail queue (Floyd and Jacobson 1992)",
    ),
    (
        "reordering",
        f"packets are held back by {HELD:g} round trips, the mean of the paths that cross the link",
        "at windows of a dozen segments or more, three others overtake them, which TCP takes for a loss",
    ),
    (
        "starts",
        "spread over ten round trips, at least 1 s",
        "users do not start at the same instant",
    ),
    (
        "duration",
        "ten sawteeth of Reno, 200 round trips and 20 s, after a quarter for warm-up",
        "a shorter run would show where it ends",
    ),
)
"""What a search has to choose: parameter, value and reason."""


def queue_packets(network: Network, link: int) -> int:
    """The size of a queue."""
    return max(1, round(network.links[link].buffer * network.bdp_packets(link)))


def link_names(network: Network) -> list[str]:
    """The names of the links, by place."""
    return [chr(ord("a") + place) for place in range(len(network.links))]


def class_names(network: Network) -> list[str]:
    """The names of the classes of users, by place."""
    names = [SUBJECT]
    met: Counter[str] = Counter()
    for user in network.others:
        name = NAMES.get(user.controller, user.controller)
        name = f"short-{name}" if user.transfers else name
        met[name] += 1
        names.append(name if met[name] == 1 else f"{name}-{met[name]}")
    return names


def document(network: Network, controller: str | None = None, **head: Any) -> dict[str, Any]:
    """A scenario of the network, as nested data.

    `controller` is written into the flows that are the subject; without it they have Reno until a
    command names one, as it must for a Python class. `head` has further keys, such as a title.
    """
    warmup_s = WARMUP * network.duration_s
    under = controller or "reno"
    lines: dict[str, dict[str, Any]] = {}
    names = class_names(network)
    flows = [
        _flow(network, user, name, under, lines)
        for user, name in zip(network.users, names, strict=True)
    ]
    places = range(len(network.links))
    links = [_link(network, place) for place in places]
    uneven = [one for place in places for one in _behind(network, place)]
    return {
        "name": "network",
        **head,
        "duration": _time(network.duration_s),
        "warmup": _time(warmup_s),
        "choice": [
            {"what": what, "value": value, "why": why}
            for what, value, why in CHOICES
            if what != "reordering" or any(link.reorder for link in network.links)
        ],
        "link": [*links, *uneven, *lines.values()],
        "flow": flows,
    }


def _link(network: Network, place: int) -> dict[str, Any]:
    link: Link = network.links[place]
    found: dict[str, Any] = {
        "name": link_names(network)[place],
        "rate": _rate(link.rate_bps),
        "queue": QUEUES[link.queue].rendered(queue_packets(network, place)),
    }
    if link.loss:
        found["loss"] = {"probability": link.loss}
    if link.burst:
        found["loss"]["burst"] = link.burst
    event = network.event
    if event and event.link == place:
        measured_s = network.duration_s * (1.0 - WARMUP)
        at_s = network.duration_s * WARMUP + EVENT_AT * measured_s
        found["change"] = (
            [{"at": _time(at_s), "up": False}, {"at": _time(at_s + event.size), "up": True}]
            if event.kind == "outage"
            else [{"at": _time(at_s), "rate": _rate(event.size * link.rate_bps)}]
        )
    return found


def _behind(network: Network, place: int) -> list[dict[str, Any]]:
    """The line behind a link that delays its packets at random or holds some back, if it has one: a
    link with CoDel cannot have jitter of its own.
    """
    link = network.links[place]
    line: dict[str, Any] = {}
    if link.jitter_s:
        line["jitter"] = _time(link.jitter_s)
    if link.reorder:
        held_s = HELD * network.rtt_s(place)
        line["reorder"] = {"probability": link.reorder, "delay": _time(held_s)}
    return [{"name": f"behind-{link_names(network)[place]}", **line}] if line else []


def _way(network: Network, path: Path) -> list[str]:
    """The links of a path behind its user's line."""
    names = link_names(network)
    found = []
    for place in path.links:
        found += [names[place], *(one["name"] for one in _behind(network, place))]
    return found


def _flow(
    network: Network, user: User, name: str, under: str, lines: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """A flow; the lines of its paths are added to `lines`."""
    paths = []
    for path in user.paths:
        line = f"line-{significant(path.rtt_s * 1e3, 4)}ms"
        lines.setdefault(
            line,
            {
                "name": line,
                "delay": _time(path.rtt_s / 2.0),
                "jitter": _time(JITTER * path.rtt_s),
                "per_user": True,
            },
        )
        paths.append({"links": [line, *_way(network, path)]})
    tested = user.controller == SAME
    longest_s = max(path.rtt_s for path in user.paths)
    found: dict[str, Any] = {"name": name, "controller": under if tested else user.controller}
    if tested:
        found["subject"] = True
    found["path"] = paths
    if user.transfers:
        rate_bps = min(network.links[link].rate_bps for path in user.paths for link in path.links)
        arrivals = user.transfers * rate_bps / (8.0 * TRANSFER_BYTES)
        return {**found, "arrivals": arrivals, "transfer": f"{TRANSFER_BYTES // 1000} kB"}
    if user.count > 1:
        found["count"] = user.count
    if user.late:
        found["start"] = _time(network.duration_s * (1.0 + WARMUP) / 2.0)
    return {**found, "spread": _time(max(1.0, 10.0 * longest_s))}


def _time(seconds: float) -> str:
    return f"{significant(seconds, 6)} s" if seconds >= 1 else f"{significant(seconds * 1e3, 6)} ms"


def _rate(bits: float) -> str:
    return f"{significant(bits / 1e6, 6)} Mb/s"
