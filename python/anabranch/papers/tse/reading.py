"""Quantities of the thesis' networks: rates of all flows together, capacity that is left, and the
two definitions of fairness for a cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import theory
from ...fairness import Fairness, Spare, ensemble_fairness
from ...fairness.references import limits
from ...plan import Link as PlanLink
from ..laboratory import Laboratory
from ..library import Cell, Floats, Link, Users, Values, measure, plan_of, without_runs

ENSEMBLE = "ensemble"
"""The class of the thesis' scenarios that has several paths."""


@measure
def others(lab: Laboratory, cell: Cell) -> Floats:
    """Rate of all competing TCPs, in Mb/s."""
    result = lab[cell]
    rates = [result.users(name).sum(axis=1) for name in result.classes if name != ENSEMBLE]
    return np.asarray(sum(rates, np.zeros(len(result.runs))) / 1e6)


@measure
def used(lab: Laboratory, cell: Cell, links: Sequence[str]) -> Floats:
    """The part of the capacity of some links that all flows use."""
    result = lab[cell]
    total = sum(result.link(link, "throughput_bps") for link in links)
    return np.asarray(total / sum(result.rates_bps[link] for link in links), dtype=float)


@measure
def unused(lab: Laboratory, cell: Cell, link: Link, reading: Spare) -> Floats:
    """Unused capacity of a link, in Mb/s; zero by the reading "elsewhere" if the link limits a
    flow.
    """
    result = lab[cell]
    free = np.maximum(1 - result.link(link, "utilisation"), 0.0)
    counts = True if reading == "unused" else ~limits(result, link)
    return np.asarray(free * result.rates_bps[link] / 1e6 * counts)


@measure
def compared(
    lab: Laboratory,
    cell: Cell,
    links: Sequence[str],
    tcp_mbps: Sequence[Values],
    spare_mbps: Sequence[Values],
    reading: Spare,
    margin: float,
) -> Fairness:
    """Both definitions (eq. 1.2 and 1.4) for a cell's ensemble, with the rate of a TCP on each link
    in its place and the unused capacity there, by a reading of spare capacity; means over seeds.

    Fair shares are those of an idealised TCP (footnote 1): it takes at least the free capacity. A
    real TCP that halves its window or loses packets at random does not.
    """
    result = lab[cell]
    (group,) = (one for one in result.plan.classes if one.name == ENSEMBLE)
    own = [result.plan.links[path.links[0]].name for path in group.paths]
    rates = [
        float(result.path(ENSEMBLE, number, "throughput_bps").mean()) for number in range(len(own))
    ]
    tcp, spare = (dict(zip(links, values, strict=True)) for values in (tcp_mbps, spare_mbps))
    return ensemble_fairness(
        rates,
        own,
        [float(1e6 * np.maximum(tcp[link], spare[link]).mean()) for link in own],
        {link: float(1e6 * np.mean(spare[link])) for link in own},
        {link: float(result.rates_bps[link]) for link in own},
        margin=margin,
        reading=reading,
    )


@measure
def excess(found: Fairness) -> float:
    """Excess over the bound of eq. 1.4, as a part of the bound."""
    return found.excess


@measure
def bound(found: Fairness) -> float:
    """The bound of eq. 1.4, in Mb/s."""
    return found.bound_bps / 1e6


@measure
def lenient(found: Fairness) -> bool:
    """Whether Definition 1 is met."""
    return found.lenient


@measure
def stringent(found: Fairness) -> bool:
    """Whether Definition 2 is met."""
    return found.stringent


def _link(lab: Laboratory, cell: str, link: str) -> PlanLink:
    links: dict[str, PlanLink] = {one.name: one for one in plan_of(lab.configurations[cell]).links}
    return links[link]


@measure
@without_runs
def link_rate(lab: Laboratory, cell: Cell, link: Link) -> float:
    """Rate of a link, in Mb/s."""
    return (_link(lab, cell, link).rate_bps or 0) / 1e6


@measure
@without_runs
def link_delay(lab: Laboratory, cell: Cell, link: Link) -> float:
    """Propagation delay of a link, in ms."""
    return 1e3 * _link(lab, cell, link).delay_s


@measure
@without_runs
def link_loss(lab: Laboratory, cell: Cell, link: Link) -> float:
    """Probability of random loss of a link."""
    return _link(lab, cell, link).loss


@measure
@without_runs
def count(lab: Laboratory, cell: Cell, users: Users) -> int:
    """The number of users of a class."""
    (group,) = (one for one in plan_of(lab.configurations[cell]).classes if one.name == users)
    return int(group.count)


@measure
def pftk_rate(loss: float, rtt_s: float, rto_s: float) -> float:
    """Rate of a TCP with packets of 1500 B by PFTK's approximation (eq. 2.1), in Mb/s."""
    return theory.pftk_approximate_rate_bps(loss, rtt_s, rto_s, 1500) / 1e6
