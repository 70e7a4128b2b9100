"""Throughput of saturated stations that share a channel, of one rate or of several.

A slot is idle for σ, holds a success for T_s or a collision for T_c (Bianchi 2000, equation 13):

    S = P_s P_tr E[P] / ((1 - P_tr) σ + P_tr P_s T_s + P_tr (1 - P_s) T_c).

With `Rules(frozen=True)`, see `contention`, the idle slot after a busy one belongs to it, and a
success is a burst of W/(W - 1) frames: T_s becomes T_s W/(W - 1) + σ, T_c becomes T_c + σ.

Stations of several rates contend alike, for DCF does not know how long a frame will be: τ is the
same, each has its own T_s, and a collision lasts as long as its longest frame. This is the
performance anomaly (M. Heusse, F. Rousseau, G. Berger-Sabbatel & A. Duda, "Performance anomaly of
802.11b", INFOCOM 2003): with packets of one size all get the same throughput, and a slow station
sets it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..network import Floats
from .contention import FINITE, Contention, Rules, check_stations, contention
from .timing import Exchange, Phy


@dataclass(frozen=True, slots=True)
class Saturation:
    """Throughput of saturated stations: `rates_bps` of IP packets, shape (n,), and their
    contention.
    """

    contention: Contention
    rates_bps: Floats

    @property
    def throughput_bps(self) -> float:
        """All stations together, S."""
        return float(self.rates_bps.sum())


def saturation(
    n: int,
    phy: Phy,
    packet_bytes: int = 1500,
    *,
    mpdus: int = 1,
    rules: Rules = FINITE,
) -> Saturation:
    """`n` saturated stations of one rate. Raises ValueError for an impossible cell."""
    check_stations(n)
    return mixed([phy] * int(n), packet_bytes, mpdus=mpdus, rules=rules)


def mixed(
    phys: Sequence[Phy],
    packet_bytes: int = 1500,
    *,
    mpdus: int = 1,
    rules: Rules = FINITE,
) -> Saturation:
    """Saturated stations of several rates, one entry of `phys` for each.

    Raises ValueError for an empty cell, and for stations whose slots, interframe spaces or windows
    differ, because the model assumes that all contend by the same rules.
    """
    check_stations(len(phys))
    _check_alike(phys)
    first = phys[0]
    windows = first.windows
    exchanges = [station.exchange(packet_bytes, mpdus, rules.eifs) for station in phys]
    met = contention(len(phys), windows, rules)
    burst = windows.first / (windows.first - 1.0) if rules.frozen else 1.0
    closing_s = first.slot_s if rules.frozen else 0.0
    return Saturation(met, _rates_bps(met.tau, exchanges, first.slot_s, burst, closing_s))


def throughput_bps(n: int, tau: float, exchange: Exchange, slot_s: float) -> float:
    """S of Bianchi's equation (13), for `n` stations that transmit in a slot with probability
    `tau`.
    """
    check_stations(n)
    return float(_rates_bps(tau, [exchange] * n, slot_s, 1.0, 0.0).sum())


def lone_rate_bps(phy: Phy, packet_bytes: int = 1500, mpdus: int = 1) -> float:
    """A station alone: it waits CWmin/2 slots on average, and nothing else happens. Exact."""
    exchange = phy.exchange(packet_bytes, mpdus)
    return exchange.payload_bits / (exchange.success_s + phy.cw_min / 2.0 * phy.slot_s)


def anomaly_rate_bps(n: int, fast: Phy, slow: Phy, packet_bytes: int = 1500) -> float:
    """Throughput of each of `n` hosts, n - 1 fast ones and a slow one, as Heusse et al. approximate
    it.

        X = s_d / ((n - 1) T_f + T_s + P_c t_jam n)

    with T the frame, its overhead and `t_cont = SLOT (1 + P_c)/(2n) CWmin/2`, `P_c = 1 - (1 -
    1/CWmin)^(n-1)`, and t_jam = (2/n) T_s + (1 - 2/n) T_f, what a collision costs. Their windows do
    not grow, so this is for few hosts; `mixed` is the fixed point. Raises ValueError for fewer than
    two, and as `mixed` does.
    """
    _check_alike([fast, slow])
    if n < 2:
        raise ValueError(f"n is {n}; the anomaly needs a fast host and a slow one")
    p_c = 1.0 - (1.0 - 1.0 / fast.cw_min) ** (n - 1)
    t_cont_s = fast.slot_s * (1.0 + p_c) / (2.0 * n) * fast.cw_min / 2.0
    t_f_s = fast.exchange(packet_bytes).success_s + t_cont_s
    t_s_s = slow.exchange(packet_bytes).success_s + t_cont_s
    t_jam_s = 2.0 / n * t_s_s + (1.0 - 2.0 / n) * t_f_s
    return 8.0 * packet_bytes / ((n - 1) * t_f_s + t_s_s + p_c * t_jam_s * n)


def access_point_share(uplink_stations: int) -> float:
    """Share of a backlogged access point in all transmissions: it is one station among u + 1
    saturated ones.

    1/(u + 1), which all downlink flows share. Raises ValueError for a negative number.
    """
    if uplink_stations < 0:
        raise ValueError(f"uplink_stations is {uplink_stations}; it is 0 or more")
    return 1.0 / (uplink_stations + 1)


def _check_alike(phys: Sequence[Phy]) -> None:
    first = phys[0]
    for station in phys:
        if _contends(station) != _contends(first):
            raise ValueError(
                f"stations of 802.11{first.standard} and 802.11{station.standard} are in one cell; "
                "their slot, SIFS, CWmin and CWmax have to be the same"
            )


def _contends(phy: Phy) -> tuple[float, float, int, int]:
    return (phy.slot_s, phy.sifs_s, phy.cw_min, phy.cw_max)


def _rates_bps(
    tau: float, exchanges: Sequence[Exchange], slot_s: float, burst: float, closing_s: float
) -> Floats:
    """Throughput of each station, shape (n,).

    A success is `burst` exchanges; `closing_s` follows every busy slot. Sorted by length, frame j
    is the longest of a collision when it is sent, no longer one is, and at least one shorter is.
    """
    n = len(exchanges)
    success_s = np.array([exchange.success_s for exchange in exchanges])
    bits = np.array([exchange.payload_bits for exchange in exchanges])
    collision_s = np.sort([exchange.collision_s for exchange in exchanges])
    shorter = np.arange(n)
    silent = 1.0 - tau
    alone = tau * silent ** (n - 1)
    longest = tau * silent ** (n - 1 - shorter) * (1.0 - silent**shorter)
    slot_mean_s = (
        silent**n * slot_s
        + alone * (success_s * burst + closing_s).sum()
        + (longest * (collision_s + closing_s)).sum()
    )
    rates: Floats = alone * burst * bits / slot_mean_s
    return rates
