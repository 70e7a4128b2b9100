"""Coded paths: how network coding hides congestion, and what a coded path costs the network.

After K. Xue, J. Han, H. Zhang, K. Chen and P. Hong, "Migrating Unfairness Among Subflows in MPTCP
With Network Coding for Wired-Wireless Networks" (IEEE TVT 2017), sections II-A, III and IV-C;
equation numbers are the paper's. Where its equations do not hold, `docs/explanation/coded-paths.md`
says so, and:

* the rate of a flow is its goodput, `y = sum of x` (13), not `sum of x r` (Table II);
* a path loads a link with `x r w` as (7) has it (`load="paper"`), or with the packets that it
  sends, `x r` (`load="packets"`): w packets are combined in a coded one, but a coded one is sent
  once;
* the last term of the Lagrangian is `+ sum of lambda c`, as in (9), not `-` as in (8).

The design goals (1) and (2) are predicates over rates of any world:
`anabranch.fairness.design_goals` and `do_no_harm`.

    >>> hidden_loss(0.01, W=6, R=1.05, p_max=0.2)    # the sender sees 0.7 % instead of 1 %
    >>> coded = CodedFlow("m", (CodedPath((0,)), CodedPath((1,), r=1.05, w=6)))
    >>> network = CodedNetwork((1.0, 1.0), (coded, CodedFlow("tcp", (CodedPath((1,)),))))
    >>> best = solve(network)                        # (7), by a convex program
    >>> solve_dual(network)                          # (10) and (11), by prices
    >>> ignorant(network)                            # who equalises q instead of k = q r w
    >>> congestion_equality(path_prices(network, best.link_prices).k, best.rates)    # (12)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..offers import chosen
from .closed_forms import lia_cap_binds, lia_windows
from .equilibrium import equilibrium
from .network import Floats, single_user
from .optimum import cvxpy, run_program

LOADS = ("paper", "packets")
UTILITIES = ("log", "inverse")

SOLVED = 1e-6
"""Residual up to which the answer of a convex program counts as converged."""

# Coding hides congestion: equations (4) to (6), Table II, section IV-C.


def detection_spacing(W: ArrayLike, R: ArrayLike, p_max: ArrayLike) -> Floats:
    """`D = W R / (1 - R (1 - p_max))`, packets sent until congestion is noticed (5).

    `W` segments of coding window, at least 1; `R` packets sent per segment, at least 1; `p_max` in
    [0, 1) the loss while a queue is congested. Arrays broadcast; numbers give a number.

    Why: a segment needs one packet that arrives, and `R (1 - p_max)` do. So the receiver's deficit
    grows by `1 - R (1 - p_max)` with each segment. At a deficit of W the window is exhausted, the
    oldest segment is lost, and the sender learns of a loss: after `W / (1 - R (1 - p_max))`
    segments of R packets.

    This is the exact mean for a random deficit if surplus packets are credited against later
    losses. In fact a receiver without a deficit discards them: see
    `detection_spacing_without_credit`.

    Raises ValueError for arguments out of range, and where `R (1 - p_max)` is 1 or more: then the
    redundancy covers the loss at its peak, no deficit builds up, and the formula has no meaning.
    """
    W, R, p_max = _coding(W, R, p_max)
    growth = 1.0 - R * (1.0 - p_max)
    covered = ~(growth > 0.0)
    if covered.any():
        worst, peak = (float(a[covered].ravel()[0]) for a in np.broadcast_arrays(R, p_max))
        raise ValueError(
            f"a redundancy of {worst:g} covers a peak loss of {peak:g}: no congestion loss is sensed at all, "
            + (
                f"and D has a meaning only for R below 1/(1 - p_max) = {1.0 / (1.0 - peak):g}"
                if peak > 0.0
                else "since nothing is lost"
            )
        )
    found: Floats = W * R / growth
    return found[()]


def hidden_loss(p_c: ArrayLike, W: ArrayLike, R: ArrayLike, p_max: ArrayLike) -> Floats:
    """`p_nc`, the loss that the sender senses where congestion loses `p_c`: `1/p_nc = 1/p_c + D`
    (4), (6).

    Packets between losses that are sensed: those up to the loss that begins a spell of congestion,
    `1/p_c`, and those until the spell is noticed, `detection_spacing`. So `p_c`, in (0, 1), is
    spells per packet rather than the part of packets that is lost. The first loss is counted twice,
    in `1/p_c` and in the deficit: at W = R = 1, without any coding, p_nc is `p_c p_max / (p_c +
    p_max)` instead of p_c.

    Arrays broadcast. Raises ValueError as `detection_spacing` does, and for `p_c` out of range.
    """
    p = np.asarray(p_c, dtype=np.float64)
    if not ((p > 0.0) & (p < 1.0)).all():
        raise ValueError(f"the congestion loss p_c is {p.tolist()}; it is above 0 and below 1")
    found: Floats = 1.0 / (1.0 / p + detection_spacing(W, R, p_max))
    return found


def detection_spacing_without_credit(W: int, R: float, p_max: float) -> float:
    """Mean packets until the deficit of a receiver is W when it cannot fall below 0; ours, not the
    paper's.

    A segment adds 1 to the deficit and is sent in floor(R) packets, or one more with the
    probability that makes R the mean; each that arrives, with probability `1 - p_max`, takes 1 away
    from a deficit above 0. This is at most `detection_spacing`, nears it where losses are many, and
    is finite where that has no meaning: chance alone makes W losses in a row of segments, if
    rarely. `inf` at `p_max` = 0.

    W is a whole number. Raises ValueError for arguments out of range.
    """
    _coding(W, R, p_max)
    if int(W) != W:
        raise ValueError(f"the coding window is {W} segments; here it is a whole number")
    if p_max == 0.0:
        return float("inf")
    arrivals = _arrivals(R, p_max)
    # climb[d]: mean segments from a deficit of d to one of d + 1, to which it rises by single
    # steps.
    climb: list[float] = []
    for d in range(int(W)):
        back = sum(chance * sum(climb[max(0, d + 1 - k) :]) for k, chance in arrivals[2:])
        climb.append((1.0 + back) / arrivals[0][1])
    return R * sum(climb)


def redundancy_bound(p: ArrayLike) -> Floats:
    """`1/(1 - p)`, the least redundancy that covers a link's loss p in [0, 1) (Table II).

    The same expression bounds R from above in `detection_spacing`, where p is the loss of a
    congested queue.
    """
    loss = np.asarray(p, dtype=np.float64)
    if not ((loss >= 0.0) & (loss < 1.0)).all():
        raise ValueError(f"the link's loss is {loss.tolist()}; it is at least 0 and below 1")
    found: Floats = 1.0 / (1.0 - loss)
    return found[()]


def redundant_cycle(r: ArrayLike) -> Floats:
    """`r/(r - 1)`, packets from one redundant packet to the next (section IV-C); r above 1, else
    ValueError.
    """
    redundancy = np.asarray(r, dtype=np.float64)
    if not ((redundancy > 1.0) & np.isfinite(redundancy)).all():
        raise ValueError(
            f"the redundancy is {redundancy.tolist()}; without one above 1 there is no redundant packet"
        )
    found: Floats = redundancy / (redundancy - 1.0)
    return found[()]


# AIMD balance: equation (3).


def aimd_windows(losses: ArrayLike, rtts_s: ArrayLike) -> Floats:
    """(n,) windows in segments at which RTT Compensator (LIA) balances, (3) with its factor 1 - p.

    That factor makes a loss p count as `p/(1 - p)`. The windows are `closed_forms.lia_windows` of
    that, or where LIA's cap binds those of `equilibrium`. Feed it `hidden_loss` to see what a
    sender of coded paths does. Raises ValueError for losses that are not in (0, 1/2].
    """
    p, rtt = np.asarray(losses, dtype=np.float64), np.asarray(rtts_s, dtype=np.float64)
    if not ((p > 0.0) & (p <= 0.5)).all():
        raise ValueError(f"losses {p.tolist()} are not all above 0 and at most 1/2")
    odds = p / (1.0 - p)
    if lia_cap_binds(odds, rtt):
        return equilibrium(single_user("lia", odds, rtt)).windows["user"]
    return lia_windows(odds, rtt)


def aimd_residual(windows: ArrayLike, losses: ArrayLike, rtts_s: ArrayLike) -> Floats:
    """(n,) left side less right side of (3), segments per packet sent; the windows are above 0.

    `a` is what (1), (2) and (3) make of it and RFC 6356 calls alpha, `w_tot max(w/rtt²) / (sum of
    w/rtt)²`.
    """
    w, p = np.asarray(windows, dtype=np.float64), np.asarray(losses, dtype=np.float64)
    rtt = np.asarray(rtts_s, dtype=np.float64)
    a = w.sum() * (w / rtt**2).max() / (w / rtt).sum() ** 2
    left_over: Floats = (1.0 - p) * np.minimum(a / w.sum(), 1.0 / w) - p * w / 2.0
    return left_over


# Concavity: equation (13).


def sensed_price(p_c: ArrayLike, rtt_s: ArrayLike) -> Floats:
    """`k = sqrt(p_c/2) rtt`, whose inverse is the rate of a TCP in segments/s (13).

    The paper prints `sqrt(p_c)/2 rtt`; then y would not be the sum of 1/k.
    """
    k: Floats = np.sqrt(np.asarray(p_c, dtype=np.float64) / 2.0) * np.asarray(rtt_s)
    return k


def utility_of_equal_paths(y: ArrayLike, n: int) -> Floats:
    """`U(y) = n log y`, the utility whose slope `n/y` is the price of n equally dear paths (13).

    It is concave. It also gives a flow of n paths the weight of n flows: on one bottleneck that is
    n shares.
    """
    utility: Floats = n * np.log(np.asarray(y, dtype=np.float64))
    return utility


# Prices of coded paths: equations (7) to (12).


@dataclass(frozen=True, slots=True)
class CodedPath:
    """Links crossed (indices into `CodedNetwork.capacities`), redundancy `r` >= 1, coding window
    `w` >= 1.

    A path without coding has r = w = 1.
    """

    links: tuple[int, ...]
    r: float = 1.0
    w: float = 1.0

    def factor(self, load: str) -> float:
        """Load of a unit of goodput on each link: `r w` under "paper" (7), `r` under "packets"."""
        return self.r * self.w if chosen("load", load, LOADS) == "paper" else self.r


@dataclass(frozen=True, slots=True)
class CodedFlow:
    """A flow with utility `weight log y` ("log") or `-weight / y` ("inverse") of its goodput y.

    TCP's utility is "inverse" with a weight of `2 / rtt²` where y is in segments/s. Raises
    ValueError for an unknown utility.
    """

    name: str
    paths: tuple[CodedPath, ...]
    utility: str = "log"
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Finds the utility however it is written. Raises ValueError for an unknown one."""
        utility = chosen(f"flow {self.name!r}: utility", self.utility, UTILITIES)
        object.__setattr__(self, "utility", utility)


