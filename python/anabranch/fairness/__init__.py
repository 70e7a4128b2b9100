"""Fairness: what the documents mean by it, as predicates over numbers from any world."""

from .definitions import Goals, balances_congestion, design_goals, do_no_harm, p1, p2
from .dynamics import dominance, settling_time, swaps
from .ensemble import Fairness, OnLink, ensemble_fairness
from .reference import Reference, reference, tcp_fairness

__all__ = [
    "Fairness",
    "Goals",
    "OnLink",
    "Reference",
    "balances_congestion",
    "design_goals",
    "do_no_harm",
    "dominance",
    "ensemble_fairness",
    "p1",
    "p2",
    "reference",
    "settling_time",
    "swaps",
    "tcp_fairness",
]
