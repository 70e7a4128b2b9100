"""What the ledger on harm measures beyond the basic measures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anabranch import theory
from anabranch.fairness import harm
from anabranch.papers.laboratory import Laboratory
from anabranch.papers.library import Cell, Link, Users, Values, measure, plan_of, without_runs
from anabranch.planned_network import DropTail
from anabranch.statistics import jain


@measure
def harm_where_more_is_better(alone: Values, beside: Values) -> Values:
    """The part of what a flow has alone that it loses beside others: 0 is no harm, 1 all of it."""
    return np.vectorize(harm, otypes=[float])(mean_of(alone), beside)


@measure
def harm_where_less_is_better(alone: Values, beside: Values) -> Values:
    """The part of a delay or a loss beside others that is theirs: 0 is no harm, and nearly 1 where
    it has grown many times.
    """
    return 1 - mean_of(alone) / np.asarray(beside)


def mean_of(values: Values) -> float:
    """The mean over seeds; solo runs of one flow hardly differ."""
    return float(np.mean(values))


@measure
@without_runs
def queue_in_bdp(lab: Laboratory, cell: Cell, link: Link, users: Users) -> float:
    """The limit of a drop-tail queue over the bandwidth-delay product of a class's first path."""
    plan = plan_of(lab.configurations[cell])
    (one,) = (each for each in plan.links if each.name == link)
    (group,) = (each for each in plan.classes if each.name == users)
    assert isinstance(one.queue, DropTail) and one.queue.limit_packets and one.rate_bps
    bits = one.queue.limit_packets * group.packet_bytes * 8
    return float(bits / (one.rate_bps * group.paths[0].base_rtt_s))


@measure
@without_runs
def link_mbps(lab: Laboratory, cell: Cell, link: Link) -> float:
    """The rate of a link, in Mb/s."""
    (one,) = (each for each in plan_of(lab.configurations[cell]).links if each.name == link)
    return float((one.rate_bps or np.nan) / 1e6)


@measure
@without_runs
def base_rtt_ms(lab: Laboratory, cell: Cell, users: Users) -> float:
    """The round trip of a class's first path without queues, in ms."""
    (one,) = (each for each in plan_of(lab.configurations[cell]).classes if each.name == users)
    return float(one.paths[0].base_rtt_s * 1e3)


@measure
def max_min_mbps(capacity_mbps: float, caps_mbps: Mapping[str, float]) -> dict[str, float]:
    """The max-min fair rates of services at one link, in Mb/s; each can take its cap at most.

    A cap is a link of its own before the shared one.
    """
    caps = [theory.Link(name, cap * 1e6) for name, cap in caps_mbps.items()]
    shared = theory.Link("shared", capacity_mbps * 1e6)
    services = [
        theory.UserClass(name, 1, "reno", 1500, (theory.Path((number, len(caps)), 0.05),))
        for number, name in enumerate(caps_mbps)
    ]
    found = theory.max_min(theory.Network("services", (*caps, shared), tuple(services)))
    return {name: rate / 1e6 for name, rate in found.class_rates_bps.items()}


@measure
def jain_of(rates: Values) -> float:
    """Jain's index of some rates."""
    return float(jain(np.asarray(rates, dtype=float)))
