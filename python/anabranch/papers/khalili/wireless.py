"""The networks of the wireless claim: points that fill a space of Wi-Fi and cellular links.

The draft cites studies by others and gives none of their networks. The claims ledger recommends
one network and "a space-filling design over rate, RTT, queue, loss". The points and the ranges here
were written down before any of them was run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..library import measure

LINKS = ("wifi", "cellular")

POINTS = 20
"""Networks of the design."""
RATE_MBPS = (1.0, 40.0)
"""Ends of each link's rate; logarithmic."""
RTT_MS = (10.0, 200.0)
"""Ends of each path's base round trip; logarithmic."""
QUEUE_MS = (20.0, 500.0)
"""Range of the capacity of each queue, as time at the link's rate; logarithmic."""
LOSS = (0.0, 0.02)
"""Ends of each link's loss, in the bursts of the scenario's Wi-Fi."""
BURST = 4
"""Packets of a burst in the mean, as in the scenario."""


def places() -> Iterator[tuple[float, ...]]:
    """Points in the unit cube of eight dimensions: four numbers for each of two paths.

    A Latin hypercube: each number takes each of as many even steps as there are points once. Its
    order is that of the additive sequence frac(1/2 + k g^-j), with g the root of g^9 = g + 1, which
    needs no random numbers (Roberts 2018, "The unreasonable effectiveness of quasirandom
    sequences") and alone would leave gaps in some dimensions with so few points.
    """
    dimensions = 4 * len(LINKS)
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (dimensions + 1))
    columns = []
    for j in range(1, dimensions + 1):
        column = [math.fmod(0.5 + k * root**-j, 1.0) for k in range(1, POINTS + 1)]
        ranks = {value: rank for rank, value in enumerate(sorted(column))}
        columns.append([(ranks[value] + 0.5) / POINTS for value in column])
    yield from zip(*columns, strict=True)


@measure
def design(number: int) -> list[str]:
    """A point of the design, counted from 1, as overrides of the scenario."""
    place = list(places())[number - 1]
    found: list[str] = []
    for link, (rate, rtt, queue, loss) in zip(LINKS, (place[:4], place[4:]), strict=True):
        mbps, delay_ms = between(RATE_MBPS, rate), between(RTT_MS, rtt) / 2
        packets = max(5, round(between(QUEUE_MS, queue) * 1e-3 * mbps * 1e6 / (8 * 1500)))
        lost = LOSS[0] + loss * (LOSS[1] - LOSS[0])
        found += [
            f"link.{link}.rate={mbps:.3f} Mb/s",
            f"link.{link}.queue.droptail.packets={packets} packets",
            f'link.{link}.loss={{probability={lost:.5f},burst={BURST},place="after"}}',
            f"link.{link}-line.delay={delay_ms:.2f} ms",
            f"link.{link}-back.delay={delay_ms:.2f} ms",
        ]
    return found


def between(ends: tuple[float, float], part: float) -> float:
    """The place between two ends on a logarithmic scale."""
    low, high = ends
    return float(low * (high / low) ** part)
