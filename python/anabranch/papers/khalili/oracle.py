"""Theory for the draft's scenarios: shipped laws' fixed points and optima, in Mb/s per user."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ... import theory
from ...scenario import load

RTT_S = 0.150
"""The draft's round-trip time, queueing included."""


def network(
    scenario: str, controller: str | None = None, overrides: Sequence[str] = ()
) -> theory.Network:
    """What theory sees of a shipped scenario."""
    plan = load(f"khalili/{scenario}").plan(controller=controller, overrides=overrides)
    return theory.Network.from_plan(plan)


@cache
def fixed_point(
    scenario: str, controller: str | None, overrides: tuple[str, ...] = ()
) -> dict[str, float]:
    """Class rates where all RTTs are equal, as the draft's analysis has it."""
    found = theory.equilibrium(network(scenario, controller, overrides), rtt=RTT_S)
    return {name: rate / 1e6 for name, rate in found.class_rates_bps.items()}


@cache
def fixed_point_with_queues(
    scenario: str, controller: str | None, overrides: tuple[str, ...] = ()
) -> dict[str, float]:
    """Class rates where each path's RTT has the queueing of the links that it crosses."""
    found = theory.equilibrium(network(scenario, controller, overrides), rtt="queueing")
    return {name: rate / 1e6 for name, rate in found.class_rates_bps.items()}


@cache
def optimum(
    scenario: str, overrides: tuple[str, ...] = (), *, probing: bool = False
) -> dict[str, float]:
    """Proportionally fair class rates, with one segment per RTT on every path or without."""
    found = theory.optimum(
        network(scenario, None, overrides), rtt=RTT_S, floor=1.0 if probing else 0.0
    )
    return {name: rate / 1e6 for name, rate in found.class_rates_bps.items()}
