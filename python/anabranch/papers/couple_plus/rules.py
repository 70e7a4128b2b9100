"""The loss-based controllers of Section II-A: their rules, and their slow start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import _core
from ..library import Floats, expensive, measure
from .logs import captured

Rule = Callable[[Floats, Floats], tuple[Any, Floats]]

RULES: dict[str, Rule] = {
    "ewtcp": lambda w, rtt: (1 / len(w) ** 2 / w, w / 2),
    "semicoupled": lambda w, rtt: (1 / len(w) / w.sum(), w / 2),
    "fully-coupled": lambda w, rtt: (1 / w.sum(), w - w.sum() / 2),
    "lia": lambda w, rtt: (np.minimum(_alpha(w, rtt) / w.sum(), 1 / w), w / 2),
}
"""Growth for each acknowledged segment, and windows after a loss, by the ledger's notes."""


def _alpha(w: Floats, rtt: Floats) -> float:
    """RFC 6356, Section 3."""
    return float(w.sum() * (w / rtt**2).max() / (w / rtt).sum() ** 2)


@measure
@expensive
def rule_error(law: str) -> float:
    """The largest relative deviation of a shipped law's increments and decreases from its rule,
    over 100 random states.
    """
    random = np.random.default_rng(9)
    worst = 0.0
    for _ in range(100):
        n = int(random.integers(2, 5))
        w, rtt, p = random.uniform(2, 60, n), random.uniform(0.02, 0.2, n), np.full(n, 0.01)
        shipped = (_core.growth(law, w, rtt, p), _core.backoff(law, w, rtt, p))
        for own, rule in zip(shipped, RULES[law](w, rtt), strict=True):
            worst = max(worst, float(np.max(np.abs(own - rule) / np.abs(rule))))
    return worst


@measure
@expensive
def start(law: str, overrides: Sequence[str]) -> dict[str, Any]:
    """A law on empty paths: samples of the first path's window until the first recovery or timeout
    of any path, when that is, and the threshold in segments that it sets.
    """
    (one,) = captured(tuple(overrides), law).result.runs
    log, series = one.events_log, one.series
    kinds = zip(log.t_s, log.kind, strict=True)
    first_s = min(t for t, kind in kinds if kind in ("recovery", "timeout"))
    after = np.asarray(series.paths.ssthresh_segments)[np.searchsorted(series.t_s, first_s) + 1]
    return {
        "windows": np.asarray(series.paths.cwnd_segments)[series.t_s < first_s, 0].tolist(),
        "threshold": float(after[np.argmax(np.isfinite(after))]),
        "first_s": float(first_s),
    }
