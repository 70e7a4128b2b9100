"""Fair allocations of any network, independent of controllers: α-fair, max-min, and dominating
allocations.

Rates are per user and count bits on the wire; a class's rate is the sum over its paths. Floors for
probing are in `anabranch.theory.optimum`, which has α = 1 (`log`) and α = 2 weighted by round trips
(`tcp`).

Class rates are unique, path rates need not be: among path rates that give every class its rate, the
functions return those that load the links least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import TheoryError
from .network import Floats, Network
from .optimum import (
    MEGA,
    class_sums,
    constraints,
    cvxpy,
    finite_links,
    fitting,
    pareto_check,
    run_program,
)

LARGEST_ALPHA = 32.0
"""Above this the utility of a class that is not the poorest is beyond the solver's accuracy."""

ROUNDING = 1e-9
"""Relative room that the steps of max-min leave one another: rates of a linear program are that
exact.
"""


@dataclass(frozen=True)
class Allocation:
    """Rates in bit/s on the wire and loads of links.

    `class_rates_bps` and `rates_bps` (one per path) are per user; `link_loads_bps` are of all
    users. `bottlenecks` names, for each class, the full links that hold it where the criterion
    tells: max-min.
    """

    criterion: str
    class_rates_bps: dict[str, float]
    rates_bps: dict[str, Floats]
    link_loads_bps: dict[str, float]
    bottlenecks: dict[str, tuple[str, ...]]


def alpha_fair(
    network: Network, alpha: float, weights: Mapping[str, float] | None = None
) -> Allocation:
    """Maximises `sum of count · weight · y^(1-α)/(1-α)`, y a user's rate; `log y` at α = 1.

    Mo & Walrand (2000). α = 0 is the largest total, 1 proportional fairness, 2 minimum
    potential delay; large α nears max-min. `weights` by class are positive, 1 where not given.

    Raises ValueError for α outside [0, 32] and weights that are not positive, TheoryError when a
    class has a path without a link of finite rate or the convex program is not solved.
    """
    if not 0.0 <= alpha <= LARGEST_ALPHA:
        raise ValueError(
            f"alpha is {alpha:g}; it is from 0 to {LARGEST_ALPHA:g}, and beyond that use max-min"
        )
    used, capacity = constraints(network)
    sums = class_sums(network)
    users = np.array([float(c.count) for c in network.classes]) * _weights(network, weights)
    unit = float(np.median(capacity) / max(users.sum(), 1.0))
    rates = _alpha_rates(alpha, users / users.sum(), sums, used, capacity / unit) * unit
    return _allocation(network, f"α = {alpha:g}", _class_rates(network, rates), {})


def max_min(network: Network) -> Allocation:
    """No user can get more without one that has no more getting less: lexicographic, by linear
    programs.

    Progressive filling (Bertsekas & Gallager, section 6.5.2) for any number of paths: all classes
    rise together until some can rise no further; those keep what they have, and the rest rise on.
    Which those are, the multipliers of the linear program say (Nace & Pióro 2008).

    Raises TheoryError when a class has a path without a link of finite rate.
    """
    from scipy.optimize import linprog

    used, capacity = constraints(network)
    sums = class_sums(network)
    classes, paths = sums.shape
    fixed = np.full(classes, math.nan)
    holds: dict[str, tuple[str, ...]] = {}
    while np.isnan(fixed).any():
        rising = np.isnan(fixed)
        # Unknowns: path rates, then the level t that every rising class reaches.
        floor = np.where(rising, 0.0, fixed * (1.0 - ROUNDING))
        least = np.hstack([-sums, rising[:, None].astype(np.float64)])
        full = np.hstack([used, np.zeros((len(used), 1))])
        found = linprog(
            np.concatenate([np.zeros(paths), [-1.0]]),
            A_ub=np.vstack([full, least]),
            b_ub=np.concatenate([capacity, -floor]),
            method="highs",
        )
        if found.status != 0:
            raise TheoryError(f"max-min of {network.name!r} was not found: {found.message}")
        prices = -np.asarray(found.ineqlin.marginals)
        held = rising & (prices[len(used) :] > 1e-9)
        if not held.any():
            raise TheoryError(f"max-min of {network.name!r}: nothing holds the classes that rise")
        fixed[held] = float(found.x[-1])
        for index in np.flatnonzero(held):
            holds[network.classes[index].name] = _holding(
                network, prices[: len(used)], used, sums[index]
            )
    return _allocation(network, "max-min", fixed * MEGA, holds)


