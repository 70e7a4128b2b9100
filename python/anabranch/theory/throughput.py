"""Response functions: the rate of one TCP, or of an equation-based sender, at a given loss.

Losses are probabilities in (0, 1], RTTs in seconds, results in bit/s of `packet_bytes` packets. `b`
segments are acknowledged by an ACK. All raise ValueError for arguments out of range.

From the simplest to the fullest: the square root law, PFTK's approximation, PFTK in full. TFRC's
equation is that approximation without its `min`, and the one that an equation-based sender
computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

BALANCE = math.sqrt(2.0)
"""Balance of increases and decreases (used by Khalili's draft and the Couple+ paper)."""

PERIODIC = math.sqrt(1.5)
"""Periodic losses, mean of the sawtooth (Mathis et al. 1997; Tse's thesis, equation 1.1)."""


def sqrt_window(loss: float, constant: float = BALANCE, segments_per_ack: float = 1.0) -> float:
    """Mean window in segments, `constant / sqrt(b loss)` (Mathis et al. 1997).

    `segments_per_ack` is b where a sender grows by ACKs; one that counts bytes (RFC 3465) has 1.
    """
    _check(loss, 1.0)
    if not segments_per_ack > 0.0:
        raise ValueError(f"{segments_per_ack} segments for an ACK; that is above 0")
    return constant / math.sqrt(segments_per_ack * loss)


def sqrt_rate_bps(
    loss: float,
    rtt_s: float,
    packet_bytes: float = 1500,
    constant: float = BALANCE,
    segments_per_ack: float = 1.0,
) -> float:
    """Rate of the square-root law, `constant / (rtt sqrt(b loss))` packets a second."""
    _check(loss, rtt_s)
    return sqrt_window(loss, constant, segments_per_ack) / rtt_s * packet_bytes * 8.0


def pftk_rate_bps(
    loss: float,
    rtt_s: float,
    rto_s: float,
    packet_bytes: float = 1500,
    segments_per_ack: float = 1.0,
    max_window: float = math.inf,
) -> float:
    """Send rate of TCP Reno with timeouts and a window limit, full model.

    Padhye, Firoiu, Towsley & Kurose, "Modeling TCP Reno performance" (ToN 2000), the full B(p):
    `segments_per_ack` is its b, `max_window` (segments) its W_max, `rto_s` its T_0 (the first
    timeout's length). The rate of arrivals is about `1 - loss` of it.
    """
    _check(loss, rtt_s)
    if not rto_s > 0.0 or not segments_per_ack > 0.0 or not max_window >= 1.0:
        raise ValueError("the timeout, segments per ACK and window limit must be positive")
    p, b = min(loss, 1.0 - 1e-12), segments_per_ack
    third = (2.0 + b) / (3.0 * b)
    window = third + math.sqrt(8.0 * (1.0 - p) / (3.0 * b * p) + third**2)  # E[W_u]
    backoffs = 1.0 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6  # f(p)
    if window < max_window:
        rounds = b / 2.0 * window + 1.0
    else:
        window = max_window
        rounds = b / 8.0 * window + (1.0 - p) / (p * window) + 2.0
    timeouts = _timeout_share(p, window)
    packets = (1.0 - p) / p + window + timeouts / (1.0 - p)
    duration_s = rtt_s * rounds + timeouts * rto_s * backoffs / (1.0 - p)
    return packets / duration_s * packet_bytes * 8.0


def pftk_approximate_rate_bps(
    loss: float,
    rtt_s: float,
    rto_s: float,
    packet_bytes: float = 1500,
    segments_per_ack: float = 1.0,
    max_window: float = math.inf,
) -> float:
    """PFTK's approximation, which most citations mean.

        min(W_max/RTT, 1 / (RTT sqrt(2bp/3) + T_0 min(1, 3 sqrt(3bp/8)) p (1 + 32p²))) packets a
        second

    Padhye, Firoiu, Towsley & Kurose, "Modeling TCP throughput" (SIGCOMM 1998), the approximate
    model; arguments as in `pftk_rate_bps`. At a timeout of four round trips it is within 3 % of the
    full model up to a loss of 5 %, and 16 % below it at 10 %.
    """
    _check(loss, rtt_s)
    if not rto_s > 0.0 or not segments_per_ack > 0.0 or not max_window >= 1.0:
        raise ValueError("the timeout, segments per ACK and window limit must be positive")
    b = segments_per_ack
    halving_s = rtt_s * math.sqrt(2.0 * b * loss / 3.0)
    often = min(1.0, 3.0 * math.sqrt(3.0 * b * loss / 8.0))
    timeout_s = rto_s * often * loss * (1.0 + 32.0 * loss**2)
    return min(max_window / rtt_s, 1.0 / (halving_s + timeout_s)) * packet_bytes * 8.0


def tfrc_rate_bps(
    loss: float,
    rtt_s: float,
    rto_s: float | None = None,
    packet_bytes: float = 1500,
    segments_per_ack: float = 1.0,
) -> float:
    """The throughput equation of TFRC, RFC 5348 section 3.1.

        s / (R sqrt(2bp/3) + t_RTO 3 sqrt(3bp/8) p (1 + 32p²))

    Tse's thesis means this by its equation 2.1, whose print lost the `b` and has the second term
    next to the fraction instead of in the denominator. `rto_s` defaults to 4 RTTs, as the RFC
    recommends. Unlike PFTK it has no `min(1, ...)` on the chance of a timeout and no window limit.
    """
    _check(loss, rtt_s)
    rto_s = 4.0 * rtt_s if rto_s is None else rto_s
    b = segments_per_ack
    if not rto_s > 0.0 or not b > 0.0:
        raise ValueError("the timeout and segments per ACK must be positive")
    halving_s = rtt_s * math.sqrt(2.0 * b * loss / 3.0)
    timeout_s = rto_s * 3.0 * math.sqrt(3.0 * b * loss / 8.0) * loss * (1.0 + 32.0 * loss**2)
    return packet_bytes * 8.0 / (halving_s + timeout_s)


def loss_at_rate(response: Callable[[float], float], rate_bps: float) -> float:
    """The loss at which a response function gives `rate_bps`, to twelve digits.

    `response` takes a loss and falls with it, such as `lambda p: tfrc_rate_bps(p, 0.1)`; a TFRC
    receiver needs this for its first loss interval (RFC 5348 section 6.3.1). Raises ValueError when
    the rate is not between those at losses of 1e-12 and 1.
    """
    low, high = 1e-12, 1.0
    if not response(high) <= rate_bps <= response(low):
        raise ValueError(
            f"the rate is {rate_bps:g} bit/s; it is from {response(high):g} to {response(low):g} bit/s"
        )
    while high / low > 1.0 + 1e-12:
        middle = math.sqrt(low * high)
        if middle in (low, high):
            break
        low, high = (middle, high) if response(middle) > rate_bps else (low, middle)
    return math.sqrt(low * high)


def _timeout_share(p: float, window: float) -> float:
    """PFTK's Q(w): how likely a loss in a window of that size ends in a timeout."""
    if window <= 3.0:
        return 1.0
    q = 1.0 - p
    share = (1.0 - q**3) * (1.0 + q**3 * (1.0 - q ** (window - 3.0))) / (1.0 - q**window)
    return float(min(1.0, share))


def _check(loss: float, rtt_s: float) -> None:
    if not 0.0 < loss <= 1.0:
        raise ValueError(f"loss {loss} is not in (0, 1]")
    if not rtt_s > 0.0:
        raise ValueError(f"the round-trip time {rtt_s} s is not positive")
