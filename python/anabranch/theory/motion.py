"""Stability of windows at a steady state: exponents of small deviations, without queues.

Log windows move with `drift / rtt` of their laws, and a full link at once loses its excess, `p = 1
- C/y`. So every network with a steady state has exponents, with any queues.
`anabranch.theory.stability` treats the oscillation of queues and the effect of delayed feedback.

A window of zero has its own exponent, of which only the sign counts: windows of OLIA fall as 1/t,
which has no exponent. Slopes at a kink or a jump are those of `anabranch.theory.stability`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .complementarity import Problem
from .network import Floats

Complexes = NDArray[np.complex128]

NEUTRAL = 1e-4
"""Change in a round trip below which something neither grows nor decays: half of it is left after
an hour or two at 100 ms."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Growth or decay of small deviations of windows.

    `verdict`: `stable` where all of them decay, `unstable` where one grows, else `neutral`.
    `rightmost_per_s` is the largest real part of an exponent, `-inf` where every window is zero.
    """

    verdict: str
    rightmost_per_s: float


def verdict(exponents: Complexes, neutral_per_s: float) -> str:
    """`stable`, `unstable` or `neutral` by the rightmost of at least one exponent in 1/s."""
    rightmost = float(exponents.real.max())
    if rightmost > neutral_per_s:
        return "unstable"
    return "stable" if rightmost < -neutral_per_s else "neutral"


def motion(problem: Problem, z: Floats) -> Motion:
    """Linearises the windows about the solution `z` of `problem`."""
    paths = problem.path_count
    state = problem.state(z)
    moving = z[:paths] > problem.lower[:paths]
    # An empty path stays empty where loss exceeds growth, which the residual has in its sign.
    balance = problem.residual(z)[:paths][~moving]
    neutral_per_s = NEUTRAL / float(state.rtts_s.max())
    if not moving.any():
        return Motion("stable" if (balance > NEUTRAL).all() else "neutral", -np.inf)
    matrix = _slopes(problem, z)[np.ix_(moving, moving)]
    exponents = np.linalg.eigvals(matrix).astype(np.complex128)
    found = verdict(exponents, neutral_per_s)
    if found == "stable" and (balance <= NEUTRAL).any():
        found = "neutral"
    return Motion(found, float(exponents.real.max()))


def _slopes(problem: Problem, z: Floats) -> Floats:
    """(P, P) d(d log w/dt) / d log w in 1/s, with losses of full links that follow the windows."""
    paths = problem.path_count
    state, slopes = problem.state(z), problem.jacobian(z)
    full = paths + np.flatnonzero(z[paths:] > problem.lower[paths:])
    # d log p = (1/p) d log y of p = 1 - C/y where y is C; log(C/y) is the residual of a link.
    steepness = np.exp(-z[full])[:, None]
    by_delay = np.eye(len(full)) + steepness * slopes[np.ix_(full, full)]
    losses_by_window = -np.linalg.solve(by_delay, steepness * slopes[full, :paths])
    by_window = slopes[:paths, :paths] + slopes[:paths, full] @ losses_by_window
    # The residual is minus drift over the loss term, so this undoes the division.
    speeds = np.concatenate(
        [
            law.loss_term(state.windows[part], state.rtts_s[part], state.losses[part])
            for law, part in zip(problem.laws, problem.network.slices, strict=True)
        ]
    )
    matrix: Floats = -(speeds / state.rtts_s)[:, None] * by_window
    return matrix