@dataclass(frozen=True)
class CodedNetwork:
    """Links of given capacities (any unit of rate; goodputs have the same) and flows over them.

    Paths are numbered flow by flow: P paths over L links. Raises ValueError, naming the flow, for a
    path without a link or over a link that does not exist, and for factors below 1.
    """

    capacities: tuple[float, ...]
    flows: tuple[CodedFlow, ...]

    def __post_init__(self) -> None:
        _check_network(self)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The range of each flow in the P paths."""
        edges = np.cumsum([0, *(len(flow.paths) for flow in self.flows)])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(edges))

    @cached_property
    def incidence(self) -> Floats:
        """(L, P) a_lt: 1 where the path crosses the link, else 0."""
        paths = [path for flow in self.flows for path in flow.paths]
        crossing = np.zeros((len(self.capacities), len(paths)))
        for column, path in enumerate(paths):
            crossing[list(path.links), column] = 1.0
        return crossing

    def factors(self, load: str) -> Floats:
        """Load of a unit of goodput on each path's links, shape (P,)."""
        return np.array([path.factor(load) for flow in self.flows for path in flow.paths])

    def by_flow(self, values: Floats) -> dict[str, Floats]:
        """(P,) values as one array for each flow."""
        names = (flow.name for flow in self.flows)
        return {name: values[part] for name, part in zip(names, self.slices, strict=True)}


