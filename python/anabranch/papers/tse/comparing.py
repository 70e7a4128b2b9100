"""The two definitions of multipath TCP-fairness (`anabranch.fairness.ensemble`) for made-up
allocations, against the equations written out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...fairness import Fairness, ensemble_fairness
from ..library import expensive, measure


@measure
def decided(found: Fairness) -> dict[str, float]:
    """Whether an allocation is "lenient" (Definition 1) and "stringent" (Definition 2); the "bound"
    of eq. 1.4 in Mb/s, and the "excess" over it as a part of it; the largest excess over a TCP's
    rate "on_a_link" as a part of the link's capacity (eq. 1.2).
    """
    return {
        "lenient": found.lenient,
        "stringent": found.stringent,
        "bound": found.bound_bps / 1e6,
        "excess": found.excess,
        "on_a_link": max(link.excess for link in found.links),
    }


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
