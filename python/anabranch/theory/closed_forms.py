"""Equilibria written out by hand from the papers: independent oracles for `equilibrium`.

Nothing here asks the shipped laws. Windows are in segments, losses are probabilities in (0, 1],
RTTs in seconds, all arrays have shape (n,) with one entry for each path. The small-loss convention
of the papers holds: 1 - p is taken as 1, losses add along a path.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .network import Floats


def reno_windows(losses: ArrayLike) -> Floats:
    """`sqrt(2/p)` on each path: growth 1/w per ACK against w/2 per loss."""
    return np.sqrt(2.0 / _losses(losses))


def ewtcp_windows(losses: ArrayLike, weight: float | None = None) -> Floats:
    """EWTCP (Honda et al. 2009): `sqrt(2a/p)`, a = 1/n² unless `weight` gives it."""
    p = _losses(losses)
    a = 1.0 / len(p) ** 2 if weight is None else weight
    return np.sqrt(2.0 * a / p)


def semicoupled_windows(losses: ArrayLike, weight: float | None = None) -> Floats:
    """SEMI-COUPLED (Wischik et al., NSDI 2011): `sqrt(2a)/p / sqrt(sum 1/p)`, a = 1/n."""
    p = _losses(losses)
    a = 1.0 / len(p) if weight is None else weight
    windows: Floats = np.sqrt(2.0 * a) / p / np.sqrt((1.0 / p).sum())
    return windows


def best_path_rate(losses: ArrayLike, rtts_s: ArrayLike) -> float:
    """TCP's rate on its best path, `max sqrt(2/p)/rtt`, segments/s: the total of the coupled laws.

    OLIA carries all of it on the paths that reach this maximum.
    """
    p, rtt = _losses(losses), np.asarray(rtts_s, dtype=np.float64)
    return float((np.sqrt(2.0 / p) / rtt).max())


def coupled_total_window(losses: ArrayLike) -> float:
    """COUPLED (Kelly & Voice 2005): `sqrt(2/min p)`, all on the paths of least loss."""
    return float(np.sqrt(2.0 / _losses(losses).min()))


def phi_windows(losses: ArrayLike, rtts_s: ArrayLike, phi: float) -> Floats:
    """The φ-family, RTT-compensated: `w ∝ p^(-1/φ)`, total rate `best_path_rate`, φ > 0.

    At φ = 2 this is not Reno on every path: the compensated form still holds down the total.
    """
    p, rtt = _losses(losses), np.asarray(rtts_s, dtype=np.float64)
    if not phi > 0.0:
        raise ValueError(f"phi is {phi}; the equilibrium is on the best path only as it nears 0")
    shares = (p / p.min()) ** (-1.0 / phi)
    windows: Floats = shares * best_path_rate(p, rtt) / (shares / rtt).sum()
    return windows


def lia_windows(losses: ArrayLike, rtts_s: ArrayLike) -> Floats:
    """LIA where its cap does not bind: the loss-throughput formula (Khalili et al. 2012)."""
    p, rtt = _losses(losses), np.asarray(rtts_s, dtype=np.float64)
    windows: Floats = best_path_rate(p, rtt) / p / (1.0 / (rtt * p)).sum()
    return windows


def lia_cap_binds(losses: ArrayLike, rtts_s: ArrayLike) -> bool:
    """Whether `min(..., 1/w)` of RFC 6356 limits growth at `lia_windows`, which are then
    too high.
    """
    rtt = np.asarray(rtts_s, dtype=np.float64)
    w = lia_windows(losses, rtt)
    growth = (w / rtt**2).max() / (w / rtt).sum() ** 2
    return bool((growth * w > 1.0 + 1e-12).any())


def balia_windows(losses: ArrayLike, rtts_s: ArrayLike) -> Floats:
    """BALIA (Peng et al. 2016): solves `(1+α)(4+α) / (5 min(α, 1.5)) = p rtt² X²`.

    α = x_max/x is 1 on the best path, which gives X = `best_path_rate`; on the others the root
    with α >= 1.5 is taken. That is the only one where the right side is above 2, that is, on
    every path worse than the best, and the stable one on a path exactly as good.
    """
    p, rtt = _losses(losses), np.asarray(rtts_s, dtype=np.float64)
    total = best_path_rate(p, rtt)
    price = p * rtt**2 * total**2
    best = int(price.argmin())
    # min(α, 1.5) = 1.5 leaves α² + 5α + 4 = 7.5 price.
    alpha = (-5.0 + np.sqrt(25.0 - 4.0 * (4.0 - 7.5 * price))) / 2.0
    alpha[best] = 1.0
    windows: Floats = total / (1.0 / alpha).sum() / alpha * rtt
    return windows


def _losses(losses: ArrayLike) -> Floats:
    p = np.asarray(losses, dtype=np.float64)
    if p.ndim != 1 or not len(p) or not ((p > 0.0) & (p <= 1.0)).all():
        raise ValueError(f"losses {p.tolist()} are not a list of probabilities above 0")
    return p
