"""Fixed points of any network, from the drift of the laws that ship.

Each link is full or its loss is zero; each window is at its floor or balanced; losses add along a
path (draft-khalili-mptcp-performance-issues-04, sections 4 to 6; Wischik et al., NSDI 2011). The
laws are never copied here: they are asked, through `anabranch._core.drift`, at trial states.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..offers import find, offer
from .balance import check_law, is_set_valued
from .complementarity import Problem, State
from .errors import TheoryError
from .motion import Motion, motion
from .network import Floats, Network
from .solver import Solution, alike, between, others, solve

MESH = 0.002
TOLERANCE = 1e-8

ROUND_TRIPS = ("base", "queueing")
"""Round trips that are no number: propagation alone, or with the delay of congested queues."""

RANKS = ("stable", "neutral", "unstable")
"""Verdicts in the order of the returned steady states."""

MOST_PAIRS = 6
"""Pairs of stable states between which an unstable one is looked for."""


@dataclass(frozen=True)
class Equilibrium:
    """Per-user rates, windows and losses at a fixed point. Rates count bits on the wire.

    The small-loss convention of the papers holds throughout (1 - p is taken as 1). Where windows
    come out below a few segments, real losses end in timeouts and theory is too generous; a "loss"
    above 1 means windows below sqrt(2) segments.

    Dictionaries are keyed by class (arrays have one entry for each path of that class) or by link.
    `residual` is the largest violation of the complementarity conditions: relative for a link's
    load, and for a window its drift over the size of its loss term. `mesh` is 0 when no law had to
    be regularised (see `anabranch.theory.balance`), else class rates are within about `mesh` of
    the limit. Totals of a class are determined; how a class with equally good paths splits its
    traffic need not be.

    `stability` says whether small deviations of windows decay (`stable`), grow (`unstable`) or
    stay (`neutral`), and `rightmost_per_s` how fast in the slowest direction, as an exponent in
    1/s that is negative where they decay: see `anabranch.theory.motion`.
    """

    windows: dict[str, Floats]
    rates_bps: dict[str, Floats]
    class_rates_bps: dict[str, float]
    rtts_s: dict[str, Floats]
    path_losses: dict[str, Floats]
    link_losses: dict[str, float]
    link_loads_bps: dict[str, float]
    mesh: float
    residual: float
    steps: int
    stability: str
    rightmost_per_s: float


def equilibrium(
    network: Network,
    *,
    rtt: str | float = "base",
    floor: float = 0.0,
    tolerance: float = TOLERANCE,
    mesh: float = MESH,
) -> Equilibrium:
    """The fixed point of `network` under the controllers that its classes name.

    Where a law has several, it is the first of `steady_states`, which has the same arguments and
    raises the same errors.
    """
    return steady_states(network, rtt=rtt, floor=floor, tolerance=tolerance, mesh=mesh)[0]


def steady_states(
    network: Network,
    *,
    rtt: str | float = "base",
    floor: float = 0.0,
    tolerance: float = TOLERANCE,
    mesh: float = MESH,
) -> tuple[Equilibrium, ...]:
    """The fixed points of `network` that a search finds, at least one.

    Stable ones come first, then neutral ones, then unstable ones; among equal verdicts the one
    whose traffic meets the least loss, then the one with the larger window on the first path. The
    search begins with even windows, then with one path ahead of the others. Last, it looks between
    stable points for the unstable ones that separate them. Points that a line of other fixed points
    joins count once.

    `rtt` is "base" (propagation only), "queueing" (plus the delay of each congested queue, see
    `anabranch.theory.queueing`), or seconds for every path alike. `floor` is the least window of
    every path in segments: 0 for the papers' formulas, 1 for the cost of probing. Under equal RTTs
    and without a floor, class rates do not depend on the RTT.

    `tolerance` bounds `residual`. `mesh` is the lattice spacing at which set-valued laws (OLIA) are
    interpolated, see `anabranch.theory.balance`. Where the solver cycles on so fine a lattice (many
    such classes over paths of very different RTTs), a coarser one is used and reported.

    Raises TheoryError when a controller has no law, when nothing limits a path, when the floors
    alone overfill a link, or when the solver does not reach `tolerance`; ValueError for arguments
    out of range.
    """
    for c in network.classes:
        check_law(c.name, c.controller)
    problem = Problem(network, _fixed_rtts_s(network, rtt), _checked(floor, mesh), mesh)
    _check_floor(problem, floor)
    solution = solve(problem, tolerance)
    if solution.residual > tolerance:
        raise TheoryError(_what_failed(problem, solution, tolerance))
    states = [_result(problem, each) for each in _searched(problem, solution, tolerance)]
    return tuple(sorted(states, key=_order))


def _searched(problem: Problem, first: Solution, tolerance: float) -> list[Solution]:
    """`first`, the solutions from other starts, and the solutions between stable ones."""
    found = [first, *others(problem, first, tolerance)]
    stable = [each for each in found if motion(problem, each.z).verdict == "stable"]
    for one, other in list(combinations(stable, 2))[:MOST_PAIRS]:
        new = between(problem, one, other, tolerance)
        if new is not None and not any(alike(problem, new, old) for old in found):
            found.append(new)
    return found


def _order(state: Equilibrium) -> tuple[float, ...]:
    """Sorts as `steady_states` says. Losses that differ by a rounding error are equal."""
    rates, losses, windows = (
        np.concatenate(list(parts.values()))
        for parts in (state.rates_bps, state.path_losses, state.windows)
    )
    met = float(rates @ losses / rates.sum())
    return RANKS.index(state.stability), *(float(f"{x:.5g}") for x in (met, *-windows))


def _fixed_rtts_s(network: Network, rtt: str | float) -> Floats | None:
    word = find(rtt, ROUND_TRIPS)
    if word:
        return network.base_rtts_s if word == "base" else None
    if isinstance(rtt, str) or not rtt > 0.0:
        raise ValueError(
            f"rtt is 'base', 'queueing' or positive seconds, not {rtt!r}{offer(rtt, ROUND_TRIPS)}"
        )
    return np.full(len(network.counts), float(rtt))


def _checked(floor: float, mesh: float) -> float:
    if not floor >= 0.0:
        raise ValueError(f"the window floor is {floor} segments; it cannot be negative")
    if not 0.0 < mesh <= 0.5:
        raise ValueError(f"the mesh is {mesh}; it must be above 0 and at most 0.5")
    return float(floor)


def _check_floor(problem: Problem, floor: float) -> None:
    rtts_s = problem.fixed_rtts_s
    if floor <= 0.0 or rtts_s is None:
        return
    least = State(np.full(problem.path_count, floor), np.empty(0), np.empty(0), rtts_s)
    loads = problem.loads_bps(least)
    for index, load in zip(problem.finite, loads, strict=True):
        link = problem.network.links[index]
        if load > link.capacity_bps:
            raise TheoryError(
                f"link {link.name!r} carries {link.capacity_bps / 1e6:g} Mb/s, but windows of "
                f"{floor:g} segments alone offer it {load / 1e6:g} Mb/s"
            )


def _what_failed(problem: Problem, solution: Solution, tolerance: float) -> str:
    z = solution.z
    distance = np.abs(problem.distance(z, problem.residual(z), problem.jacobian(z)))
    worst = int(distance.argmax())
    if worst >= problem.path_count:
        where = f"link {problem.network.links[problem.finite[worst - problem.path_count]].name!r}"
    else:
        owner = next(
            (c, worst - part.start)
            for c, part in zip(problem.network.classes, problem.network.slices, strict=True)
            if part.start <= worst < part.stop
        )
        where = f"path {owner[1]} of class {owner[0].name!r} ({owner[0].label})"
    return (
        f"no equilibrium of {problem.network.name!r} found: {where} is off by "
        f"{solution.residual:.2g} (tolerance {tolerance:.2g}) after {solution.steps} steps"
    )


def _result(problem: Problem, solution: Solution) -> Equilibrium:
    network, z = problem.network, solution.z
    state = problem.state(z)
    windows = state.windows.copy()
    if not problem.floored:
        windows[(z <= problem.lower)[: problem.path_count]] = 0.0
    moved: Motion = motion(problem, z)
    rates = windows / state.rtts_s * network.packet_bits
    loads = network.incidence @ (network.counts * rates)
    parts = dict(zip((c.name for c in network.classes), network.slices, strict=True))
    set_valued = [c for c in network.classes if is_set_valued(c.controller) and len(c.paths) > 1]
    return Equilibrium(
        windows={name: windows[part] for name, part in parts.items()},
        rates_bps={name: rates[part] for name, part in parts.items()},
        class_rates_bps={name: float(rates[part].sum()) for name, part in parts.items()},
        rtts_s={name: state.rtts_s[part] for name, part in parts.items()},
        path_losses={name: state.losses[part] for name, part in parts.items()},
        link_losses={
            link.name: float(p) for link, p in zip(network.links, state.link_losses, strict=True)
        },
        link_loads_bps={link.name: float(b) for link, b in zip(network.links, loads, strict=True)},
        mesh=problem.mesh if set_valued else 0.0,
        residual=solution.residual,
        steps=solution.steps,
        stability=moved.verdict,
        rightmost_per_s=moved.rightmost_per_s,
    )
