"""How long a network has to be simulated, and what that costs.

A measurement over a part of one sawtooth shows where the run ended, not what the controller does.
So the measured time holds several of Reno's sawteeth, and many round trips.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from .network import PACKET_BITS, Link, Network, rounded
from .queues import QUEUES

WARMUP = 0.25
"""The part of a run that is discarded."""

EPOCHS = 10
"""Sawteeth of Reno, on the path where it takes longest, in the measured time."""

ROUND_TRIPS = 200
"""Of the longest path, in the measured time."""

LEAST_S = 20.0
"""Least measured time: two cycles of BBR, which probes the round trip every ten seconds."""

RECOVERY_ROUND_TRIPS = 50
"""Of the longest path: the time that users have to recover from an event."""

LEAST_RECOVERY_S = 5.0
"""As `RECOVERY_ROUND_TRIPS`: more than the timeouts of the shortest paths back off to."""

STEPS = (1, 1.5, 2, 3, 5, 7)
"""Round durations, times a power of ten."""

HELD = 0.25
"""How long a packet is held back that others overtake, in mean round trips of its link."""

EVENT_AT = 0.1
"""When an event begins, as a part of the measured time."""


def full_rtt_s(network: Network, links: tuple[int, ...], rtt_s: float) -> float:
    """A path's round trip with full queues."""
    return rtt_s + sum(
        filled(network.links[link]) * network.rtt_s(link) + network.links[link].jitter_s
        for link in links
    )


def filled(link: Link) -> float:
    """How far a queue fills, in bandwidth-delay products."""
    return QUEUES[link.queue].filled * link.buffer


def sawtooth_s(network: Network) -> float:
    """The longest time that a Reno on one of the paths takes from one loss to the next."""
    longest = 0.0
    for user in network.users:
        if user.transfers:
            continue
        for path in user.paths:
            rtt_s = full_rtt_s(network, path.links, path.rtt_s)
            top = min(network.window(link) for link in path.links) * rtt_s / path.rtt_s
            loss = sum(network.links[link].loss for link in path.links)
            if loss:
                top = min(top, 2.0 * math.sqrt(1.5 / loss))  # twice the mean window of Reno
            longest = max(longest, top / 2.0 * rtt_s)
    return longest


def recovery_s(network: Network) -> float:
    """The time that users have to recover from an event."""
    longest_s = max(full_rtt_s(network, path.links, path.rtt_s) for path in network.paths)
    return max(LEAST_RECOVERY_S, RECOVERY_ROUND_TRIPS * longest_s)


def least_duration_s(network: Network) -> float:
    """The shortest run of a network that measures something, with its warm-up, rounded up."""
    longest_s = max(path.rtt_s for path in network.paths)
    measured_s = max(LEAST_S, ROUND_TRIPS * longest_s, EPOCHS * sawtooth_s(network))
    if network.event:
        outage_s = network.event.size if network.event.kind == "outage" else 0.0
        measured_s = max(measured_s, 2.0 * (outage_s + recovery_s(network)) / (1.0 - EVENT_AT))
    return round_up(measured_s / (1.0 - WARMUP))


def round_up(value: float) -> float:
    """The next of the round durations: `STEPS` times a power of ten."""
    return next(step for step in _steps(value) if step >= value * (1.0 - 1e-9))


def round_down(value: float) -> float:
    """The next smaller of the round durations."""
    return max(step for step in _steps(value) if step < value * (1.0 - 1e-9))


def _steps(value: float) -> list[float]:
    power = math.floor(math.log10(value))
    return [float(f"{step}e{p}") for p in range(power - 1, power + 2) for step in STEPS]


def packets(network: Network) -> float:
    """The packets of a run in which every link is busy."""
    return sum(link.rate_bps for link in network.links) * network.duration_s / PACKET_BITS


def timed(network: Network) -> Network:
    """The network with a duration that measures something; never shortened."""
    return replace(network, duration_s=max(network.duration_s, least_duration_s(network)))


def slowed(
    network: Network, most_packets: float, least: tuple[float, float], most_rtt_s: float
) -> Network:
    """The network with its shortest duration and, if that would cost more than `most_packets`, with
    slower links, then with smaller queues, down to one bandwidth-delay product, then with longer
    round trips, up to `most_rtt_s`. `least` has the least rate of a link in bit/s and its least
    window in segments.
    """
    for _ in range(80):
        network = replace(network, duration_s=least_duration_s(network))
        if packets(network) <= most_packets:
            break
        slower = _slower(network, *least)
        if slower != network:
            network = slower
        elif any(link.buffer > 1.0 for link in network.links):
            network = _with(network, buffer=lambda size: size if size <= 1.0 else 0.85 * size)
        elif any(path.rtt_s < most_rtt_s for path in network.paths):
            network = _with(network, rtt=lambda rtt_s: min(1.2 * rtt_s, most_rtt_s))
        else:
            break
    network = deepened(_with(network, rate=rounded, buffer=rounded, rtt=rounded))
    return replace(network, duration_s=least_duration_s(network))


def deepened(network: Network) -> Network:
    """The network with queues that hold at least the packets that every queue holds."""
    links = []
    for place, link in enumerate(network.links):
        least = QUEUES[link.queue].fewest / network.bdp_packets(place)
        buffer = link.buffer if link.buffer >= 0.99 * least else rounded(1.05 * least)
        links.append(replace(link, buffer=buffer))
    return replace(network, links=tuple(links))


def _slower(network: Network, least_bps: float, least_window: float) -> Network:
    """The network with each link by 15 % slower, or as slow as it may be."""
    links = []
    for link, window in zip(network.links, network.windows(), strict=True):
        factor = max(0.85, 1.02 * least_bps / link.rate_bps, 1.02 * least_window / window)
        links.append(replace(link, rate_bps=min(factor, 1.0) * link.rate_bps))
    return replace(network, links=tuple(links))


def _same(value: float) -> float:
    return value


def _with(
    network: Network,
    *,
    rate: Callable[[float], float] = _same,
    buffer: Callable[[float], float] = _same,
    rtt: Callable[[float], float] = _same,
) -> Network:
    """The network with other numbers."""
    links = (
        replace(link, rate_bps=rate(link.rate_bps), buffer=buffer(link.buffer))
        for link in network.links
    )
    users = (
        replace(user, paths=tuple(replace(path, rtt_s=rtt(path.rtt_s)) for path in user.paths))
        for user in network.users
    )
    return replace(network, links=tuple(links), users=tuple(users))
