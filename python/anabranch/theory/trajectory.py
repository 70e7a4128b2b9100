"""Trajectories to the rest point: the fluid model integrated from possible starts of its users.

There are no feedback delays, no slow start and no timeouts: only congestion avoidance converges.
SciPy integrates (LSODA, which changes between stiff and non-stiff methods by itself), to five
digits where laws are smooth and to three where they jump: exactness at every kink of their
interpolation would cost a hundred times the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..offers import keyed
from .errors import TheoryError
from .fluid import Fluid, State
from .network import Floats
from .stability import Stability

SETTLED = 0.05
"""Relative distance of every class's rate from rest within which the model has settled."""

MOST_STEPS = 300_000
"""Evaluations of the model for one trajectory: some 30 s of work."""

LONGEST_S = 600.0
"""Nothing is followed for longer unless asked for."""


@dataclass(frozen=True)
class Trajectory:
    """The model over time: T times, P paths, K links, C classes.

    `t_s` (T,); `windows` (T, P) in segments, `queues` (T, K) in packets at each copy of a link,
    `class_rates_bps` (T, C) per user. `name` says where it began.
    """

    name: str
    t_s: Floats
    windows: Floats
    queues: Floats
    class_rates_bps: Floats


@dataclass(frozen=True)
class Convergence:
    """`settles_s`: from then on every class's rate stays within 5 % of rest; `inf` if not in the
    time watched, `watched_s`."""

    name: str
    settles_s: float
    watched_s: float


def trajectory(
    fluid: Fluid,
    windows: Mapping[str, Sequence[float] | Floats],
    *,
    queues: Mapping[str, float] | None = None,
    duration_s: float,
    samples: int = 400,
    early: bool = False,
    name: str = "",
) -> Trajectory:
    """The model from `windows` (segments, for each class one per path) over `duration_s` seconds.

    `queues` are packets at links, empty where not given; RED's averages begin as the queues.
    `samples` + 1 times are kept, at equal distances, or with `early` closer together the earlier
    they are.

    Raises ValueError for windows, queues or times that do not fit the network, TheoryError when the
    integration fails.
    """
    from scipy.integrate import solve_ivp

    if not duration_s > 0.0 or samples < 1:
        raise ValueError(
            f"the duration is {duration_s} s in {samples} samples; both are above zero"
        )
    start = _start(fluid, windows, queues or {})
    t_s = duration_s * np.linspace(0.0, 1.0, samples + 1) ** (3.0 if early else 1.0)
    relative, absolute = (1e-3, 1e-4) if fluid.mesh else (1e-5, 1e-6)
    done = solve_ivp(
        _Bounded(fluid),
        (0.0, duration_s),
        start.vector,
        method="LSODA",
        t_eval=t_s,
        rtol=relative,
        atol=absolute,
    )
    if not done.success:
        raise TheoryError(f"the fluid model of {fluid.network.name!r} broke off: {done.message}")
    paths, links = len(start.log_windows), len(start.queues)
    w = np.exp(done.y[:paths]).T
    q = np.maximum(done.y[paths : paths + links].T, 0.0)
    rates = np.array([fluid.class_rates_bps(*at) for at in zip(w, q, strict=True)])
    return Trajectory(name, t_s, w, q, rates)


def starts(fluid: Fluid) -> dict[str, dict[str, Floats]]:
    """Windows from which users might begin, by name: small, large, and one class far ahead.

    From the rest point's windows where they are above a segment, else from one segment.
    """
    rest = {
        name: np.maximum(w, max(1.0, fluid.least_windows))
        for name, w in fluid.equilibrium.windows.items()
    }
    one = {name: np.ones(len(w)) * max(1.0, fluid.least_windows) for name, w in rest.items()}
    chosen = {
        "every window at one segment": one,
        "every window at half": {name: np.maximum(w / 2.0, one[name]) for name, w in rest.items()},
        "every window at twice": {name: w * 2.0 for name, w in rest.items()},
    }
    if len(rest) > 1:
        first = next(iter(rest))
        chosen[f"{first} there, the others at one segment"] = {**one, first: rest[first]}
    return chosen


