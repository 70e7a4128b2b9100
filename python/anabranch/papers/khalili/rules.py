"""The shipped laws against the draft's update rules, and controllers in every scenario."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ... import _core
from ...result import run
from ...scenario import load
from ..library import Floats, expensive, measure

WATCHED_S = 3.0
"""Time after the last flow's start for which controllers are observed."""


def rfc6356(w: Floats, rtt: Floats, p: Floats) -> Floats:
    """LIA's growth for each ACK by RFC 6356, Section 3, in segments."""
    alpha = w.sum() * np.max(w / rtt**2) / np.sum(w / rtt) ** 2
    return np.asarray(np.minimum(alpha / w.sum(), 1 / w))


def companion(w: Floats, rtt: Floats, p: Floats) -> Floats:
    """OLIA's growth for each ACK by the companion draft, at l = 1/p."""
    quality = (1 / p) / rtt**2
    largest, best = w == w.max(), quality == quality.max()
    collected = best & ~largest
    alpha = np.zeros(len(w))
    if collected.any():
        alpha[collected] = 1 / (len(w) * collected.sum())
        alpha[largest] = -1 / (len(w) * largest.sum())
    return np.asarray((w / rtt**2) / np.sum(w / rtt) ** 2 + alpha / w)


FORMULAS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "lia": rfc6356,
    "olia": companion,
}


@measure
@expensive
def growth_error(law: str) -> float:
    """Largest relative deviation of a shipped law's growth from its formula, typed out here, over
    2,000 random states.
    """
    random = np.random.default_rng(1)
    worst = 0.0
    for _ in range(2000):
        n = random.integers(1, 5)
        w, rtt = random.uniform(1, 200, n), random.uniform(0.01, 0.5, n)
        p = random.uniform(1e-4, 0.1, n)
        expected = FORMULAS[law](w, rtt, p)
        scale = np.maximum(np.abs(expected), 1e-3 / w)
        worst = max(worst, float(np.max(np.abs(_core.growth(law, w, rtt, p) - expected) / scale)))
    return worst


@measure
def halves_down_to(law: str, floor: float) -> bool:
    """Whether a loss halves the window of one of two paths, and stops at a floor in segments."""
    windows = (1.0, 1.5, 2.0, 3.0, 8.0, 20.0, 100.0)
    after = [_core.window_after_loss(law, w, 2) for w in windows]
    return after == [max(w / 2, floor) for w in windows]


@measure
def couples_increase_only(law: str) -> bool:
    """Whether a sibling's window affects a path's growth but not its window after a loss."""
    rtt, p = np.array([0.1, 0.2]), np.array([0.01, 0.02])
    states = [np.array([8.0, sibling]) for sibling in (4.0, 20.0)]
    growth, backoff = (
        [of(law, w, rtt, p)[0] for w in states] for of in (_core.growth, _core.backoff)
    )
    return bool(growth[0] != growth[1] and backoff[0] == backoff[1])


@measure
@expensive
def without_data(scenarios: Sequence[str], controllers: Sequence[str]) -> list[str]:
    """Controllers and scenarios in which nothing arrives for multipath users, or for all users
    where there are none, within some seconds.
    """
    return [f"{name} in {s}" for s in scenarios for name in controllers if not _carries(s, name)]


def _carries(scenario: str, controller: str) -> bool:
    begun = max(c.start_s + c.spread_s for c in load(scenario).plan().classes) + 1
    short = (f"duration={begun + WATCHED_S:g} s", f"warmup={begun:g} s")
    try:
        result = run(scenario, 1, controller=controller, overrides=short)
    except _core.ScenarioError:
        return False
    several = [c.name for c in result.plan.classes if len(c.paths) > 1]
    return all((result.rate(name) > 0).all() for name in several or result.classes)
