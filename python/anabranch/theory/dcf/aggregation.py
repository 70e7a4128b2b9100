"""A-MPDUs of 802.11n with independent errors: one station, a closed form.

An exchange carries k MPDUs, each is lost with probability e, and a block ACK says which arrived. It
is missing only if all k are lost, f = e^k; then the window doubles, as after a collision. What a
station alone gets is

    k (1 - e) E[P] / ((1 - f) T_s + f T_c + σ Σ f^i (W_i - 1)/2 / Σ f^i),   i = 0 … L,

and its efficiency is that over the rate of the physical layer. MPDUs that are lost go again in a
later exchange, each up to L + 1 times: e^(L+1) of them are given up.

Every exchange is assumed to carry k. A sender is held to the 64 sequence numbers of the block ACK
from the oldest that is missing on, so that an error near the front leaves the next exchange
smaller. To k = 16 that makes no difference; at e = 0.1 exchanges carry 0.92 k on average for k = 32
and 0.78 k for k = 42, and the form is an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

from .contention import FINITE, Rules, stages
from .timing import MOST_AMPDU_BYTES, MOST_AMPDU_MPDUS, Phy


@dataclass(frozen=True, slots=True)
class Ampdu:
    """Throughput of one station with A-MPDUs.

    `throughput_bps` is of IP packets that arrived, `efficiency` that over the data rate,
    `exchange_s` the mean time of an exchange with its back-off, `drop` the fraction of packets that
    is given up.
    """

    throughput_bps: float
    efficiency: float
    exchange_s: float
    drop: float


def ampdu(
    phy: Phy, mpdus: int, packet_bytes: int = 1500, *, error: float = 0.0, rules: Rules = FINITE
) -> Ampdu:
    """A station alone that sends `mpdus` packets in each exchange, each lost with probability
    `error`.

    One packet is a plain exchange, in any standard. Raises ValueError for an error that is not in
    [0, 1) and for aggregates that 802.11 does not have.
    """
    if not 0.0 <= error < 1.0:
        raise ValueError(f"error is {error}; it is in [0, 1)")
    exchange = phy.exchange(packet_bytes, mpdus, rules.eifs)
    failed = error**mpdus
    exchange_s = (1.0 - failed) * exchange.success_s + failed * exchange.collision_s
    weight, slots = stages(failed, phy.windows, rules)
    exchange_s += phy.slot_s * (slots / weight - 1.0)
    rate_bps = (1.0 - error) * exchange.payload_bits / exchange_s
    return Ampdu(
        throughput_bps=rate_bps,
        efficiency=rate_bps / (phy.rate_mbps * 1e6),
        exchange_s=exchange_s,
        drop=0.0 if rules.attempts is None else error**rules.attempts,
    )


def most_mpdus(phy: Phy, packet_bytes: int = 1500) -> int:
    """Largest number of packets in one exchange: at most 65,535 bytes and 64 MPDUs for n,
    else 1.
    """
    if phy.standard != "n":
        return 1
    padded = phy.ampdu_bytes(packet_bytes, 2) - phy.ampdu_bytes(packet_bytes, 1)
    last = phy.ampdu_bytes(packet_bytes, 1)
    return min(MOST_AMPDU_MPDUS, 1 + (MOST_AMPDU_BYTES - last) // padded)