@dataclass(frozen=True)
class CodedAllocation:
    """Goodputs, in the unit of the capacities, and prices of links.

    `rates` are x_st by flow and path, `flow_rates` y_s, `link_prices` lambda_l and `link_loads`
    have shape (L,), `utility` is the sum over flows. `load` names the load model.

    `residual` is the largest relative violation of the optimality conditions: loads within
    capacities, prices only on full links, used paths at the marginal utility (12), unused ones not
    below it. Flow rates are unique, and so is a flow's least price; the split over equally dear
    paths need not be, nor prices of links that always fill together.
    """

    rates: dict[str, Floats]
    flow_rates: dict[str, float]
    link_prices: Floats
    link_loads: Floats
    utility: float
    load: str
    residual: float
    steps: int
    converged: bool


def solve(network: CodedNetwork, load: str = "paper") -> CodedAllocation:
    """Maximises the sum of utilities within the capacities (7), by a convex program; `steps` is 1.

    The prices are the program's multipliers, and Newton's steps on (12) take both to where rounding
    ends: utilities are flat at the optimum, so that the program alone knows rates to four digits
    only. Where the prices of flows differ by many orders of magnitude it can fail; then `converged`
    is False. Raises TheoryError when the program is not solved.
    """
    cp = cvxpy()
    problem = _Problem(network, load, aware=True)
    z = cp.Variable(len(problem.goodput), nonneg=True)
    y = problem.sums @ cp.multiply(problem.goodput, z)
    utilities = [
        cp.sum(-cp.multiply(problem.slopes[chosen], cp.inv_pos(y[chosen])))
        if kind
        else cp.sum(cp.multiply(problem.slopes[chosen], cp.log(y[chosen])))
        for kind in (False, True)
        for chosen in [np.flatnonzero(problem.inverse == kind)]
        if len(chosen)
    ]
    limits = [problem.incidence @ z <= problem.capacity]
    run_program(cp.Problem(cp.Maximize(cp.sum(cp.hstack(utilities))), limits))
    prices = np.maximum(np.asarray(limits[0].dual_value), 0.0)
    found, prices = problem.settled(np.maximum(np.asarray(z.value), 0.0), prices)
    return problem.allocation(found, prices, 1, SOLVED)


