"""Fairness as the documents define it: predicates over numbers from any world.

Each part is imported when it is first used: most runs judge no fairness.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audit import NETWORKS, Audit, Entry, Network
    from .definitions import Goals, balances_congestion, design_goals, do_no_harm, harm, p1, p2
    from .dynamics import dominance, settling_time, swaps
    from .ensemble import Fairness, OnLink, Spare, ensemble_fairness
    from .judgement import Demand, Judgement, check_demands, demands, judge, judgements
    from .references import Reference, reference, tcp_fairness

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
    "harm",
    "judge",
    "judgements",
    "p1",
    "p2",
    "reference",
    "settling_time",
    "swaps",
    "tcp_fairness",
]

_HOMES = {
    "NETWORKS": "audit",
    "Audit": "audit",
    "Entry": "audit",
    "Network": "audit",
    "Goals": "definitions",
    "balances_congestion": "definitions",
    "design_goals": "definitions",
    "do_no_harm": "definitions",
    "harm": "definitions",
    "p1": "definitions",
    "p2": "definitions",
    "dominance": "dynamics",
    "settling_time": "dynamics",
    "swaps": "dynamics",
    "Fairness": "ensemble",
    "OnLink": "ensemble",
    "Spare": "ensemble",
    "ensemble_fairness": "ensemble",
    "Demand": "judgement",
    "Judgement": "judgement",
    "check_demands": "judgement",
    "demands": "judgement",
    "judge": "judgement",
    "judgements": "judgement",
    "Reference": "references",
    "reference": "references",
    "tcp_fairness": "references",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES.values():
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