def improvement(
    network: Network, class_rates_bps: Mapping[str, float], tolerance: float = 1e-6
) -> Allocation | None:
    """A Pareto-optimal allocation in which no class has less and some have more; None if no class
    can have more.

    Among these it is the one with the largest sum of relative gains, by a linear program.
    `tolerance` as in `pareto_check`, which also says how much a single class could gain. Raises
    TheoryError when the rates do not fit the network.
    """
    from scipy.optimize import linprog

    given = network.by_class(class_rates_bps)
    rates = {c.name: float(given[c.name]) for c in network.classes}
    if pareto_check(network, rates, tolerance).optimal:
        return None
    used, capacity = constraints(network)
    sums = class_sums(network)
    have = np.array(list(rates.values())) / MEGA
    gains = sums / np.maximum(have, 1e-6 * have.max())[:, None]
    found = linprog(
        -gains.sum(axis=0),
        A_ub=np.vstack([used, -sums]),
        b_ub=np.concatenate([capacity, -have * fitting(network, have, 0.1 * tolerance)]),
        method="highs",
    )
    if found.status != 0:
        raise TheoryError(f"the rates do not fit network {network.name!r}: {found.message}")
    return _allocation(network, "Pareto", _class_rates(network, found.x), {})


def _alpha_rates(
    alpha: float, users: Floats, sums: Floats, used: Floats, capacity: Floats
) -> Floats:
    """Path rates, shape (P,), in units in which capacities are near the number of users."""
    cp = cvxpy()
    x = cp.Variable(sums.shape[1], nonneg=True)
    y = sums @ x
    utility: Any
    if alpha == 0.0:
        utility = users @ y
    elif alpha == 1.0:
        utility = users @ cp.log(y)
    else:
        # The mean of order 1-α rises with the sum of utilities, and is of the size of the rates
        # where y^(1-α) would span more digits than the solver has.
        order = 1.0 - alpha
        utility = cp.pnorm(cp.multiply(users ** (1.0 / order), y), order)
    run_program(cp.Problem(cp.Maximize(utility), [used @ x <= capacity]))
    rates: Floats = np.maximum(np.asarray(x.value), 0.0)
    return rates


def _weights(network: Network, weights: Mapping[str, float] | None) -> Floats:
    given = network.by_class(weights or {})
    for name, weight in given.items():
        if not weight > 0.0:
            raise ValueError(f"the weight of class {name!r} is {weight}; it is above 0")
    return np.array([float(given.get(c.name, 1.0)) for c in network.classes])


def _class_rates(network: Network, path_rates_mbps: Floats) -> Floats:
    """(C,) bit/s."""
    rates: Floats = class_sums(network) @ path_rates_mbps * MEGA
    return rates


def _allocation(
    network: Network, criterion: str, class_rates: Floats, holds: dict[str, tuple[str, ...]]
) -> Allocation:
    """Class rates (C,) in bit/s, with path rates that load the links least, fitted to the
    capacities.
    """
    from scipy.optimize import linprog

    used, capacity = constraints(network)
    sums = class_sums(network)
    wanted = class_rates / MEGA
    # Unknowns: path rates, then by which factor all classes get what is wanted: 1, but for
    # rounding.
    found = linprog(
        np.concatenate([used.sum(axis=0) * 1e-3, [-1e3 * capacity.sum()]]),
        A_ub=np.hstack([used, np.zeros((len(used), 1))]),
        b_ub=capacity,
        A_eq=np.hstack([sums, -wanted[:, None]]),
        b_eq=np.zeros(len(wanted)),
        bounds=[(0.0, None)] * sums.shape[1] + [(0.0, 1.0)],
        method="highs",
    )
    if found.status != 0:
        raise TheoryError(
            f"no path rates give the classes of {network.name!r} theirs: {found.message}"
        )
    rates = np.asarray(found.x[:-1])
    loads = network.incidence @ (network.counts * rates)
    parts = dict(zip((c.name for c in network.classes), network.slices, strict=True))
    return Allocation(
        criterion=criterion,
        class_rates_bps={name: float(rates[part].sum()) * MEGA for name, part in parts.items()},
        rates_bps={name: rates[part] * MEGA for name, part in parts.items()},
        link_loads_bps={
            link.name: float(load) * MEGA for link, load in zip(network.links, loads, strict=True)
        },
        bottlenecks=holds,
    )


def _holding(network: Network, prices: Floats, used: Floats, own: Floats) -> tuple[str, ...]:
    """Names of the priced links that a path of the class crosses."""
    names = [network.links[index].name for index in np.flatnonzero(finite_links(network))]
    crossed = np.asarray((used[:, own > 0.0] > 0.0).any(axis=1))
    return tuple(
        name for name, price, on in zip(names, prices, crossed, strict=True) if on and price > 1e-9
    )
