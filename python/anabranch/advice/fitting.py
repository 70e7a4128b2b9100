"""Links as they show in packets: rate, round trip, queue, random loss and others, with intervals.

A sender sees when packets left, when they were acknowledged, and what was lost. Acknowledgements
of a train of packets that no one else's packets divide come at the rate of the bottleneck
(packet trains: Jain and Routhier 1986; Dovrolis, Ramanathan and Moore 2004). The round trip without
a queue is the least one. The queue is full where packets are lost; losses at a queue that is not
nearly full are random. What the connection does not get while there is a queue is with others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .links import PACKET_BITS, SMALLEST_QUEUE_PACKETS, Link

Floats = NDArray[np.float64]

FEWEST = 200
"""Round trips without which nothing is said of a link."""

TRAINS = (8, 12, 16)
"""Packets in a train: short ones come at the rate of the bottleneck most often, long ones show it
most exactly.
"""

UNDIVIDED = 0.98
"""Quantile of the rates of trains which trains of this sender alone have."""

NEAR_FULL = 0.7
"""Part of the queue above which a loss is one of a full queue."""

BUSY = 0.25
"""Part of the queue from which on the link has no pause."""

RESIDUE = 0.02
"""What is not known of a rate even if all trains agree: headers differ."""

UNHEARD = 3.0
"""Upper end of the 95 % interval of a Poisson mean of which nothing was seen ("rule of three")."""

RANDOM = 3
"""Losses apart from a full queue that are called random; fewer may be of queues elsewhere."""


@dataclass(frozen=True)
class Estimate:
    """A number with the interval that it is taken to be in. How often what is foreseen from such
    intervals holds was measured: docs/how-to/advise.md.
    """

    value: float
    low: float
    high: float

    def at(self, part: float) -> float:
        """A value in the interval: its ends at 0 and 1, the estimate in the middle."""
        if part < 0.5:
            return self.low + 2.0 * part * (self.value - self.low)
        return self.value + (2.0 * part - 1.0) * (self.high - self.value)

    def to_json(self) -> list[float]:
        """The estimate and the ends of its interval."""
        return [self.value, self.low, self.high]


@dataclass(frozen=True)
class Packets:
    """What a sender saw of a path, each array in any order."""

    sent_s: Floats
    rtt_s: Floats
    """Of the packets that left at `sent_s`, same shape."""
    lost_s: Floats
    """When lost packets were sent again."""
    packet_bits: float
    """Mean size of a packet, with headers."""


@dataclass(frozen=True)
class Fitted:
    """A bottleneck, and the paths that lead over it."""

    names: tuple[str, ...]
    rate_bps: Estimate
    trips_s: tuple[Estimate, ...]
    """Round trip of each path without a queue."""
    queue_packets: Estimate
    loss: Estimate
    """Probability of a random loss."""
    others: Estimate
    """Long-lived TCPs of others."""
    own_bps: float
    """What the measured connection had of it while there was a queue."""

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data; estimates with the ends of their intervals."""
        return {
            "names": list(self.names),
            "rate_bps": self.rate_bps.to_json(),
            "trips_s": [trip.to_json() for trip in self.trips_s],
            "queue_packets": self.queue_packets.to_json(),
            "loss": self.loss.to_json(),
            "others": self.others.to_json(),
            "own_bps": self.own_bps,
        }

    def links(self, parts: Iterable[float]) -> list[Link]:
        """A link for each path, at these parts of the intervals: of the rate, the round trips, the
        queue, the loss and the others.

        The link of a path that shares the bottleneck is `ROOM` times as fast as that: what is in
        front of a bottleneck does not show. Others are on the first.
        """
        rate, trip, queue, loss, others = parts
        room = ROOM if len(self.names) > 1 else 1
        packets = max(SMALLEST_QUEUE_PACKETS, round(self.queue_packets.at(queue)))
        # A link on which others were seen has some in each draw, so that they can be compared.
        count = round(self.others.at(others))
        count = max(1, count) if self.others.value >= 0.5 else 0
        return [
            Link(
                name,
                round(room * self.rate_bps.at(rate)),
                None,
                max(1e-4, self.trips_s[place].at(trip)),
                room * packets,
                self.loss.at(loss) or None,
                count if place == 0 else 0,
            )
            for place, name in enumerate(self.names)
        ]


