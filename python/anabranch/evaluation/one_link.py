"""Settings of the scenario `rfc9743/one-link`, as overrides."""

from __future__ import annotations

import math

SCENARIO = "rfc9743/one-link"
PACKET_BITS = 12000.0
"""Bits of a full packet on the wire."""
LEAST_QUEUE = 4
"""Packets of the smallest drop-tail queue: a burst of slow start, two packets for each ACK, fits."""


def bdp_packets(rate_bps: float, rtt_s: float) -> float:
    """The bandwidth-delay product in full packets."""
    return rate_bps * rtt_s / PACKET_BITS


def link(
    rate_bps: float = 20e6,
    rtt_s: float = 0.04,
    *,
    flows: int = 4,
    buffer: float | None = 1.0,
) -> tuple[str, ...]:
    """A bottleneck of this rate, base RTT and drop-tail queue, and the number of flows.

    `buffer` is in bandwidth-delay products; None leaves the queue to other overrides. The random
    processing time of each flow is four packet times of the bottleneck, at most an eighth of the
    RTT.
    """
    jitter = min(4 * PACKET_BITS / rate_bps, rtt_s / 8)
    queue = () if buffer is None else (drop_tail(buffer * bdp_packets(rate_bps, rtt_s)),)
    return (
        f"link.bottleneck.rate={rate(rate_bps)}",
        f"link.line.delay={milliseconds(rtt_s / 2)}",
        f"link.back.delay={milliseconds(rtt_s / 2)}",
        f"link.line.jitter={milliseconds(jitter)}",
        f"flow.subject.count={flows}",
        *queue,
    )


def reno_cycle_s(
    rate_bps: float = 20e6, rtt_s: float = 0.04, *, flows: int = 1, buffer: float = 1.0
) -> float:
    """Length of the cycle from one loss of a Reno flow to its next, in seconds.

    Path and queue hold W packets when a loss comes; a flow that has its part of them grows from
    half of it by a segment in a round trip. Round trips are counted with the mean queue of a window
    of 3 W / 4. The queue is in bandwidth-delay products, as in `link`.
    """
    path = bdp_packets(rate_bps, rtt_s)
    whole = path + max(LEAST_QUEUE, buffer * path)
    mean_rtt_s = max(rtt_s, 0.75 * whole * PACKET_BITS / rate_bps)
    return whole / 2 / flows * mean_rtt_s


def steady(
    rate_bps: float = 20e6,
    rtt_s: float = 0.04,
    *,
    flows: int = 1,
    buffer: float = 1.0,
    least_s: float = 50.0,
    warmup_s: float = 10.0,
) -> tuple[str, str]:
    """Times for what is measured in steady state: three cycles of Reno or `least_s`, whichever is
    longer, in tens of seconds, after the warm-up.
    """
    cycles_s = 3 * reno_cycle_s(rate_bps, rtt_s, flows=flows, buffer=buffer)
    return times(warmup_s + 10 * math.ceil(max(least_s, cycles_s) / 10), warmup_s)


def drop_tail(packets: float, name: str = "bottleneck") -> str:
    """A drop-tail queue of this many packets, rounded, and at least `LEAST_QUEUE`."""
    count = max(LEAST_QUEUE, round(packets))
    return f'link.{name}.queue={{ droptail = {{ packets = "{count} packets" }} }}'


def times(duration_s: float, warmup_s: float) -> tuple[str, str]:
    """Duration of the run and of the warm-up."""
    return f"duration={duration_s:g} s", f"warmup={warmup_s:g} s"


def rate(bps: float) -> str:
    """A rate with its unit, such as "20 Mb/s"."""
    return f"{bps / 1e6:g} Mb/s"


def milliseconds(seconds: float) -> str:
    """A time with its unit, such as "20 ms"."""
    return f"{seconds * 1e3:.6g} ms"


def down(from_s: float, to_s: float, name: str = "bottleneck") -> str:
    """A link that is down between two times."""
    return f'link.{name}.change=[{{ at = "{from_s:g} s", up = false }}, {{ at = "{to_s:g} s", up = true }}]'


def steps(values: tuple[str, str], every_s: float, end_s: float, key: str, name: str) -> str:
    """A link of which one property takes two values in turn: the first at `every_s`, the other at
    twice that, and so on.
    """
    changes = [
        f'{{ at = "{n * every_s:g} s", {key} = "{values[(n - 1) % 2]}" }}'
        for n in range(1, int(end_s / every_s) + 1)
        if n * every_s < end_s
    ]
    return f"link.{name}.change=[{', '.join(changes)}]"
