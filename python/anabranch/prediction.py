"""Theory's prediction for a plan, and its form as a result, as of any world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import theory
from .plan import Plan
from .result import Result
from .runs import Run
from .scenario import Scenario
from .tables import Classes, Flows, Paths

PRICE_UNITS = {"log": "s/bit", "tcp": "loss"}
"""Of the prices of links, by what the optimum maximises."""


@dataclass(frozen=True)
class Prediction:
    """Theory's prediction for a plan."""

    plan: Plan
    states: tuple[theory.Equilibrium, ...]
    """All steady states that were found; the first is the answer."""
    optimum: theory.Optimum
    probing: theory.Optimum | None
    """None where one segment per round trip on every path is more than the links carry."""
    fair: tuple[theory.Allocation, ...] = ()
    """The α-fair and max-min allocations that were asked for."""
    pareto: tuple[theory.ParetoCheck, theory.Allocation | None] | None = None
    """Whether the equilibrium is Pareto-optimal, and an allocation that dominates it, if
    requested.
    """

    @property
    def equilibrium(self) -> theory.Equilibrium:
        """The steady state that is the answer: a stable one, if there is one."""
        return self.states[0]


def predicted(
    plan: Plan,
    rtt: str | float = "queueing",
    utility: str = "log",
    *,
    alpha: float | None = None,
    maxmin: bool = False,
    pareto: bool = False,
) -> Prediction:
    """Equilibrium and optima of a plan; the optima have the equilibrium's round trips.

    With `alpha` come the α-fair allocation, with `maxmin` the max-min fair one, and with `pareto`
    the answer whether the equilibrium is Pareto-optimal. Raises TheoryError where theory has no
    answer.
    """
    network = theory.Network.from_plan(plan)
    states = theory.steady_states(network, rtt=rtt, floor=0.0)
    found = states[0]
    best = theory.optimum(network, utility=utility, rtt=found.rtts_s)
    try:
        probing = theory.optimum(network, utility=utility, rtt=found.rtts_s, floor=1.0)
    except theory.TheoryError:
        probing = None
    fair = [] if alpha is None else [theory.alpha_fair(network, alpha)]
    fair += [theory.max_min(network)] if maxmin else []
    rates_bps = found.class_rates_bps
    checked = (
        (theory.pareto_check(network, rates_bps), theory.improvement(network, rates_bps))
        if pareto
        else None
    )
    return Prediction(plan, states, best, probing, tuple(fair), checked)


def as_result(scenario: Scenario, what: Prediction, origin: dict[str, Any]) -> Result:
    """The prediction in the shape of a simulated result; `theory` holds results that only theory
    has.
    """
    found = what.equilibrium
    parts = {
        "equilibrium": {
            "windows_segments": found.windows,
            "path_losses": found.path_losses,
            "link_losses": found.link_losses,
            "link_loads_bps": found.link_loads_bps,
            "mesh": found.mesh,
            "residual": found.residual,
        },
        "steady_states": [_state(each) for each in what.states],
        "optimum": _plain(what.optimum),
        "optimum_with_probing": what.probing and _plain(what.probing),
        "left_out": theory.left_out(what.plan),
    }
    if what.fair:
        parts["fair"] = {each.criterion: _allocated(each) for each in what.fair}
    if what.pareto:
        check, better = what.pareto
        parts["pareto"] = {
            "optimal": check.optimal,
            "headroom": check.headroom,
            "class": check.class_name,
            "dominating": better and _allocated(better),
        }
    return Result(scenario, what.plan, [_tables(what)], "theory", origin, parts)


def _rates(of: theory.Equilibrium | theory.Allocation | theory.Optimum) -> dict[str, Any]:
    """Rates as data, called as in the tables of a run."""
    return {"throughput_bps": of.class_rates_bps, "path_throughput_bps": of.rates_bps}


def _state(state: theory.Equilibrium) -> dict[str, Any]:
    """A steady state as data."""
    return {
        "stability": state.stability,
        "rightmost_per_s": state.rightmost_per_s,
        **_rates(state),
        "windows_segments": state.windows,
        "path_losses": state.path_losses,
    }


def _allocated(given: theory.Allocation) -> dict[str, Any]:
    """An allocation as data."""
    return {
        **_rates(given),
        "link_loads_bps": given.link_loads_bps,
        "bottlenecks": {name: list(links) for name, links in given.bottlenecks.items()},
    }


def _plain(best: theory.Optimum) -> dict[str, Any]:
    """An optimum as data."""
    return {
        "utility": best.utility,
        **_rates(best),
        "path_floors_bps": best.floors_bps,
        "link_prices": best.link_prices,
        "price_unit": PRICE_UNITS[best.utility],
    }


def _tables(what: Prediction) -> Run:
    """The equilibrium as a run: a row for each user, for each of its paths, and for each class."""
    found, classes = what.equilibrium, what.plan.classes
    users = [(c.name, user) for c in classes for user in range(c.count)]
    paths = [
        (flow, path, name)
        for flow, (name, _) in enumerate(users)
        for path in range(len(found.rates_bps[name]))
    ]
    return Run(
        flows=Flows(
            class_=[name for name, _ in users],
            user=np.array([user for _, user in users]),
            throughput_bps=np.array([found.class_rates_bps[name] for name, _ in users]),
        ),
        paths=Paths(
            flow=np.array([flow for flow, _, _ in paths]),
            path=np.array([path for _, path, _ in paths]),
            throughput_bps=np.array([found.rates_bps[name][path] for _, path, name in paths]),
            srtt_s=np.array([found.rtts_s[name][path] for _, path, name in paths]),
        ),
        classes=Classes(
            name=[c.name for c in classes],
            rtt_mean_s=np.array([found.rtts_s[c.name].mean() for c in classes]),
        ),
    )
