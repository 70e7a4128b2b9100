"""Theory and packets differ."""

from __future__ import annotations

import numpy as np

from ...statistics import linearised
from ...theory import TheoryError
from ..kind import Aspects, Goal, Part
from ..rendering import SUBJECT
from ..trial import ITSELF, Trial, Values
from ..variants import COPY
from .fixed_points import STEADY, states


def score(trial: Trial) -> Aspects:
    """How far each class's rate in packets is above and below that of theory, as a part of the
    latter. Of several steady states each replication has the one that is nearest to it.
    """
    names = [SUBJECT, *trial.users]
    packets = np.array([trial.rate(name, metric="throughput_bps") for name in names])
    expected = np.empty_like(packets)
    for n, scenario in enumerate(trial.scenarios[ITSELF]):
        try:
            found = [_rates(state.class_rates_bps, names) for state in states(scenario)]
        except TheoryError:
            return {}
        expected[:, n] = min(found, key=lambda rates: _distance(packets[:, n], rates))
    aspects = {}
    for name, own, theory in zip(names, packets, expected, strict=True):
        above = linearised(own, theory) - 1.0
        aspects[f"{name} has more"] = [Part(above)]
        aspects[f"{name} has less"] = [Part(-above)]
    return aspects


def _rates(rates_bps: dict[str, float], names: list[str]) -> Values:
    """The mean rate of the users of each class."""
    return np.array(
        [
            np.mean([rate for one, rate in rates_bps.items() if one.partition(COPY)[0] == name])
            for name in names
        ]
    )


def _distance(packets: Values, theory: Values) -> float:
    """The largest relative difference of a class."""
    return float(np.max(np.abs(packets / np.maximum(theory, 1e-9) - 1.0)))


GOAL = Goal(
    name="theory-differs",
    meaning="The rate of a user in packets differs from that of the steady state of theory that is nearest.",
    limit=0.3,
    why="theory and packets agree within a tenth where windows are ten segments or more (docs/explanation/bands.md).",
    score=score,
    told="with {controller}, the user {aspect} in packets than in theory, by {value}",
    needs=STEADY,
)