ROOM = 4
"""How much faster than a shared bottleneck the links in front of it are taken to be."""

MIDDLE = (0.5, 0.5, 0.5, 0.5, 0.5)
"""The middle of the five intervals of `Fitted.links`."""


def fit(names: Sequence[str], paths: Sequence[Packets]) -> Fitted:
    """The bottleneck that some paths lead over, from the packets on each.

    Raises ValueError if a path has too few packets to tell.
    """
    for name, path in zip(names, paths, strict=True):
        if len(path.rtt_s) < FEWEST:
            raise ValueError(
                f"{name} has {len(path.rtt_s)} round trips; {FEWEST} or more say something of a link"
            )
    bits = float(np.mean([path.packet_bits for path in paths]))
    arrived_s = np.sort(np.concatenate([path.sent_s + path.rtt_s for path in paths]))
    rate = _rate(arrived_s, bits)
    trips = tuple(_trip(path, bits / rate.value) for path in paths)
    queues = [
        _queue_s(path, trip.value + bits / rate.value)
        for path, trip in zip(paths, trips, strict=True)
    ]
    queue_s = Estimate(*(float(np.median([getattr(q, end) for q in queues])) for end in ENDS))
    packets = Estimate(*(getattr(queue_s, end) * rate.value / PACKET_BITS for end in ENDS))
    own_bps = _busy_bps(paths, trips, queue_s.value)
    return Fitted(
        tuple(names),
        rate,
        trips,
        packets,
        _loss(paths, trips, queue_s.value),
        _others(rate, own_bps, len(paths)),
        own_bps,
    )


ENDS = ("value", "low", "high")


def _rate(arrived_s: Floats, bits: float) -> Estimate:
    """Of the bottleneck in bit/s, from the times of acknowledgement in order."""
    found = [_of_trains(_trains(arrived_s, length)) * bits for length in TRAINS]
    for shorter, longer in pairwise(found):
        # Longer trains that are no slower are not divided by packets of others.
        if longer >= 0.96 * shorter and longer >= 0.85 * found[0]:
            near = [one for one in found if abs(one / longer - 1.0) < 0.1]
            return Estimate(longer, (1.0 - RESIDUE) * min(near), (1.0 + RESIDUE) * max(near))
    short = found[0]
    return Estimate(0.95 * short, max(0.8 * short, found[1]), (1.0 + RESIDUE) * short)


def _of_trains(rates: Floats) -> float:
    """The rate of trains that nobody divides."""
    most = float(np.quantile(rates, UNDIVIDED, method="lower"))
    return float(np.median(rates[(rates > 0.8 * most) & (rates <= most)]))


def _trains(arrived_s: Floats, length: int) -> Floats:
    """Rates of all trains of so many packets, in packets/s. Packets that are acknowledged together
    are one step of a train.
    """
    times_s, counts = np.unique(arrived_s, return_counts=True)
    packets = np.cumsum(counts)
    last = np.searchsorted(packets, packets + length)
    first = np.flatnonzero(last < len(times_s))
    last = last[first]
    if not len(first):
        return np.array([len(arrived_s) / max(arrived_s[-1] - arrived_s[0], 1e-9)])
    rates: Floats = (packets[last] - packets[first]) / (times_s[last] - times_s[first])
    return rates


def _trip(path: Packets, packet_s: float) -> Estimate:
    """Round trip without a queue, and without the time that the packet takes itself. The least one
    is an upper bound, and few are near it by chance.
    """
    least = max(1e-4, float(path.rtt_s.min()) - packet_s)
    low = float(np.quantile(path.rtt_s, 0.01)) - packet_s
    return Estimate(least, max(1e-4, 0.75 * least, least - 0.5 * (low - least)), 1.02 * least)


