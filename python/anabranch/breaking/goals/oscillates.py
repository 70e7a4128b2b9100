"""Rates that swing more than Reno's."""

from __future__ import annotations

import numpy as np

from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..trial import ITSELF, Trial, Values
from ..variants import RENO, reno_on_every_path

BIN_ROUND_TRIPS = 25
"""Of the subject's longest path: shorter swings are sawteeth."""


def swings(trial: Trial, path: int, variant: str) -> Values:
    """Standard deviation of the rate on a path over time, as a part of the subject's mean rate."""
    planned = next(c for c in trial.plan.classes if c.name == "subject")
    bin_s = BIN_ROUND_TRIPS * max(p.base_rtt_s for p in planned.paths)
    every = [trial.arrived(number, variant) for number in trial.paths]
    found = []
    for n, (t_s, arrived) in enumerate(every[path]):
        measured = t_s >= trial.plan.warmup_s
        width = max(1, round(bin_s / float(t_s[1] - t_s[0])))
        rates = np.diff(arrived[measured][::width])
        total = sum(float(np.diff(one[n][1][measured][::width]).mean()) for one in every)
        found.append(float(rates.std()) / total if total > 0 else np.nan)
    return np.array(found)


def score(trial: Trial) -> Aspects:
    """How much more than Reno's the rate on each path swings."""
    return {
        f"path {path + 1}": [Part(swings(trial, path, ITSELF) - swings(trial, path, RENO))]
        for path in trial.paths
    }


GOAL = Goal(
    name="oscillates",
    meaning="The user's rate on a path swings over more than 25 round trips, by more than Reno's on the same paths does.",
    limit=0.15,
    why="two paths that take turns swing by half of the rate each, and Reno's sawtooth by 0.14 of its mean; beyond it by "
    "as much again is no sawtooth.",
    score=score,
    told="the rate of {controller} on {aspect} swings by {value} of its mean rate more than Reno's on the same paths",
    twins=reno_on_every_path,
    needs=Needs(event="never"),
    series=True,
)
