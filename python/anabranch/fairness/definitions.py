"""P1, P2, harm and the design goals of MPTCP, over mean rates.

P1, P2 and harm are computed in Rust, where the explorer has them too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import _core


def p1(
    others_before: float,
    others_after: float,
    upgraded_before: float,
    upgraded_after: float,
    *,
    harm: float = 0.05,
    gain: float = 0.02,
) -> bool:
    """Problem P1: upgrading some users harms others and does not help the upgraded.

    True when the others lost at least the fraction `harm` and the upgraded gained at most `gain`.
    Rates in any one unit. Source: draft-khalili-mptcp-performance-issues-04, abstract and Section
    1.
    """
    rates = (others_before, others_after, upgraded_before, upgraded_after)
    return _core.p1(*rates, harm=harm, gain=gain)


def p2(
    multipath: float,
    single_path: float,
    fair_multipath: float,
    fair_single: float,
    *,
    margin: float = 0.1,
) -> bool:
    """Problem P2: multipath users take more than a proportionally fair share, TCP users get less.

    True when both are off the fair rates by at least the fraction `margin`.
    Source: draft-khalili-mptcp-performance-issues-04, Sections 1 and 6.
    """
    return _core.p2(multipath, single_path, fair_multipath, fair_single, margin=margin)


def harm(alone: float, beside: float) -> float:
    """Harm to a flow beside others: the part of what it has `alone` that it loses `beside` them.

    For a metric of which more is better, such as a rate: 0 is no harm, 1 is all of it, and less
    than 0 is a gain. Raises ValueError unless `alone` is above 0. Source of the term: Ware and
    others, "Beyond Jain's Fairness Index", HotNets 2019; as a fraction of `alone` it is ours.
    """
    if not alone > 0:
        raise ValueError(f"alone is {alone}; it must be above 0, or there is nothing to lose")
    return _core.harm(alone, beside)


def do_no_harm(
    path_rates: Sequence[float], tcp_rates: Sequence[float], *, margin: float = 0.1
) -> bool:
    """Design goal 2: on no path more than a TCP would take there, within `margin` (RFC 6356 §2)."""
    return all(x <= (1 + margin) * t for x, t in zip(path_rates, tcp_rates, strict=True))


def balances_congestion(losses: Mapping[str, float], *, factor: float = 1.5) -> bool:
    """Design goal 3, scored by bottlenecks: no loss above `factor` times another's (RFC 6356 §2).

    `losses` are loss probabilities of the bottlenecks among which the users could choose.
    """
    return max(losses.values()) <= factor * min(losses.values())


@dataclass(frozen=True)
class Goals:
    """Which of MPTCP's three design goals hold (RFC 6356 §2)."""

    improve_throughput: bool
    do_no_harm: bool
    balance_congestion: bool

    @property
    def failed(self) -> tuple[int, ...]:
        """Numbers of the goals that do not hold."""
        held = (self.improve_throughput, self.do_no_harm, self.balance_congestion)
        return tuple(number for number, ok in enumerate(held, start=1) if not ok)


def design_goals(
    path_rates: Sequence[float],
    tcp_rates: Sequence[float],
    losses: Mapping[str, float],
    *,
    margin: float = 0.1,
    factor: float = 1.5,
) -> Goals:
    """The three goals for one multipath user.

    `tcp_rates` are the rates that a TCP would get on each of its paths under the same loss and RTT,
    in the unit of `path_rates`. Goal 1: in total at least the best of them, within `margin`.
    """
    return Goals(
        improve_throughput=sum(path_rates) >= (1 - margin) * max(tcp_rates),
        do_no_harm=do_no_harm(path_rates, tcp_rates, margin=margin),
        balance_congestion=balances_congestion(losses, factor=factor),
    )
