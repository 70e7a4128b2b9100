"""Fairness: what the documents mean by it, as predicates over numbers from any world."""

from .definitions import Goals, balances_congestion, design_goals, do_no_harm, p1, p2
from .dynamics import dominance, settling_time, swaps

__all__ = [
    "Goals",
    "balances_congestion",
    "design_goals",
    "do_no_harm",
    "dominance",
    "p1",
    "p2",
    "settling_time",
    "swaps",
]
