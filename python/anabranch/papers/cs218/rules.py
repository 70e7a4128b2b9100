"""The shipped laws against the report's update rules, and controllers in its scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ... import _core
from ...scenario import load
from ..library import Floats, expensive, measure

Rule = Callable[[Floats, Floats], Floats]
"""A function of windows in segments and RTTs in s, shape (paths,) each, with a value per path."""


def equation_2(w: Floats, rtt: Floats) -> Floats:
    """Equations (1) and (2) of the report, for a segment."""
    alpha = w.sum() * (w / rtt**2).max() / (w / rtt).sum() ** 2
    return np.asarray(np.minimum(alpha / w.sum(), 1 / w))


RULES: dict[str, Rule] = {
    "a/w_r": lambda w, rtt: 1 / np.sqrt(len(w)) / w,
    "1/w_total": lambda w, rtt: np.full(len(w), 1 / w.sum()),
    "1/w_r": lambda w, rtt: 1 / w,
    "equation 2": equation_2,
    "min(a/w_total, 1/w_r)": lambda w, rtt: np.minimum(1 / np.sqrt(len(w)) / w.sum(), 1 / w),
    "w_r/2": lambda w, rtt: w / 2,
    "w_r - w_total/2": lambda w, rtt: w - w.sum() / 2,
}
"""The formulas of Sections 1 and 3.2.1; a is 1/√n."""


def states(number: int) -> Iterator[tuple[Floats, Floats]]:
    """Windows and RTTs of two to eight paths at random, the same for all laws."""
    random = np.random.default_rng(218)
    for _ in range(number):
        n = int(random.integers(2, 9))
        yield random.uniform(1, 200, n), random.uniform(0.01, 0.5, n)


@measure
@expensive
def law_error(law: str, what: str, rule: str, number: int) -> float:
    """The largest relative deviation of a law's "growth" or "backoff" from a rule, over so many
    random states.
    """
    worst = 0.0
    for w, rtt in states(number):
        have = getattr(_core, what)(law, w, rtt, np.full(len(w), 0.01))
        want = RULES[rule](w, rtt)
        scale = np.maximum(np.abs(want), 1e-6)
        worst = max(worst, float(np.max(np.abs(have - want) / scale)))
    return worst


@measure
def window_after_loss(law: str, window: float, paths: int) -> float:
    """What is left after a loss of one of so many equal windows, its floor included, in segments."""
    return float(_core.window_after_loss(law, window, paths))


@measure
def controllers() -> list[str]:
    """The names of all shipped controllers."""
    return [law["name"] for law in _core.controllers()]


@measure
@expensive
def refused(scenarios: Sequence[str], laws: Sequence[str]) -> list[str]:
    """Scenarios and controllers that have no plan together."""

    def plans(scenario: str, law: str) -> bool:
        try:
            load(scenario).plan(controller=law)
        except _core.ScenarioError:
            return False
        return True

    return [f"{law} in {name}" for name in scenarios for law in laws if not plans(name, law)]
