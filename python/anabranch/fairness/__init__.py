"""Fairness: what the documents mean by it, as predicates over numbers from any world."""

from .audit import NETWORKS, Audit, Entry, Network
from .definitions import Goals, balances_congestion, design_goals, do_no_harm, p1, p2
from .dynamics import dominance, settling_time, swaps
from .ensemble import Fairness, OnLink, Spare, ensemble_fairness
from .judge import Demand, Judgement, check_demands, demands, judge, judgements
from .reference import Reference, reference, tcp_fairness

__all__ = [
    "NETWORKS",
    "Audit",
    "Demand",
    "Entry",
    "Fairness",
    "Goals",
    "Judgement",
    "Network",
    "OnLink",
    "Reference",
    "Spare",
    "balances_congestion",
    "check_demands",
    "demands",
    "design_goals",
    "do_no_harm",
    "dominance",
    "ensemble_fairness",
    "judge",
    "judgements",
    "p1",
    "p2",
    "reference",
    "settling_time",
    "swaps",
    "tcp_fairness",
]