def convergence(
    fluid: Fluid,
    found: Stability,
    *,
    duration_s: float | None = None,
    within: float = SETTLED,
    tell: Callable[[float, float], object] | None = None,
) -> list[Convergence]:
    """Settling time from each of `starts`, with empty queues, until all rates stay `within` of
    rest.

    `duration_s` is the simulated time, by default `watch_s`; `tell` is called with the starts done
    and in all. Raises TheoryError when the integration fails.
    """
    watched_s = duration_s or watch_s(fluid, found)
    every = starts(fluid)
    settled = []
    for number, (name, windows) in enumerate(every.items()):
        path = trajectory(fluid, windows, duration_s=watched_s, samples=2000, name=name)
        settled.append(Convergence(name, settling_time_s(fluid, path, within), watched_s))
        if tell:
            tell(number + 1, len(every))
    return settled


def settling_time_s(fluid: Fluid, path: Trajectory, within: float = SETTLED) -> float:
    """Seconds after which every class's rate stays `within` (relative) of rest; `inf` if it is not
    settled at the end. For a class with a rest of zero, the largest rate of another class is the
    scale."""
    rest = np.array(list(fluid.equilibrium.class_rates_bps.values()))
    scale = np.where(rest > 1e-3 * rest.max(), rest, rest.max())
    away = (np.abs(path.class_rates_bps - rest) > within * scale).any(axis=1)
    if away[-1]:
        return math.inf
    outside = np.flatnonzero(away)
    return float(path.t_s[outside[-1] + 1]) if len(outside) else 0.0


def watch_s(fluid: Fluid, found: Stability) -> float:
    """Seconds that show the model's behaviour, at most 600: six of the slowest time constants, and
    at least the time in which a connection grows its windows three times over by a segment per RTT;
    500 round trips where something is neutral or a law jumps."""
    longest_rtt_s = float(fluid.rtts_s(fluid.rest.queues).max())
    slowest_s = found.time_constant_s
    wanted = 6.0 * slowest_s if math.isfinite(slowest_s) else 0.0
    largest = max(float(w.sum()) for w in fluid.equilibrium.windows.values())
    least = (500.0 if found.neutral or fluid.mesh else max(3.0 * largest, 50.0)) * longest_rtt_s
    return float(min(max(wanted, least), LONGEST_S))


class _Bounded:
    """The derivative, which gives up rather than go on without end."""

    def __init__(self, fluid: Fluid) -> None:
        self.fluid = fluid
        self.asked = 0

    def __call__(self, t_s: float, vector: Floats) -> Floats:
        """(P + 2K,) change per second. Raises TheoryError when it was asked too often."""
        self.asked += 1
        if self.asked > MOST_STEPS:
            raise TheoryError(
                f"the fluid model of {self.fluid.network.name!r} moves too fast to be followed: "
                f"{MOST_STEPS} evaluations end at {t_s:.3g} s; ask for a shorter time"
            )
        return self.fluid.derivative(vector)


def _start(
    fluid: Fluid, windows: Mapping[str, Sequence[float] | Floats], queues: Mapping[str, float]
) -> State:
    rows = []
    by_class = fluid.network.by_class(windows)
    for c in fluid.network.classes:
        given = np.asarray(by_class.get(c.name, ()), dtype=np.float64)
        if given.shape != (len(c.paths),) or not (given > 0.0).all():
            raise ValueError(
                f"windows of class {c.name!r} are {given.tolist()}; they are one positive number of "
                f"segments for each of its {len(c.paths)} paths"
            )
        rows.append(np.maximum(given, fluid.least_windows))
    names = [fluid.network.links[index].name for index in fluid.links]
    by_link = keyed("link with a queue", queues, names, "those are")
    for link, packets in by_link.items():
        if not 0.0 <= packets <= fluid.limits[names.index(link)]:
            raise ValueError(
                f"the queue of {link!r} is {packets}; it is from 0 to {fluid.limits[names.index(link)]:g} packets"
            )
    filled = np.array([float(by_link.get(name, 0.0)) for name in names])
    return State(np.log(np.concatenate(rows)), filled, filled.copy())
