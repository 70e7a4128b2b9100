"""The two definitions of multipath TCP-fairness (`anabranch.fairness.ensemble`) for made-up
allocations, against the equations written out; and the use of an ensemble's links.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...fairness import Fairness, ensemble_fairness
from ..laboratory import Laboratory
from ..library import Cell, Floats, expensive, measure, plan_of, without_runs

ENSEMBLE = "ensemble"
"""The class of the thesis' scenarios that has several paths."""


@measure
@without_runs
def were_run(lab: Laboratory, cells: Sequence[Cell]) -> bool:
    """Whether all of some cells have been run: the report leaves out the others."""
    return all(name in lab.results for name in cells)


@measure
def used_by_paths(lab: Laboratory, cell: Cell) -> Floats:
    """The part of the capacity of the ensemble's links that all flows use."""
    result, plan = lab[cell], plan_of(lab.configurations[cell])
    (group,) = (one for one in plan.classes if one.name == ENSEMBLE)
    links = dict.fromkeys(plan.links[path.links[0]].name for path in group.paths)
    total = sum(result.link(link, "throughput_bps") for link in links)
    return np.asarray(total / sum(result.rates_bps[link] for link in links), dtype=float)


@measure
def excess_on_a_link(found: Fairness) -> float:
    """The largest excess over a TCP's rate, as a part of the link's capacity (eq. 1.2)."""
    return max(link.excess for link in found.links)


@measure
def allocation(
    rates: Sequence[float],
    fair: Sequence[float],
    spare: Sequence[float],
    capacities: Sequence[float],
    margin: float,
) -> Fairness:
    """Both definitions for paths over links of their own; all in Mb/s."""
    names = [str(number) for number in range(len(rates))]
    own, tcp, free, limit = (
        [1e6 * one for one in many] for many in (rates, fair, spare, capacities)
    )
    unused, capacity = (dict(zip(names, many, strict=True)) for many in (free, limit))
    return ensemble_fairness(own, names, tcp, unused, capacity, margin=margin)


@measure
@expensive
def random_allocations(count: int, margin: float) -> list[Fairness]:
    """Both definitions over random rates, shares, spare capacities and placements."""
    random = np.random.default_rng(1)
    return [_random(random, margin) for _ in range(count)]


def _random(random: np.random.Generator, margin: float) -> Fairness:
    n = int(random.integers(1, 9))
    names = [f"link {i}" for i in range(int(random.integers(1, n + 1)))]
    where = [names[int(random.integers(len(names)))] for _ in range(n)]
    capacity = {name: float(random.uniform(1, 10)) for name in names}
    spare = {
        name: float(random.choice([0.0, random.uniform(0, 1)])) * capacity[name] for name in names
    }
    tcp = [float(random.uniform(0.05, 1)) * capacity[link] for link in where]
    rates = [float(random.uniform(0, 1.2)) * rate / random.integers(1, n + 1) for rate in tcp]
    return ensemble_fairness(rates, where, tcp, spare, capacity, margin=margin)


@measure
@expensive
def differences_from_eq_1_2(count: int, margin: float) -> int:
    """How many of random allocations the evaluator judges otherwise than eq. 1.2 written out."""
    return sum(
        found.lenient
        != all(
            link.ensemble_bps <= link.tcp_bps + margin * link.capacity_bps for link in found.links
        )
        for found in random_allocations(count, margin)
    )


@measure
@expensive
def differences_from_eq_1_4(count: int, margin: float, rounding: float) -> int:
    """How many of random allocations the evaluator judges otherwise than eq. 1.4 written out, or
    gives a bound that is off by more than `rounding`.
    """
    random = np.random.default_rng(2)
    different = 0
    for _ in range(count):
        n = int(random.integers(1, 9))
        fair, spare, rates = (random.uniform(0, 5, n) for _ in range(3))
        own = allocation(rates.tolist(), fair.tolist(), spare.tolist(), [10.0] * n, margin)
        bound = max(fair[p] + spare.sum() - spare[p] for p in range(n))
        stringent = own.lenient and rates.sum() <= (1 + margin) * bound
        far = abs(own.bound_bps / (1e6 * bound) - 1) >= rounding
        different += bool(far or own.stringent != stringent)
    return different
