"""What the ledger on Balia measures beyond the basic measures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anabranch import _core, theory
from anabranch.papers.laboratory import Laboratory
from anabranch.papers.library import Cell, Floats, Users, measure, plan_of, without_runs

STATES = 2000
"""Random states in which laws are held against formulas."""


def _states() -> list[tuple[Floats, Floats, Floats]]:
    """Windows in segments, round trips in s and losses of one to four paths, at random."""
    random = np.random.default_rng(1)
    return [
        (random.uniform(1, 200, n), random.uniform(0.01, 0.5, n), random.uniform(1e-4, 0.1, n))
        for n in random.integers(1, 5, STATES)
    ]


def section2(w: Floats, rtt: Floats) -> Floats:
    """Balia's growth for each ACK as Section 2 of the draft has it, in segments."""
    x = w / rtt
    alpha = x.max() / x
    return np.asarray(x / (rtt * x.sum() ** 2) * (1 + alpha) / 2 * (4 + alpha) / 5)


def section4(w: Floats, rtt: Floats) -> Floats:
    """The same as Section 4 rewrites it for integers."""
    x = w / rtt
    return np.asarray((x + x.max()) * (4 * x + x.max()) / (w * x.sum() ** 2 * 10))


FORMULAS = {"section 2": section2, "section 4": section4}


@measure
def growth_error(law: str, formula: str) -> float:
    """The largest relative deviation of a law's growth from a formula of the draft."""
    errors = [
        np.max(np.abs(_core.growth(law, w, rtt, p) / FORMULAS[formula](w, rtt) - 1))
        for w, rtt, p in _states()
    ]
    return float(max(errors))


@measure
def decrease_error(law: str, most: float) -> float:
    """The largest deviation of what a loss takes from w/2 · min(alpha, most), relative to w."""
    errors = []
    for w, rtt, p in _states():
        x = w / rtt
        expected = w / 2 * np.minimum(x.max() / x, most)
        errors.append(np.max(np.abs(w - _core.backoff(law, w, rtt, p) - expected) / w))
    return float(max(errors))


@measure
def decrease_factors(law: str) -> dict[str, float]:
    """The least and the most that a loss takes, relative to the half that Reno takes."""
    found = [(w - _core.backoff(law, w, rtt, p)) / (w / 2) for w, rtt, p in _states()]
    factors = np.concatenate(found)
    return {"least": float(factors.min()), "most": float(factors.max())}


@measure
def error_of_one_path(law: str) -> float:
    """How far a law with one path is from Reno's 1/w and w/2, relative."""
    one = [state for state in _states() if len(state[0]) == 1]
    return max(
        float(abs(of(law, *state)[0] / of("reno", *state)[0] - 1))
        for state in one
        for of in (_core.growth, _core.backoff)
    )


@measure
def least_ssthresh(law: str, paths: int) -> float:
    """The window of a path of one segment after a loss, in segments."""
    return float(_core.window_after_loss(law, 1.0, paths))


@measure
def growth_of_small(law: str, large: float, small: float) -> float:
    """What an ACK adds to a path of `small` segments beside one of `large`, in segments, at equal
    round trips and losses.
    """
    w, rtt, p = np.array([large, small], dtype=float), np.full(2, 0.05), np.full(2, 0.01)
    return float(_core.growth(law, w, rtt, p)[1])


@measure
@without_runs
def fixed_points(lab: Laboratory, cell: Cell) -> int:
    """How many fixed points theory finds."""
    return len(_states_of(lab, cell))


@measure
@without_runs
def stable(lab: Laboratory, cell: Cell) -> bool:
    """Whether the first fixed point comes back after a small deviation of its windows."""
    return _states_of(lab, cell)[0].stability == "stable"


@measure
@without_runs
def slowest_per_s(lab: Laboratory, cell: Cell) -> float:
    """How fast the slowest deviation of windows decays at the first fixed point, in 1/s."""
    return -_states_of(lab, cell)[0].rightmost_per_s


@measure
@without_runs
def larger_in_theory(lab: Laboratory, cell: Cell, users: Users) -> float:
    """The larger path's part of a class's rate at the first fixed point."""
    rates = _states_of(lab, cell)[0].rates_bps[users]
    return float(rates.max() / rates.sum())


@measure
@without_runs
def spread_of_totals(lab: Laboratory, cell: Cell) -> float:
    """The largest relative difference of a class's rate between fixed points."""
    found = [list(state.class_rates_bps.values()) for state in _states_of(lab, cell)]
    return float(np.max(np.ptp(found, axis=0) / np.mean(found, axis=0)))


def _states_of(lab: Laboratory, cell: str) -> tuple[theory.Equilibrium, ...]:
    network = theory.Network.from_plan(plan_of(lab.configurations[cell]))
    return theory.steady_states(network, rtt="queueing")


@measure
def larger_part(lab: Laboratory, cell: Cell, users: Users) -> Floats:
    """The larger path's part of a user's rate, in the mean of the users of a class."""
    result = lab[cell]
    paths = range(len(next(c for c in result.plan.classes if c.name == users).paths))
    rates = np.stack([result.path(users, path, "throughput_bps") for path in paths])
    return np.asarray((rates.max(axis=0) / rates.sum(axis=0)).mean(axis=1))


def _windows(lab: Laboratory, cell: str) -> list[tuple[Floats, Floats]]:
    """Times in s and the windows of the first user's paths, shape (samples, paths), by seed."""
    result = lab[cell]
    paths = len(result.plan.classes[0].paths)
    return [
        (run.series.t_s, run.series.paths.column("cwnd_segments")[:, :paths]) for run in result.runs
    ]


@measure
def convergence_s(lab: Laboratory, cell: Cell, path: int, since_s: float) -> Floats:
    """Seconds after `since_s` at which a path's window first reaches its own mean from then to the
    end (Table 2 of the draft).
    """
    return np.array(
        [reached_s(t_s[t_s >= since_s], w[t_s >= since_s, path]) for t_s, w in _windows(lab, cell)]
    )


def reached_s(t_s: Floats, window: NDArray[np.float64]) -> float:
    """Seconds from the first sample to the first one that is no less than the mean of all."""
    return _first_s(t_s, window >= window.mean())


@measure
def comes_back_s(lab: Laboratory, cell: Cell, since_s: float, part: float) -> Floats:
    """Seconds after `since_s` at which the second path's window first reaches `part` of the first
    one's mean from then on; where it never does, the time until the end, which is too little.
    """
    found = [(t_s[t_s >= since_s], w[t_s >= since_s]) for t_s, w in _windows(lab, cell)]
    return np.array([_first_s(t_s, w[:, 1] >= part * w[:, 0].mean()) for t_s, w in found])


def _first_s(t_s: Floats, holds: NDArray[np.bool_]) -> float:
    return float(t_s[np.argmax(holds) if holds.any() else -1] - t_s[0])


@measure
def window_between(lab: Laboratory, cell: Cell, path: int, from_s: float, until_s: float) -> Floats:
    """The mean window of a path of the first user between two times, in segments."""
    return np.array(
        [w[(t_s >= from_s) & (t_s < until_s), path].mean() for t_s, w in _windows(lab, cell)]
    )


@measure
def oscillation(lab: Laboratory, cell: Cell) -> Floats:
    """The standard deviation of a path's window over its mean, in the mean of the paths, after the
    warm-up.
    """
    warm_s = lab[cell].plan.warmup_s
    found = [w[t_s >= warm_s] for t_s, w in _windows(lab, cell)]
    return np.array([float(np.mean(w.std(axis=0) / w.mean(axis=0))) for w in found])
