"""How often one path of a user carries nearly all of its window, and how often that path changes."""

from __future__ import annotations

import numpy as np

from ...fairness import dominance, swaps
from ...result import Result
from ..laboratory import Laboratory
from ..library import Cell, Floats, measure
from ..readings import series


def first_user(result: Result, metric: str) -> Floats:
    """A series of the first user's paths, shape (seeds, samples, paths)."""
    first = result.plan.classes[0]
    return series(result, first.name, metric)[..., : len(first.paths)]


def _windows(lab: Laboratory, cell: str) -> Floats:
    plan = lab[cell].plan
    return first_user(lab[cell], "cwnd_segments")[:, round(plan.warmup_s / plan.sample_s) :]


@measure
def dominated(lab: Laboratory, cell: Cell) -> Floats:
    """Part of the time after the warm-up in which a path has more than 90 % of the window."""
    return np.array([dominance(windows) for windows in _windows(lab, cell)])


@measure
def turns(lab: Laboratory, cell: Cell) -> float:
    """Changes of the dominating path in 100 s, in the mean of the seeds."""
    plan = lab[cell].plan
    per_100_s = 100.0 / (plan.duration_s - plan.warmup_s)
    return float(np.mean([swaps(windows) for windows in _windows(lab, cell)])) * per_100_s
