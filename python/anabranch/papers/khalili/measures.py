"""What the draft's ledger measures beyond the basic measures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from ... import _core, theory
from ...fairness import design_goals
from ...plan import Link as PlanLink
from ...plan import Red
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


@measure
def numbered(goals: Sequence[int]) -> str:
    """Goals in words."""
    return ", ".join(f"goal {number}" for number in goals) or "none"


@measure
def probing_rate(packet_bytes: int, rtt_s: float) -> float:
    """What a path carries whose window is one segment, in Mb/s."""
    return float(theory.khalili.probing_rate_bps(packet_bytes, rtt_s) / 1e6)


@measure
def closed_form_a(n1: int, n2: int) -> float:
    """Rate of type 2 by the equations of Section 4, in Mb/s."""
    return float(theory.khalili.scenario_a_lia(n1, n2).other)


@measure
def closed_form_b(x_mbps: float, t_mbps: float) -> float:
    """Rate of Blue after the upgrade by the equations of Section 5, in Mb/s."""
    return float(theory.khalili.scenario_b_lia(x_mbps, t_mbps, upgraded=True).multipath)


@measure
def closed_form_c(n1: int, n2: int) -> float:
    """Rate of multipath users by the equations of Section 6, in Mb/s."""
    return float(theory.khalili.scenario_c_lia(n1, n2).multipath)


@cache
def _with_waits(scenario: str, overrides: tuple[str, ...], rtt_s: float) -> dict[str, float]:
    plan = load(scenario).plan(overrides=overrides)
    seen = theory.Network.from_plan(plan)
    round_trips = {}
    for planned, paths in zip(plan.classes, seen.slices, strict=True):
        wait = planned.delayed_ack_s
        waits = seen.base_rtts_s[paths]
        round_trips[planned.name] = rtt_s + (waits if wait is None else np.full_like(waits, wait))
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


def _red(lab: Laboratory, cell: str, link: str) -> Red:
    links: dict[str, PlanLink] = {one.name: one for one in plan_of(lab.configurations[cell]).links}
    queue = links[link].queue
    assert isinstance(queue, Red)
    return queue


@measure
@without_runs
def drop_probability(lab: Laboratory, cell: Cell, link: Link, packets: float) -> float:
    """The drop probability of a RED queue of the cell at an average of so many packets."""
    red = _red(lab, cell, link)
    thresholds = {"min_th": red.min_packets, "max_th": red.max_packets}
    return _core.red_drop_probability(packets, max_p=red.max_p, gentle=red.gentle, **thresholds)


@measure
@without_runs
def thresholds(lab: Laboratory, cell: Cell, link: Link) -> list[float]:
    """The thresholds of a RED queue of the cell, in packets."""
    red = _red(lab, cell, link)
    return [red.min_packets, red.max_packets]


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