def _queue_s(path: Packets, trip_s: float) -> Estimate:
    """The longest wait: that of packets before a loss. Without a loss it is at least the longest."""
    waits = np.quantile(path.rtt_s, (0.9, 0.99, 1.0)) - trip_s
    before = _before_losses(path)
    if len(before) < RANDOM:
        return Estimate(float(waits[2]), float(waits[1]), 2.0 * float(waits[2]))
    full = before[before >= np.quantile(before, 0.5)] - trip_s
    low, middle, high = np.quantile(full, (0.1, 0.5, 0.9))
    return Estimate(float(middle), 0.95 * float(low), 1.05 * float(high))


def _before_losses(path: Packets) -> Floats:
    """The last round trip known at each loss event, shape (events,); losses within a round trip are
    one event.
    """
    known_s = path.sent_s + path.rtt_s
    order = np.argsort(known_s)
    known_s, rtt_s = known_s[order], path.rtt_s[order]
    found, last = list[float](), -np.inf
    for at in np.sort(path.lost_s):
        place = int(np.searchsorted(known_s, at)) - 1
        if place >= 0 and at > last + rtt_s[place]:
            found.append(float(rtt_s[place]))
            last = at
    return np.array(found)


def _loss(paths: Sequence[Packets], trips: Sequence[Estimate], queue_s: float) -> Estimate:
    """Probability of a loss while the queue is not nearly full; of all packets no more were lost."""
    events = packets = lost = sent = 0
    for path, trip in zip(paths, trips, strict=True):
        limit = trip.value + NEAR_FULL * queue_s
        before = _before_losses(path)
        events += int((before < limit).sum())
        packets += int((path.rtt_s < limit).sum())
        lost += len(before)
        sent += len(path.rtt_s)
    if not packets:
        return Estimate(0.0, 0.0, lost / sent)
    if events < RANDOM:
        return Estimate(0.0, 0.0, min(UNHEARD / packets, lost / sent, MOST_LOSS))
    spread = 1.96 * float(np.sqrt(events))
    ends = (events, max(0.0, events - spread), events + spread)
    return Estimate(*(min(end / packets, MOST_LOSS) for end in ends))


MOST_LOSS = 0.4
"""A scenario's links lose less than half."""


def _busy_bps(paths: Sequence[Packets], trips: Sequence[Estimate], queue_s: float) -> float:
    """Rate of the paths together while there is a queue."""
    edges = np.arange(
        min(float(path.sent_s.min()) for path in paths),
        max(float(path.sent_s.max()) for path in paths),
        BIN_S,
    )
    if len(edges) < 3:
        return 0.0
    bits = np.zeros(len(edges) - 1)
    waits = np.zeros(len(edges) - 1)
    for path, trip in zip(paths, trips, strict=True):
        counts, _ = np.histogram(path.sent_s + path.rtt_s, edges)
        waited, _ = np.histogram(path.sent_s + path.rtt_s, edges, weights=path.rtt_s - trip.value)
        bits += counts * path.packet_bits
        waits = np.maximum(waits, waited / np.maximum(counts, 1))
    busy = waits > BUSY * queue_s
    return float(bits[busy].mean() / BIN_S) if busy.any() else float(bits.mean() / BIN_S)


BIN_S = 0.2
"""Width of the bins in which the queue is looked at."""


def _others(rate: Estimate, own_bps: float, paths: int) -> Estimate:
    """Long-lived TCPs that share the rate evenly with these paths."""
    each = own_bps / paths

    def count(rate_bps: float) -> float:
        return max(0.0, rate_bps - own_bps) / max(each, 1.0)

    value = count(rate.value)
    if own_bps > (1.0 - ALONE) * rate.value:
        return Estimate(0.0, 0.0, 0.0)
    return Estimate(value, min(value, 0.5 * value), max(value, 2.0 * value))


ALONE = 0.1
"""Part of the rate below which what is missing is no TCP of others."""
