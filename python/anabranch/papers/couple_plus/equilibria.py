"""The paper's equations in small random networks, and what plans say of coding."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ...theory import coding
from ...theory.coding import CodedAllocation, CodedFlow, CodedNetwork, CodedPath
from ..library import Floats, expensive, measure

USED = 1e-4
"""Least rate of a path that counts as used, in Mb/s."""

detection_spacing = measure(coding.detection_spacing)
hidden_loss = measure(coding.hidden_loss)
redundancy_bound = measure(coding.redundancy_bound)
redundant_cycle = measure(coding.redundant_cycle)
aimd_windows = measure(coding.aimd_windows)
aimd_residual = measure(coding.aimd_residual)
sensed_price = measure(coding.sensed_price)
utility_of_equal_paths = measure(coding.utility_of_equal_paths)


@measure
@expensive
def random_flows(number: int) -> list[tuple[Floats, Floats]]:
    """Losses and round trips in seconds of flows with two to four paths."""
    found = []
    for seed in range(number):
        random = np.random.default_rng(seed)
        n = int(random.integers(2, 5))
        found.append((10 ** random.uniform(-3, -1.5, n), random.uniform(0.02, 0.2, n)))
    return found


@measure
def most_harm(rates: ArrayLike, tcp: ArrayLike) -> float:
    """Equation (2): what a set of paths has, over a TCP on the best of them, at the worst set."""
    own, other = np.asarray(rates), np.asarray(tcp)
    sizes = range(1, len(own) + 1)
    sets = [list(one) for size in sizes for one in combinations(range(len(own)), size)]
    return max(float(own[one].sum() / other[one].max()) for one in sets)


def random_network(seed: int) -> CodedNetwork:
    """A flow of an own path and a coded one that a TCP shares."""
    random = np.random.default_rng(seed)
    r, w = random.uniform(1.0, 1.25), float(random.integers(1, 7))
    coded = CodedFlow("multipath", (CodedPath((0,)), CodedPath((1,), r=max(r, 1.01), w=w)))
    capacities = (float(random.uniform(0.1, 1.0)), float(random.uniform(0.5, 2.0)))
    return CodedNetwork(capacities, (coded, CodedFlow("tcp", (CodedPath((1,)),))))


def _prices(network: CodedNetwork, found: CodedAllocation) -> tuple[Floats, float]:
    """True prices of the multipath flow's paths, and the relative excess of the dearest used one
    over the cheapest.
    """
    k = coding.path_prices(network, found.link_prices).k
    return k["multipath"], coding.congestion_equality(k, found.rates).flows["multipath"].excess


@measure
@expensive
@cache
def solved(number: int) -> dict[str, list[float]]:
    """Solutions of some random networks of a two-path flow and a TCP (equations 7 to 12).

    For each network the `excess` of the dearest used path's price at the optimum, the `residual` of
    the optimality conditions, and how far rates by two methods are `apart`. Where flows react to q
    alone and both paths are used: the `blind excess`, and the true price of the coded path over
    that of the other one.
    """
    names = ("excess", "residual", "apart", "blind excess", "coded over uncoded")
    found: dict[str, list[float]] = {name: [] for name in names}
    for network in map(random_network, range(number)):
        solvers = (coding.solve, coding.solve_dual, coding.ignorant)
        best, dual, blind = (solver(network) for solver in solvers)
        found["excess"].append(_prices(network, best)[1])
        found["residual"].append(max(one.residual for one in (best, dual, blind)))
        found["apart"] += [abs(rate - dual.flow_rates[f]) for f, rate in best.flow_rates.items()]
        if (blind.rates["multipath"] > USED).all():
            k, excess = _prices(network, blind)
            found["blind excess"].append(excess)
            found["coded over uncoded"].append(float(k[1] / k[0]))
    return found
