"""Rates that swing more than Reno's."""

from __future__ import annotations

import numpy as np

from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..trial import ITSELF, Trial, Values
from ..variants import RENO, reno_on_every_path

BIN_ROUND_TRIPS = 12
"""Of the subject's longest path, as full queues make it; about twice as many without. Shorter
swings are sawteeth of the small windows that networks have here."""

FEWEST_BINS = 6
"""Of a run whose swings can be told from a step."""


def swing(rates: Values) -> float:
    """The standard deviation of rates, shape (bins,), around the one step that explains most of it.

    A change that stays, as when another user starts, is no swing: before and behind it the rates
    have a mean each.
    """
    squares = [
        float(
            sum(((part - part.mean()) ** 2).sum() for part in np.split(rates, [cut]) if len(part))
        )
        for cut in range(len(rates))
    ]
    return float(np.sqrt(min(squares) / len(rates)))


def swings(trial: Trial, path: int, variant: str, bin_s: float) -> Values:
    """`swing` of the rate on a path, as a part of the subject's mean rate, shape (n,); NaN
    in a run that is too short.
    """
    every = [trial.arrived(number, variant) for number in trial.paths]
    found = []
    for n, (t_s, arrived) in enumerate(every[path]):
        measured = t_s >= trial.plan.warmup_s
        width = max(1, round(bin_s / float(t_s[1] - t_s[0])))
        rates = np.diff(arrived[measured][::width])
        if len(rates) < FEWEST_BINS:
            found.append(np.nan)
            continue
        total = sum(float(np.diff(one[n][1][measured][::width]).mean()) for one in every)
        found.append(swing(rates) / total if total > 0 else np.nan)
    return np.array(found)


def score(trial: Trial) -> Aspects:
    """How much more than Reno's the rate on each path swings."""
    bin_s = BIN_ROUND_TRIPS * max(trial.full_rtt_s(ITSELF), trial.full_rtt_s(RENO))
    return {
        f"path {path + 1}": [
            Part(swings(trial, path, ITSELF, bin_s) - swings(trial, path, RENO, bin_s))
        ]
        for path in trial.paths
    }


GOAL = Goal(
    name="oscillates",
    meaning="The user's rate on a path swings over more than 12 round trips with full queues, by more than Reno's on the "
    "same paths does. Nobody starts late or makes transfers, and one step is no swing.",
    limit=0.15,
    why="two paths that take turns swing by half of the rate each, and Reno's sawtooth by 0.14 of its mean; beyond it by "
    "as much again is no sawtooth.",
    score=score,
    told="the rate of {controller} on {aspect} swings by {value} of its mean rate more than Reno's on the same paths",
    twins=reno_on_every_path,
    needs=Needs(event="never", steady=True),
    series=True,
)
