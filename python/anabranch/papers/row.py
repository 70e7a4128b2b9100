"""A published rate beside what theory and simulation give."""

from __future__ import annotations

from dataclasses import dataclass

from ..statistics import Interval, Verdict


@dataclass(frozen=True)
class Row:
    """One class of users in one cell; rates in Mb/s per user, on the wire but for goodput."""

    scenario: str
    setting: str
    controller: str
    users: str
    published: float
    fixed_point: float
    optimum: float
    probing_optimum: float
    simulated: Interval
    goodput: Interval
    verdict: Verdict
    cell: str