def solve_dual(
    network: CodedNetwork, load: str = "paper", tolerance: float = 1e-9, most_steps: int = 100_000
) -> CodedAllocation:
    """The same by dual decomposition: links set prices (10), flows answer with rates (11).

    With several paths the answer of (11) jumps, for all goes to the cheapest path, and prices alone
    never settle. So a flow also keeps near its rates of the step before, the proximal form of (11),
    which is the gradient step `x <- [x + step (U'(y) - k)]+` with y of the end of the step. A link
    sets `lambda <- [lambda + step (load - c)]+`, of the load that it extrapolates. This is the
    primal-dual method of Chambolle and Pock (2011) with steps per path and link (2011, "Diagonal
    preconditioning").

    It stops when `residual` is at most `tolerance`, looked at every 20 steps, or after
    `most_steps`; then `converged` is False.
    """
    return _by_prices(_Problem(network, load, aware=True), tolerance, most_steps)


def ignorant(
    network: CodedNetwork, load: str = "paper", tolerance: float = 1e-9, most_steps: int = 100_000
) -> CodedAllocation:
    """The rest point of flows that take q as the price of a path instead of `k = q r w` (after
    (12)).

    Paths that are used have the least q of their flow, and `U'(y) = q`; links are as in `solve`. No
    program has this solution once the paths of a flow have different factors, and it need not be
    the only one (paths over the same links may share in any way): it is where the steps of
    `solve_dual` lead from an even start, with q in place of k. `residual` is of these conditions.
    """
    return _by_prices(_Problem(network, load, aware=False), tolerance, most_steps)


def dual_value(network: CodedNetwork, link_prices: ArrayLike, load: str = "paper") -> float:
    """The dual function (9) to (11) at prices >= 0, shape (L,): an upper bound of every feasible
    utility.

    `sum of L_s(lambda) + sum of lambda c`: with the last sign of (8) it would bound nothing. It is
    `inf` where a flow with the utility "log" has a path that costs nothing.
    """
    prices = np.asarray(link_prices, dtype=np.float64)
    total = float(prices @ np.asarray(network.capacities))
    for flow, k in zip(network.flows, path_prices(network, prices, load).k.values(), strict=True):
        least = float(k.min())
        if flow.utility == "inverse":
            total -= 2.0 * float(np.sqrt(flow.weight * least))
        elif least > 0.0:
            total += flow.weight * (float(np.log(flow.weight / least)) - 1.0)
        else:
            return float("inf")
    return total


@dataclass(frozen=True)
class PathPrices:
    """By flow, one entry for each path: `q` is the price that a sender senses, `k` the cost of its
    goodput to the network.
    """

    q: dict[str, Floats]
    k: dict[str, Floats]


