"""Theory and packets differ."""

from __future__ import annotations

import numpy as np

from ...theory import Network, TheoryError, equilibrium
from ..kind import Aspects, Goal, Part
from ..rendering import SUBJECT
from ..trial import ITSELF, Trial
from ..variants import COPY
from .fixed_points import STEADY


def score(trial: Trial) -> Aspects:
    """How far each class's rate in packets is from that of theory, as a part of the latter."""
    names = [SUBJECT, *trial.users]
    expected: dict[str, list[float]] = {name: [] for name in names}
    for scenario in trial.scenarios[ITSELF]:
        try:
            rates = equilibrium(Network.from_plan(scenario.plan()), rtt="queueing").class_rates_bps
        except TheoryError:
            return {}
        for name in names:
            own = [rate for one, rate in rates.items() if one.partition(COPY)[0] == name]
            expected[name].append(float(np.mean(own)))
    found = {}
    for name in names:
        packets, theory = trial.rate(name, metric="throughput_bps"), np.array(expected[name])
        sign = np.sign(packets.mean() - theory.mean())
        found[name] = [Part(sign * (packets - theory) / theory.mean())]
    return found


GOAL = Goal(
    name="theory-differs",
    meaning="The rate of a user in packets differs from that of theory's steady state.",
    limit=0.3,
    why="theory and packets agree within a tenth where windows are ten segments or more (docs/explanation/bands.md).",
    score=score,
    told="with {controller}, the rate of the user {aspect} in packets is {value} away from that of theory",
    needs=STEADY,
)
