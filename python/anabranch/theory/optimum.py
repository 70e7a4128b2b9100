"""The allocation of an optimal algorithm: network utility maximisation as a convex program.

    maximise    sum over classes of count * U(y),   y = sum of the class's path rates per user
    subject to  the load of every link <= its capacity,   every path rate >= its probing floor

"log" (proportional fairness, Kelly et al. 1998) has U(y) = log y; "tcp" (minimum potential delay)
has U(y) = -2 / (rtt² y) with y in segments/s, whose price 2 / (rtt y)² is TCP's loss.
Rates count bits on the wire.

**Path rates.** Class rates are unique, path rates need not be. Among the path rates that reach the
optimum, `optimum` returns those that load the links least (smallest sum of the loads of all finite
links), and among these the ones of least norm. Class rates are within 1e-5 of the optimum's.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..offers import chosen, find
from .errors import TheoryError
from .network import Floats, Network

MEGA = 1e6
UTILITIES = ("log", "tcp")

RoundTrips = str | float | Mapping[str, Sequence[float] | Floats]
"""`base`, seconds for every path alike, or for each class the seconds of its paths."""
LINK_COST = 1e-6
SPREAD_COST = 1e-8
"""Relative weights that choose among path rates. They move class rates by about their size."""


@dataclass(frozen=True)
class Optimum:
    """Rates per user (bit/s on the wire) and prices of links.

    `link_prices`: zero on a link that is not full. For "tcp" a loss probability, to be compared
    with an equilibrium's losses; for "log" such that the rates of a user who pays no floor are `1 /
    price` in bit/s, price being the least sum of prices along its paths. A class whose floors raise
    its rate pays more than that.
    """

    class_rates_bps: dict[str, float]
    rates_bps: dict[str, Floats]
    link_prices: dict[str, float]
    link_loads_bps: dict[str, float]
    utility: str
    floors_bps: dict[str, Floats]


@dataclass(frozen=True, slots=True)
class ParetoCheck:
    """`headroom`: the largest relative rise of any one class that costs no other class anything."""

    optimal: bool
    headroom: float
    class_name: str


def optimum(
    network: Network,
    *,
    utility: str = "log",
    rtt: RoundTrips = "base",
    floor: float = 0.0,
) -> Optimum:
    """The optimal allocation over `network`; controllers do not matter.

    `rtt` ("base", seconds for every path, or seconds for the paths of each class, as
    `Equilibrium.rtts_s` has them) sets the probing floors, `floor` segments per RTT on every path,
    and the weights of the "tcp" utility, which takes the least RTT of a class.

    Raises TheoryError when the floors alone overfill a link or a class has a path without a link
    of finite rate; ValueError for arguments out of range.
    """
    utility = chosen("utility", utility, UTILITIES)
    rtts_s = _rtts_s(network, rtt)
    if not floor >= 0.0:
        raise ValueError(f"the floor is {floor} segments; it cannot be negative")
    floors = floor * network.packet_bits / rtts_s / MEGA
    _check(network, floors)
    program = _Program(network, utility, rtts_s, floors)
    rates, prices = program.solve()
    loads = network.incidence @ (network.counts * rates)
    parts = dict(zip((c.name for c in network.classes), network.slices, strict=True))
    names = [link.name for link in network.links]
    return Optimum(
        class_rates_bps={name: float(rates[part].sum()) * MEGA for name, part in parts.items()},
        rates_bps={name: rates[part] * MEGA for name, part in parts.items()},
        link_prices=dict(zip(names, prices.tolist(), strict=True)),
        link_loads_bps=dict(zip(names, (loads * MEGA).tolist(), strict=True)),
        utility=utility,
        floors_bps={name: floors[part] * MEGA for name, part in parts.items()},
    )


def max_throughput_bps(network: Network) -> float:
    """The most that all users together can carry, bit/s: the cut-set bound, as a linear program.

    Raises TheoryError when a class has a path without a link of finite rate.
    """
    from scipy.optimize import linprog

    used, capacity = constraints(network)
    found = linprog(-network.counts, A_ub=used, b_ub=capacity, method="highs")
    return -float(found.fun or 0.0) * MEGA


def pareto_check(
    network: Network, class_rates_bps: dict[str, float], tolerance: float = 1e-6
) -> ParetoCheck:
    """Whether some class could get more than `tolerance` (relative) more, at no cost to another.

    `class_rates_bps` are rates per user, as in `Equilibrium` and `Optimum`. The answer concerns
    rates only: an allocation on the boundary can still be congested or unfair. Simulated means
    deserve a tolerance of 0.02. Raises TheoryError when the rates do not fit the network.
    """
    from scipy.optimize import linprog

    used, capacity = constraints(network)
    sums = class_sums(network)
    given = network.by_class(class_rates_bps)
    rates = np.array([given[c.name] for c in network.classes]) / MEGA
    least = rates * fitting(network, rates, 0.1 * tolerance)
    best, who = 0.0, network.classes[0].name
    for index, user_class in enumerate(network.classes):
        found = linprog(
            -sums[index],
            A_ub=np.vstack([used, -sums]),
            b_ub=np.concatenate([capacity, -least]),
            method="highs",
        )
        if found.status != 0:
            raise TheoryError(f"the rates do not fit network {network.name!r}: {found.message}")
        gain = -float(found.fun or 0.0) / max(rates[index], 1e-12) - 1.0
        if gain > best:
            best, who = float(gain), user_class.name
    return ParetoCheck(best <= tolerance, best, who)


def fitting(network: Network, rates: Floats, tolerance: float) -> float:
    """The largest factor, at most 1, by which the network carries the classes' `rates` (C,) in
    Mb/s.

    Rates from a solver may overfill a link by its tolerance. No more than that is taken off,
    because a small part of a rich class's rate is much for a poor one. Raises TheoryError when it
    is more than `tolerance` below 1.
    """
    from scipy.optimize import linprog

    used, capacity = constraints(network)
    sums = class_sums(network)
    found = linprog(
        np.concatenate([np.zeros(sums.shape[1]), [-1.0]]),
        A_ub=np.vstack(
            [
                np.hstack([used, np.zeros((len(used), 1))]),
                np.hstack([-sums, rates[:, None]]),
            ]
        ),
        b_ub=np.concatenate([capacity, np.zeros(len(rates))]),
        bounds=[(0.0, None)] * sums.shape[1] + [(0.0, 1.0)],
        method="highs",
    )
    factor = float(found.x[-1]) if found.status == 0 else 0.0
    if factor < 1.0 - tolerance:
        raise TheoryError(
            f"the rates do not fit network {network.name!r}: it carries {factor:.6g} times them"
        )
    return factor


class _Program:
    """The convex program in Mb/s, with its utility scaled to the network."""

    def __init__(self, network: Network, utility: str, rtts_s: Floats, floors: Floats) -> None:
        self.network = network
        self.floors = floors
        self.used, self.capacity = constraints(network)
        self.sums = class_sums(network)
        self.users = np.array([float(c.count) for c in network.classes])
        self.tcp = utility == "tcp"
        # -2 / (rtt² y) with y in segments/s is -weight / y in Mb/s.
        least_rtt = np.array([rtts_s[part].min() for part in network.slices])
        bits = np.array([8.0 * c.packet_bytes / MEGA for c in network.classes])
        self.weights = 2.0 * (bits / least_rtt) ** 2 if self.tcp else np.ones(len(self.users))
        # Rates near 1 and slopes near 1 keep the solver's absolute tolerances meaningful.
        self.unit = float(np.median(self.capacity) / self.users.sum())
        self.scale = float(self.weights.mean()) / self.unit if self.tcp else 1.0

    def solve(self) -> tuple[Floats, Floats]:
        """Path rates (P,) in Mb/s per user and prices (L,) as `Optimum` documents them."""
        cp = cvxpy()

        x = cp.Variable(len(self.floors))
        limits = [self.used @ x <= self.capacity / self.unit]
        lowest = [x >= self.floors / self.unit]
        run_program(cp.Problem(cp.Maximize(self._utility(x)), limits + lowest))
        prices = np.maximum(np.asarray(limits[0].dual_value), 0.0)
        rates = self._settle(np.asarray(x.value))
        everywhere = np.zeros(len(self.network.links))
        everywhere[finite_links(self.network)] = self._complementary(rates, prices)
        return rates * self.unit, everywhere * self._price_unit()

    def _complementary(self, x: Floats, prices: Floats) -> Floats:
        """(K,) prices, zero on links that are not full.

        At the optimum a link has room or a price. The interior-point method leaves a little of the
        smaller one: room as a part of the capacity, price as a part of the cost of all capacity.
        """
        room = 1.0 - (self.used @ x) / (self.capacity / self.unit)
        cost = prices * self.capacity
        return np.where(room > cost / cost.sum(), 0.0, prices)

    def _utility(self, x: Any) -> Any:
        cp = cvxpy()

        y = self.sums @ x
        if self.tcp:
            each = -cp.multiply(self.weights / (self.scale * self.unit), cp.inv_pos(y))
        else:
            each = cp.log(y)
        return self.users @ each / self.users.sum()

    def _price_unit(self) -> float:
        """Undoes the scaling of rates and utility: the price per Mb/s, or per bit/s for "log"."""
        per_mbps = self.scale * self.users.sum() / self.unit
        return float(per_mbps if self.tcp else per_mbps / MEGA)

    def _settle(self, x: Floats) -> Floats:
        """Newton steps from the interior-point solution to the corner it is near.

        Where a path gains nothing to first order (AP2 in scenario C with equal capacities) the
        utility is so flat that an interior-point method ends 1e-5 away. Each step maximises the
        utility's second-order expansion, less `LINK_COST` of a class's marginal utility for each
        link crossed and `SPREAD_COST` of its curvature times squared path rates, by active sets.
        """
        lowest = self.floors / self.unit
        crossed = (self.used > 0.0).sum(axis=0)
        limits = np.vstack([-self.used, np.eye(len(x))])
        bounds = np.concatenate([-self.capacity / self.unit, lowest])
        for _ in range(3):
            y = self.sums @ np.maximum(x, lowest)
            slope = self.weights / (self.scale * self.unit) / y**2 if self.tcp else 1.0 / y
            # The peak of the expansion: U' / |U''| is y for log y and y/2 for -1/y.
            target = 1.5 * y if self.tcp else 2.0 * y
            bend = np.sqrt(self.users / self.users.sum() * slope / (target - y))
            path_bend = bend @ self.sums
            push = (bend**2 * (target - y)) @ self.sums * LINK_COST * crossed
            spread = np.sqrt(SPREAD_COST) * path_bend
            matrix = np.vstack([bend[:, None] * self.sums, np.diag(spread)])
            vector = np.concatenate([bend * target, -push / spread])
            x = _least_squares_within(matrix, vector, limits, bounds)
        return self._fit(np.maximum(x, lowest))

    def _fit(self, x: Floats) -> Floats:
        """Rates above the floors, reduced by the rounding error that overfills a link."""
        lowest = self.floors / self.unit
        room = self.capacity / self.unit - self.used @ lowest
        above = self.used @ (x - lowest)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.nanmin(np.where(above > 0.0, room / above, 1.0), initial=1.0)
        fitted: Floats = lowest + factor * (x - lowest)
        return fitted


def _least_squares_within(matrix: Floats, vector: Floats, limits: Floats, bounds: Floats) -> Floats:
    """Minimise |matrix x - vector| subject to limits x >= bounds, by active sets.

    Lawson & Hanson, "Solving Least Squares Problems", chapter 23: a problem of least distance,
    whose dual is one of non-negative least squares.
    """
    from scipy.optimize import nnls

    q, r = np.linalg.qr(matrix)
    free = np.linalg.solve(r, q.T @ vector)
    sides = np.linalg.solve(r.T, limits.T)
    sizes = np.linalg.norm(sides, axis=0)
    sides, distance = sides / sizes, (bounds - limits @ free) / sizes
    stacked = np.vstack([sides, distance])
    goal = np.zeros(len(stacked))
    goal[-1] = 1.0
    multipliers = nnls(stacked, goal)[0]
    if abs(stacked[-1] @ multipliers - 1.0) < 1e-12:
        raise TheoryError("the optimum's constraints leave no room")
    return _least_squares_on(matrix, vector, limits[multipliers > 0.0], bounds[multipliers > 0.0])


def _least_squares_on(matrix: Floats, vector: Floats, limits: Floats, bounds: Floats) -> Floats:
    """Minimise |matrix x - vector| where limits x = bounds, by their null space: they hold to
    rounding errors however flat the objective is."""
    _, sizes, rows = np.linalg.svd(limits)
    free = rows[np.count_nonzero(sizes > 1e-12 * sizes.max(initial=0.0)) :].T
    at = np.linalg.lstsq(limits, bounds, rcond=None)[0]
    found: Floats = at + free @ np.linalg.lstsq(matrix @ free, vector - matrix @ at, rcond=None)[0]
    return found


def cvxpy() -> Any:
    """CVXPY, imported when it is needed and untyped."""
    import cvxpy

    return cvxpy


def run_program(problem: Any) -> None:
    """Solves a CVXPY problem to ten digits where it can. Raises TheoryError when it is not
    solved.
    """
    cp = cvxpy()

    try:
        with warnings.catch_warnings():
            # "May be inaccurate": short of these tolerances, but `_settle` goes on from there.
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    except cp.error.SolverError as failure:
        raise TheoryError(f"the convex program was not solved: {failure}") from failure
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise TheoryError(f"the convex program ended as {problem.status}")


def finite_links(network: Network) -> NDArray[np.bool_]:
    """(L,) which links have a finite rate and a path that crosses them."""
    used = np.asarray(network.incidence.any(axis=1))
    return np.isfinite(network.capacities_bps) & used


def constraints(network: Network) -> tuple[Floats, Floats]:
    """(K, P) users on each finite link by path, and (K,) capacities in Mb/s.

    Raises TheoryError when a class has a path without a link of finite rate.
    """
    _check(network, np.zeros(len(network.counts)))
    finite = finite_links(network)
    return network.incidence[finite] * network.counts, network.capacities_bps[finite] / MEGA


def class_sums(network: Network) -> Floats:
    """Incidence of classes and paths, shape (C, P): 1 for a path of the class."""
    sums = np.zeros((len(network.classes), len(network.counts)))
    for row, part in enumerate(network.slices):
        sums[row, part] = 1.0
    return sums


def _rtts_s(network: Network, rtt: RoundTrips) -> Floats:
    """(P,) seconds."""
    if isinstance(rtt, str):
        if find(rtt, ["base"]) is None:
            raise ValueError(f"rtt is 'base', positive seconds, or seconds by class, not {rtt!r}")
        return network.base_rtts_s
    if isinstance(rtt, Mapping):
        rtt = network.by_class(rtt)
    else:
        rtt = {c.name: [float(rtt)] * len(c.paths) for c in network.classes}
    for c in network.classes:
        given = list(rtt.get(c.name, ()))
        if len(given) != len(c.paths) or not all(seconds > 0.0 for seconds in given):
            raise ValueError(
                f"rtt of class {c.name!r} is {given}; it is one positive number of seconds for each "
                f"of its {len(c.paths)} paths"
            )
    return np.concatenate([np.asarray(rtt[c.name], dtype=float) for c in network.classes])


def _check(network: Network, floors: Floats) -> None:
    """Every path needs a link of finite rate, and the floors (Mb/s) have to fit."""
    limited = np.asarray(network.incidence[finite_links(network)].any(axis=0))
    for c, part in zip(network.classes, network.slices, strict=True):
        for path in np.flatnonzero(~limited[part])[:1]:
            raise TheoryError(f"class {c.name!r}, path {path}: no link of finite rate limits it")
    loads = network.incidence @ (network.counts * floors)
    for link, load in zip(network.links, loads, strict=True):
        if load * MEGA > link.capacity_bps:
            raise TheoryError(
                f"link {link.name!r} carries {link.capacity_bps / MEGA:g} Mb/s, but the probing "
                f"floors alone offer it {load:g} Mb/s"
            )
