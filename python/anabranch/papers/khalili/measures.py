"""What the draft's ledger measures beyond the basic measures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from ... import _core, theory
from ...fairness import design_goals
from ...scenario import load
from ...statistics import Interval, interval
from ..laboratory import Laboratory
from ..library import Cell, Link, Users, measure, plan_of, without_runs
from . import flapping, rules, settling, wireless  # noqa: F401


@measure
def failed_goals(lab: Laboratory, cell: Cell) -> list[int]:
    """The design goals that scenario C's multipath users fail, against a TCP under the run's own
    loss and round-trip time on each path.
    """
    result = lab[cell]
    rates, tcp = [], []
    for path in (0, 1):
        loss, rtt_s, bps = (
            float(result.path("multipath", path, metric).mean())
            for metric in ("loss", "srtt_s", "throughput_bps")
        )
        rates.append(bps)
        tcp.append(theory.sqrt_rate_bps(loss, rtt_s, 1500, theory.throughput.PERIODIC))
    losses = {link: float(result.link(link, "loss").mean()) for link in ("ap1", "ap2")}
    return list(design_goals(rates, tcp, losses).failed)


scenario_a_lia = measure(theory.khalili.scenario_a_lia)
scenario_b_lia = measure(theory.khalili.scenario_b_lia)
scenario_c_lia = measure(theory.khalili.scenario_c_lia)


@cache
def _with_waits(scenario: str, overrides: tuple[str, ...], rtt_s: float) -> dict[str, float]:
    plan = load(scenario).plan(overrides=overrides)
    seen = theory.Network.from_plan(plan)
    round_trips = {}
    for one, paths in zip(plan.classes, seen.slices, strict=True):
        wait = one.delayed_ack_s
        waits = seen.base_rtts_s[paths]
        round_trips[one.name] = rtt_s + (waits if wait is None else np.full_like(waits, wait))
    found = theory.optimum(seen, rtt=round_trips, floor=1.0)
    return {name: rate / 1e6 for name, rate in found.class_rates_bps.items()}


@measure
@without_runs
def optimum_with_waits(lab: Laboratory, cell: Cell, users: Users, rtt_s: float) -> float:
    """The proportionally fair rate of a class with one segment for each round trip on every path,
    in Mb/s. The ACK of a lone segment is delayed by the rule of the scenario's receivers.

    A receiver of Linux ("linux") waits for the round trip of the handshake, which has no queues. A
    path that carries more than its floor has no lone segments; its rate does not depend on this.
    """
    one = lab.configurations[cell]
    return _with_waits(one.scenario, tuple(one.overrides), rtt_s)[users]


@measure
@without_runs
def drop_probability(lab: Laboratory, cell: Cell, link: Link, packets: float) -> float:
    """The drop probability of a RED queue of the cell at an average of so many packets."""
    (red,) = (one.queue for one in plan_of(lab.configurations[cell]).links if one.name == link)
    thresholds = {"min_th": red.min_packets, "max_th": red.max_packets}
    return float(
        _core.red_drop_probability(packets, max_p=red.max_p, gentle=red.gentle, **thresholds)
    )


@measure
def lost_points(ratios: Sequence[ArrayLike], least: float) -> Interval:
    """How many ratios lie below `least`: between those that do with their whole intervals and those
    that do with a part.
    """
    points = [interval(values) for values in ratios]
    certain, possible = (
        sum(end < least for end in ends)
        for ends in ([p.high for p in points], [p.low for p in points])
    )
    return Interval((certain + possible) / 2, (possible - certain) / 2, len(points))
