"""Scenarios A, B and C of draft-khalili-mptcp-performance-issues-04, in closed form.

All users have the same RTT; then rates depend neither on it nor on TCP's constant. Capacities and
rates are per user, in any one unit. `z` is the root of a ratio of losses; the sources are Sections
4 to 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Rates(NamedTuple):
    """Rates per user of the class that goes multipath, and of the other one."""

    multipath: float
    other: float


def scenario_a_lia(n1: float, n2: float, c1: float = 1.0, c2: float = 1.0) -> Rates:
    """Type 1 (LIA) and type 2 (TCP): `z + (n1/n2) z²/(1 + 2z²) = c2/c1`, type 2 gets z c1.

    Type 1 has a private path and one through the access point (n2 c2); both cross the server's
    link (n1 c1), which type 1 fills alone.
    """
    z = _root(lambda z: z + n1 / n2 * z**2 / (1.0 + 2.0 * z**2) - c2 / c1)
    return Rates(c1, z * c1)


def scenario_b_lia(
    cx: float, ct: float, blue: float = 15.0, red: float = 15.0, *, upgraded: bool
) -> Rates:
    """Blue (LIA over X and over T) and Red; `cx` and `ct` are the links' whole capacities.

    Before its upgrade Red is TCP over T. After it Red is LIA over T and over X and T, whose losses
    add. Y and Z never bind.
    """
    if not upgraded:
        return scenario_c_lia(blue, red, cx / blue, ct / red)

    def blue_rate(z: float) -> float:
        """Blue's rate that fills X when z = sqrt(p_X/p_T)."""
        return cx / (blue / (1.0 + z**2) + red * min(z, 1.0) / (2.0 + z**2))

    def excess(z: float) -> float:
        per_blue = blue * z**2 / (1.0 + z**2) + red * min(z, 1.0)
        return blue_rate(z) * per_blue - ct

    z = _root(excess)
    return Rates(blue_rate(z), min(z, 1.0) * blue_rate(z))


def scenario_c_lia(n1: float, n2: float, c1: float = 1.0, c2: float = 1.0) -> Rates:
    """Multipath (LIA over AP1 and AP2) and single-path (TCP over AP2).

    `z³ + (n1/n2) z² + z = c2/c1`; where AP2 is the better one of the two (z would exceed 1) all
    users get the same rate.
    """
    if c1 / c2 < 1.0 / (2.0 + n1 / n2):
        equal = (n1 * c1 + n2 * c2) / (n1 + n2)
        return Rates(equal, equal)
    z = _root(lambda z: z**3 + n1 / n2 * z**2 + z - c2 / c1)
    return Rates(c1 * (1.0 + z**2), c1 * z * (1.0 + z**2))


def scenario_a_optimum(
    n1: float, n2: float, c1: float = 1.0, c2: float = 1.0, probing: float = 0.0
) -> Rates:
    """Optimum with every path carrying at least `probing` (one segment per RTT): c2 - (n1/n2) δ."""
    return Rates(c1, c2 - n1 / n2 * probing)


def scenario_b_optimum(
    cx: float, ct: float, users: float = 15.0, *, upgraded: bool, probing: float = 0.0
) -> Rates:
    """Optimum for as many Blue as Red users: all equal. Red's path over X and T spends both."""
    lost = probing if upgraded else 0.0
    equal = (cx + ct - users * lost) / (2.0 * users)
    return Rates(equal, equal)


def scenario_c_optimum(
    n1: float, n2: float, c1: float = 1.0, c2: float = 1.0, probing: float = 0.0
) -> Rates:
    """Optimum: AP2 only probed when c1 >= c2 - (n1/n2) δ - δ, else all users get equal rates."""
    alone = Rates(c1 + probing, c2 - n1 / n2 * probing)
    if alone.multipath >= alone.other:
        return alone
    equal = (n1 * c1 + n2 * c2) / (n1 + n2)
    return Rates(equal, equal)


def probing_rate_bps(packet_bytes: float, rtt_s: float) -> float:
    """δ, the rate of one packet of `packet_bytes` per RTT, bit/s."""
    return packet_bytes * 8.0 / rtt_s


def _root(function: Callable[[float], float]) -> float:
    """The positive zero of an increasing function, by bisection to the last bit."""
    low, high = 0.0, 1.0
    while function(high) < 0.0:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        if function(middle) < 0.0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
