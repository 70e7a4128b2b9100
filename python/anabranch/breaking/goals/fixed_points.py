"""Steady states by theory: none, several, or unstable ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from ...scenario import Scenario
from ...theory import Equilibrium, Fluid, Network, TheoryError, stability, steady_states
from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..trial import ITSELF, Trial
from ..variants import RENO, reno_on_every_path

STEADY = Needs(queues=("red",), event="never", steady=True, lawful=True)
"""RED, because theory has the queue of a loss there; nothing that theory leaves out."""

MULTIPATH = Needs(paths=2, queues=("red",), event="never", steady=True, lawful=True)


def states(scenario: Scenario) -> tuple[Equilibrium, ...]:
    """The steady states of a scenario. Raises TheoryError if none is found."""
    return steady_states(Network.from_plan(scenario.plan()), rtt="queueing")


def spread(found: tuple[Equilibrium, ...]) -> float:
    """How far a path's rate differs between two stable states, as a part of its user's rate."""
    lasting = [state for state in found if state.stability == "stable"]
    most = 0.0
    for one, other in combinations(lasting, 2):
        for name, total in one.class_rates_bps.items():
            apart = np.abs(one.rates_bps[name] - other.rates_bps[name]).max()
            most = max(most, float(apart) / max(total, other.class_rates_bps[name]))
    return most


def several(trial: Trial) -> Aspects:
    """The spread of the stable states of each replication's network."""
    found = []
    for scenario in trial.scenarios[ITSELF]:
        try:
            found.append(spread(states(scenario)))
        except TheoryError:
            found.append(np.nan)
    return {"the stable states": [Part(np.array(found))]}


def none(trial: Trial) -> Aspects:
    """1 where the solver finds no steady state although it does with Reno on every path, else 0."""
    missing = {
        variant: np.array([_missing(scenario) for scenario in trial.scenarios[variant]])
        for variant in (ITSELF, RENO)
    }
    return {"the solver": [Part(missing[ITSELF] - missing[RENO])]}


def _missing(scenario: Scenario) -> float:
    """1 where theory has no answer. What the network lacks, such as a limit of a path, it lacks
    with Reno too, and so does not count.
    """
    try:
        states(scenario)
    except TheoryError:
        return 1.0
    return 0.0


def growth(scenario: Scenario) -> float:
    """By how much a small deviation of the fluid model with delay grows in a round trip; below zero
    where it decays, NaN where theory has no answer.
    """
    try:
        fluid = Fluid(Network.from_plan(scenario.plan()))
        exponent = float(stability(fluid).delayed.real.max())
    except TheoryError:
        return np.nan
    return exponent * float(fluid.rtts_s(fluid.rest.queues).max())


def unstable(trial: Trial) -> Aspects:
    """Growth of deviations where they decay with Reno on every path."""
    own, reno = (
        np.array([growth(scenario) for scenario in trial.scenarios[variant]])
        for variant in (ITSELF, RENO)
    )
    return {"the rest point": [Part(own), Part(-reno, 0.0)]}


SEVERAL = Goal(
    name="several-fixed-points",
    meaning="Theory finds more than one stable steady state: where the user ends depends on where it began. "
    "States that are joined by a line of others, and so neither return nor leave, do not count.",
    limit=0.1,
    why="a path's rate that differs by a tenth of the user's rate is more than theory's solver and packets differ.",
    score=several,
    told="{controller} has several stable steady states: a path has {value} of its user's rate more in one than in another",
    needs=MULTIPATH,
    simulated=False,
    lasting=False,
)

NONE = Goal(
    name="no-fixed-point",
    meaning="Theory's solver finds no steady state, but one with Reno on every path. It may have missed one.",
    limit=0.5,
    why="the score is 1 where none is found, and 0 where one is.",
    score=none,
    told="no steady state of {controller} was found; with Reno in its place there is one",
    twins=reno_on_every_path,
    needs=STEADY,
    percent=False,
    simulated=False,
    lasting=False,
)

UNSTABLE = Goal(
    name="unstable",
    meaning="In the fluid model with delays small deviations from the steady state grow, and decay with Reno on every path.",
    limit=0.02,
    why="two percent in a round trip are above the accuracy of the roots, and double a deviation in 35 round trips.",
    score=unstable,
    told="deviations from the steady state of {controller} grow by {value} in a round trip; those of Reno decay",
    twins=reno_on_every_path,
    needs=replace(STEADY, smooth=True),
    simulated=False,
    lasting=False,
)