def path_prices(network: CodedNetwork, link_prices: ArrayLike, load: str = "paper") -> PathPrices:
    """`q_st`, the sum of a path's link prices, and `k_st = q r w` (`q r` under "packets"), from
    (L,) prices.
    """
    prices = np.asarray(link_prices, dtype=np.float64)
    if prices.shape != (len(network.capacities),) or not (prices >= 0.0).all():
        raise ValueError(
            f"the prices {prices.tolist()} are not one of at least 0 for each of "
            f"{len(network.capacities)} links"
        )
    q = prices @ network.incidence
    return PathPrices(network.by_flow(q), network.by_flow(q * network.factors(load)))


@dataclass(frozen=True, slots=True)
class FlowEquality:
    """One flow: the least of its prices, which paths it uses, and how much dearer the dearest of
    them is.

    `excess` is relative to `least`: 0.3 is 30 % dearer.
    """

    least: float
    used: tuple[int, ...]
    excess: float
    holds: bool


@dataclass(frozen=True)
class CongestionEquality:
    """Whether (12) holds for all flows, by flow, and where it is violated most."""

    holds: bool
    flows: dict[str, FlowEquality]
    worst: float
    worst_flow: str


def congestion_equality(
    prices: Mapping[str, ArrayLike],
    rates: Mapping[str, Sequence[float] | Floats],
    tolerance: float = 1e-5,
    unused: float = 1e-5,
) -> CongestionEquality:
    """The Congestion Equality Principle (12): used paths have the least price, dearer ones are
    unused.

    `prices` and `rates` have one entry for each path of each flow, from any world and in any unit:
    losses and measured rates will do, with a `tolerance` that fits their accuracy. A price may
    exceed the flow's least one by `tolerance` (relative), and a path counts as unused up to the
    part `unused` of the flow's rate. An unused cheapest path is not a violation: (12) says that it
    is used, but optimality does not require it.

    Raises ValueError when flows or paths differ, and for negative or absent numbers, or a flow
    without rate.
    """
    if set(prices) != set(rates) or not prices:
        raise ValueError(
            f"prices are of flows {sorted(prices)}, rates of {sorted(rates)}; both need the same, and one at least"
        )
    flows = {
        name: _equality(
            name, np.asarray(prices[name], float), np.asarray(rates[name], float), unused
        )
        for name in prices
    }
    judged = {
        name: FlowEquality(least, used, excess, excess <= tolerance)
        for name, (least, used, excess) in flows.items()
    }
    worst = max(judged, key=lambda name: judged[name].excess)
    return CongestionEquality(
        all(flow.holds for flow in judged.values()), judged, judged[worst].excess, worst
    )


