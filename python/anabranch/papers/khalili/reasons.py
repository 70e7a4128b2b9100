"""Why something did not come out: the best explanation, with its evidence."""

from __future__ import annotations

from . import oracle
from .paper import scenario_a

OLIA = ""
LOSS_LIA = ""
PHI = ""
FLAPPY = ""
TRADEOFF = ""
MONOTONE = ""


def scenario_a_lia(n1: int) -> str:
    """Scenario A: the second path crosses both queues, and its longer RTT changes the balance."""
    return ""
