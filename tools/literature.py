"""What the literature says of CUBIC, Reno and BBR, as formulas that are typed here and nowhere
else.

They judge what the simulator gives, so nothing here comes from `crates/control`.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

C = 0.4
"""RFC 9438 §5: segments/s³."""
BETA = 0.7
PACKET_BITS = 12_000

Losses = Literal["periodic", "random"]


def aimd_window(p: float, alpha: float = 1.0, beta: float = 0.5) -> float:
    """RFC 9438 Eq. 3: mean window of AIMD(alpha, beta) when every 1/p-th packet is lost."""
    return math.sqrt(alpha * (1 + beta) / (2 * (1 - beta) * p))


def cubic_window(p: float, rtt: float) -> float:
    """RFC 9438 Eq. 5, the cubic alone."""
    return (C * (3 + BETA) / (4 * (1 - BETA))) ** 0.25 * (rtt / p) ** 0.75


def table_window(controller: str, p: float, rtt: float) -> float:
    """What RFC 9438's Tables 1 and 2 have before rounding: Reno's column is RFC 3649's 1.2/√p."""
    reno = 1.2 / math.sqrt(p)
    return max(reno, cubic_window(p, rtt)) if controller == "cubic" else reno


def model_window(controller: str, p: float, rtt: float) -> float:
    """The same with Eq. 3 instead of the rounded 1.2."""
    reno = aimd_window(p)
    return max(reno, cubic_window(p, rtt)) if controller == "cubic" else reno


def largest_window(controller: str, p: float, rtt: float) -> float:
    """The window at the loss, if losses are regular: above the mean of a sawtooth or of a cubic.

    Means of what a cycle has of its largest window: (1 + β)/2, and 1 − (1 − β)/4 below a cubic.
    """
    mean = model_window(controller, p, rtt)
    if controller == "reno":
        return mean / 0.75
    return mean / ((1 + BETA) / 2 if mean == aimd_window(p) else 1 - (1 - BETA) / 4)


def leaves_reno(rtt: float) -> float:
    """Mean window at which Eq. 5 overtakes Eq. 3: up to it CUBIC is Reno-friendly."""
    p = (cubic_window(1.0, rtt) / aimd_window(1.0)) ** 4
    return aimd_window(p)


def region(rate_bps: float, rtt: float) -> str:
    """Where two flows with equal shares of a link are, whose queue of one product is empty or full.

    `small`: less than four segments each, which is no congestion avoidance; `friendly` and `cubic`:
    on the same side of the boundary whether the queue is empty or full; otherwise `between`.
    """
    empty, full = (rate_bps * t / PACKET_BITS / 2 for t in (rtt, 2 * rtt))
    if (empty + full) / 2 < 4:
        return "small"
    if full < leaves_reno(2 * rtt):
        return "friendly"
    return "cubic" if empty > leaves_reno(rtt) else "between"


def ware_share(
    buffer_bdp: float, rate_bps: float = 10e6, rtt: float = 0.04, flows: int = 1
) -> float:
    """Share of `flows` BBR flows beside any number of CUBIC ones (Ware et al., IMC 2019, Eqs. 9 to
    11).

    1 − p is what fits below two times the rate times the delay that BBR sees when it probes; while
    it probes, every 10 s until the queue is drained and 200 ms longer, it has nothing.
    """
    capacity = rate_bps / PACKET_BITS
    queue = buffer_bdp * capacity * rtt
    others = max(0.0, 0.5 - 1 / (2 * buffer_bdp) - 4 * flows / queue)
    return (1 - others) * (1 - (queue / capacity + 0.2 + rtt) / 10)


def ideal_window(
    controller: str,
    p: float,
    rtt: float,
    losses: Losses,
    *,
    fast_convergence: bool = True,
    alpha_rises: bool = True,
    cycles: int = 40,
    chains: int = 200,
) -> float:
    """Mean window over time of RFC 9438's or RFC 5681's rules without packets, recovery and
    timeouts.

    The window is max(W_cubic, W_est) of the time since the last loss; a loss comes after 1/p
    packets, or after a number with this mean as independent losses have it. So it tells what the
    RFC's regular losses leave out from what the simulator adds. `chains` run side by side; a fifth
    of their cycles is discarded. Fast convergence (§4.7) and the rise of α to 1 (§4.3), which Eqs.
    3 and 5 do not know, can be left out.
    """
    rng = np.random.default_rng(9438)
    if losses == "periodic":
        chains, cycles = 1, 4 * cycles
    # From the top of the RFC's cycle: to where a cubic's cycles repeat themselves they come only
    # slowly.
    w = np.full(chains, largest_window(controller, p, rtt))
    w_max = np.zeros(chains)
    area = time = 0.0
    for cycle in range(cycles):
        # §4.7: a flow that lost before it was back at W_max makes room.
        early = (w < w_max) & fast_convergence
        w_max = np.where(early, w * (1 + BETA) / 2, w)
        need = rng.exponential(1 / p, chains) if losses == "random" else np.full(chains, 1 / p)
        w, spent, lasted = _cycle(controller == "cubic", alpha_rises, w, w_max, need, rtt)
        if cycle >= cycles // 5:
            area, time = area + spent, time + lasted
    return area / time


def _cycle(
    cubic: bool,
    alpha_rises: bool,
    prior: np.ndarray,
    w_max: np.ndarray,
    need: np.ndarray,
    rtt: float,
) -> tuple[np.ndarray, float, float]:
    """From one loss to the next in every chain: windows then, ∫w dt and time over all chains."""
    est = w = prior * (BETA if cubic else 0.5)
    k = np.cbrt(np.maximum(w_max - w, 0.0) / C)
    w_max_here = np.maximum(w_max, w)
    step = max(0.1 * rtt, rtt * float((need / prior).mean()) / 300)
    sent, t = np.zeros_like(w), np.zeros_like(w)
    area = lasted = 0.0
    while (left := need - sent).max() > 0:
        dt = np.where(left > 0, np.minimum(step, left * rtt / w), 0.0)
        sent, t = sent + dt * w / rtt, t + dt
        area, lasted = area + float((w * dt).sum()), lasted + float(dt.sum())
        sent = np.where(need - sent < 1e-9 * need, need, sent)
        # §4.3: alpha is 9/17 until W_est is back where the loss was, and then 1.
        there = (est >= prior) & alpha_rises
        alpha = np.where(there, 1.0, 3 * (1 - BETA) / (1 + BETA)) if cubic else 1.0
        est = est + alpha * dt / rtt
        grown = np.maximum(est, C * (t - k) ** 3 + w_max_here) if cubic else est
        w = np.where(dt > 0, np.maximum(w, grown), w)
    return w, area, lasted