class _Problem:
    """(7) in packets on the wire z = x r w (or x r), of a size near 1: then links are loaded by 0
    and 1 alone.

    `goodput` (P,) is goodput per unit of z, `gain` (P,) what a flow takes it for: 1 if it ignores
    coding.
    """

    def __init__(self, network: CodedNetwork, load: str, aware: bool) -> None:
        self.network, self.load = network, chosen("load", load, LOADS)
        self.factors = network.factors(load)
        self.goodput = 1.0 / self.factors
        self.gain = self.goodput if aware else np.ones(len(self.factors))
        self.incidence = network.incidence
        self.owner: NDArray[np.int_] = np.repeat(
            np.arange(len(network.flows)), [len(flow.paths) for flow in network.flows]
        )
        self.sums = (self.owner == np.arange(len(network.flows))[:, None]).astype(np.float64)
        capacities = np.array(network.capacities)
        self.unit = float(np.median(capacities)) / len(network.flows)
        self.capacity = capacities / self.unit
        weights = np.array([flow.weight for flow in network.flows])
        self.inverse = np.array([flow.utility == "inverse" for flow in network.flows])
        slopes = np.where(self.inverse, weights / self.unit, weights)
        self.scale = float(slopes.mean())
        self.slopes = slopes / self.scale

    def marginal(self, y: Floats) -> Floats:
        """(S,) U'(y)."""
        slope: Floats = np.where(self.inverse, self.slopes / y**2, self.slopes / y)
        return slope

    def bend(self, y: Floats) -> Floats:
        """(S,) -U''(y)."""
        return self.marginal(y) * np.where(self.inverse, 2.0, 1.0) / y

    def answer(self, wanted: Floats, step: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The proximal (11): z = [wanted + step gain U'(y)]+ with y its own goodput, from a guess
        of y > 0.

        What y exceeds its sum by is concave and rises, so that Newton's steps from below stay below
        and end at the root; one from above lands below, or is halved.
        """
        step = step * self.gain
        for _ in range(200):
            z = np.maximum(wanted + step * self.marginal(y)[self.owner], 0.0)
            over = y - self.sums @ (self.goodput * z)
            slope = 1.0 + self.bend(y) * (self.sums @ (self.goodput * step * (z > 0.0)))
            new = y - over / slope
            new = np.where(new > 0.0, new, y / 2.0)
            done = np.abs(new - y) <= 1e-14 * y
            y = new
            if done.all():
                break
        return np.maximum(wanted + step * self.marginal(y)[self.owner], 0.0), y

    def residual(self, z: Floats, prices: Floats) -> float:
        """The residual as `CodedAllocation` defines it."""
        y = np.maximum(self.sums @ (self.goodput * z), 1e-300)
        load = self.incidence @ z
        relative = (prices @ self.incidence) / (self.gain * self.marginal(y)[self.owner])
        share = self.goodput * z / y[self.owner]
        slack = prices * np.abs(self.capacity - load) / max(float(prices @ self.capacity), 1e-300)
        worst = (
            (load / self.capacity - 1.0).max(),
            (1.0 - relative).max(),
            (share * np.abs(relative - 1.0)).max(),
            slack.max(),
        )
        return max(0.0, *map(float, worst))

    def settled(self, z: Floats, prices: Floats) -> tuple[Floats, Floats]:
        """From an interior point to the corner it is near: Newton's steps on (12), links full and
        paths used as that point has them, and the shortest steps where splits or prices are free."""
        best = self.residual(z, prices)
        for _ in range(6):
            if not best < 0.1:
                break  # The program has not answered.
            y = self.sums @ (self.goodput * z)
            up = self.marginal(y)[self.owner] * self.goodput
            dear = (prices @ self.incidence) / up - 1.0
            used = np.flatnonzero(self.goodput * z / y[self.owner] > dear)
            room = 1.0 - self.incidence @ z / self.capacity
            full = np.flatnonzero(prices * self.capacity / (prices @ self.capacity) > room)
            crossing = self.incidence[np.ix_(full, used)]
            own = self.goodput[used] * self.sums[:, used]
            curve = own.T @ (self.bend(y)[:, None] * own)
            jacobian = np.block([[curve, crossing.T], [crossing, np.zeros((len(full), len(full)))]])
            wrong = np.concatenate(
                [
                    (up - prices[full] @ self.incidence[full])[used],
                    self.capacity[full] - crossing @ z[used],
                ]
            )
            step = np.linalg.lstsq(jacobian, wrong, rcond=1e-12)[0]
            new, dual = np.zeros_like(z), np.zeros_like(prices)
            new[used] = np.maximum(z[used] + step[: len(used)], 0.0)
            dual[full] = np.maximum(prices[full] + step[len(used) :], 0.0)
            if not self.residual(new, dual) < best:
                break
            z, prices, best = new, dual, self.residual(new, dual)
        return z, prices

    def allocation(
        self, z: Floats, prices: Floats, steps: int, tolerance: float
    ) -> CodedAllocation:
        """The solution in the network's own units."""
        network = self.network
        rates = network.by_flow(self.goodput * z * self.unit)
        flow_rates = {name: float(x.sum()) for name, x in rates.items()}
        residual = self.residual(z, prices)
        return CodedAllocation(
            rates=rates,
            flow_rates=flow_rates,
            link_prices=prices * self.scale / self.unit,
            link_loads=self.incidence @ z * self.unit,
            utility=sum(_utility(flow, flow_rates[flow.name]) for flow in network.flows),
            load=self.load,
            residual=residual,
            steps=steps,
            converged=residual <= tolerance,
        )


def _by_prices(problem: _Problem, tolerance: float, most_steps: int) -> CodedAllocation:
    """The primal-dual steps of `solve_dual` and `ignorant`.

    `balance` is the step of rates over that of prices. Any value converges. A good one is the
    distance that rates moved over the distance that prices moved; it is updated every 200 steps.
    """
    crossed = problem.incidence.sum(axis=0)
    users = np.maximum(problem.incidence.sum(axis=1), 1.0)
    z = np.full(len(crossed), problem.capacity.min() / len(crossed))
    prices = np.zeros(len(users))
    y = problem.sums @ (problem.goodput * z)
    balance, before = 1.0, (z, prices)
    step = 0
    while step < most_steps:
        step += 1
        pace = balance / crossed
        new, y = problem.answer(z - pace * (prices @ problem.incidence), pace, y)
        ahead = problem.incidence @ (2.0 * new - z)
        prices = np.maximum(prices + (ahead - problem.capacity) / (balance * users), 0.0)
        z = new
        if step % 20 == 0 and problem.residual(z, prices) <= tolerance:
            break
        if step % 200 == 0:
            moved = [float(np.linalg.norm(a - b)) for a, b in zip((z, prices), before, strict=True)]
            if min(moved) > 1e-12:
                balance = float(np.sqrt(balance * moved[0] / moved[1]))
            before = (z, prices)
    return problem.allocation(z, prices, step, tolerance)


def _utility(flow: CodedFlow, y: float) -> float:
    if y <= 0.0:
        return -float("inf")
    return flow.weight * float(np.log(y)) if flow.utility == "log" else -flow.weight / y


def _equality(
    name: str, prices: Floats, rates: Floats, unused: float
) -> tuple[float, tuple[int, ...], float]:
    """The least price, the paths in use, and by how much of the least price the dearest of them
    exceeds it.
    """
    if prices.ndim != 1 or prices.shape != rates.shape:
        raise ValueError(
            f"flow {name!r} has {prices.size} prices for {rates.size} rates; it has one of each for a path"
        )
    if not ((prices >= 0.0) & (rates >= 0.0)).all() or not rates.sum() > 0.0:
        raise ValueError(
            f"flow {name!r}: prices {prices.tolist()} and rates {rates.tolist()} are at least 0, "
            "and the flow carries something"
        )
    used = np.flatnonzero(rates > unused * rates.sum())
    least, dearest = float(prices.min()), float(prices[used].max())
    if dearest <= least:
        return least, tuple(used.tolist()), 0.0
    return least, tuple(used.tolist()), dearest / least - 1.0 if least > 0.0 else float("inf")


def _arrivals(R: float, p: float) -> list[tuple[int, float]]:
    """(k, probability that k packets of a segment arrive) for all k from 0 on, at least up to 1."""
    whole = int(np.floor(R))
    chances = np.zeros(whole + 2)
    for sent, likely in ((whole, 1.0 - (R - whole)), (whole + 1, R - whole)):
        one = np.array([1.0])
        for _ in range(sent):
            one = np.convolve(one, [p, 1.0 - p])
        chances[: sent + 1] += likely * one
    return list(enumerate(chances.tolist()))


def _coding(W: ArrayLike, R: ArrayLike, p_max: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """The three arguments as arrays. Raises ValueError for a value out of range."""
    window, redundancy, peak = (np.asarray(v, dtype=np.float64) for v in (W, R, p_max))
    for name, value in (
        ("the coding window W", window),
        ("the redundancy R", redundancy),
    ):
        if not ((value >= 1.0) & np.isfinite(value)).all():
            raise ValueError(f"{name} is {value.tolist()}; it is at least 1")
    if not ((peak >= 0.0) & (peak < 1.0)).all():
        raise ValueError(f"the peak loss p_max is {peak.tolist()}; it is at least 0 and below 1")
    return window, redundancy, peak


def _check_network(network: CodedNetwork) -> None:
    if not network.flows or len({flow.name for flow in network.flows}) < len(network.flows):
        raise ValueError("a network has flows, each with a name of its own")
    if not all(0.0 < capacity < float("inf") for capacity in network.capacities):
        raise ValueError(f"capacities {list(network.capacities)} are not all above 0 and finite")
    for flow in network.flows:
        who = f"flow {flow.name!r}"
        if not 0.0 < flow.weight < float("inf"):
            raise ValueError(f"{who}: its weight is {flow.weight}; it is above 0")
        if not flow.paths:
            raise ValueError(f"{who} has no path")
        for path in flow.paths:
            known = all(0 <= link < len(network.capacities) for link in path.links)
            if not path.links or not known or len(set(path.links)) < len(path.links):
                raise ValueError(
                    f"{who}: a path crosses links {list(path.links)}; it crosses one at least of the "
                    f"{len(network.capacities)}, none twice"
                )
            if not (1.0 <= path.r < float("inf") and 1.0 <= path.w < float("inf")):
                raise ValueError(
                    f"{who}: redundancy {path.r} and coding window {path.w}; both are at least 1"
                )
