"""Theory for the draft's scenarios: shipped laws' fixed points and optima, in Mb/s per user."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ... import theory
from ...scenario import load

RTT_S = 0.150
"""The draft's round-trip time, queueing included."""


def network(
    scenario: str, controller: str | None = None, overrides: Sequence[str] = ()
) -> theory.Network:
    """The network of a shipped scenario for theory."""
    plan = load(f"khalili/{scenario}").plan(controller=controller, overrides=overrides)
    return theory.Network.from_plan(plan)


@cache
def fixed_point(
    scenario: str, controller: str | None, overrides: tuple[str, ...] = ()
) -> dict[str, float]:
    """Class rates with equal RTTs, as in the draft's analysis."""
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


@cache
def optimum_with_waits(scenario: str, overrides: tuple[str, ...] = ()) -> dict[str, float]:
    """Proportionally fair class rates with one segment per round trip on every path. The ACK of a
    lone segment is delayed by the rule of the scenario's receivers.

    A receiver of Linux ("linux") waits for the round trip of the handshake, which has no queues. A
    path that carries more than its floor has no lone segments; its rate does not depend on this.
    """
    plan = load(f"khalili/{scenario}").plan(overrides=overrides)
    seen = theory.Network.from_plan(plan)
    round_trips = {}
    for planned, paths in zip(plan.classes, seen.slices, strict=True):
        wait = planned.delayed_ack_s
        waits = seen.base_rtts_s[paths]
        round_trips[planned.name] = RTT_S + (waits if wait is None else np.full_like(waits, wait))
    found = theory.optimum(seen, rtt=round_trips, floor=1.0)
    return {name: rate / 1e6 for name, rate in found.class_rates_bps.items()}
