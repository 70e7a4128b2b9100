"""Judges the flows of a scenario that must be TCP-fair, as the key `fair` in a scenario file
demands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..plan import Plan
from ..result import Result, run
from ..runs import JudgedFlow, JudgedLink, OtherReading
from ..scenario import Scenario, load
from ..seeds import Seeds, checked_seeds
from .ensemble import Fairness
from .references import Runs, reference, tcp_fairness, twins


@dataclass(frozen=True)
class Demand:
    """The demand on a flow by the key `fair` of its scenario."""

    flow: str
    definition: Literal["lenient", "stringent"]
    margin: float


@dataclass(frozen=True)
class Judgement:
    """Whether a flow meets what its scenario demands."""

    demand: Demand
    fairness: Fairness
    """Judged with all capacity left unused as spare; `met` rests on this reading."""
    elsewhere: Fairness
    """Judged with only the capacity that other flows leave because they are limited elsewhere."""

    @property
    def met(self) -> bool:
        """Whether the demanded definition holds."""
        fair = self.fairness
        return fair.lenient if self.demand.definition == "lenient" else fair.stringent

    def record(self) -> JudgedFlow:
        """The judgement as a result keeps it."""
        fair, demand = self.fairness, self.demand
        return JudgedFlow(
            flow=demand.flow,
            definition=demand.definition,
            margin=demand.margin,
            met=self.met,
            lenient=fair.lenient,
            stringent=fair.stringent,
            violated=list(fair.violated),
            total_bps=fair.total_bps,
            bound_bps=fair.bound_bps,
            excess=fair.excess,
            best_path=fair.best_path,
            links=[JudgedLink(**asdict(link), excess=link.excess) for link in fair.links],
            spare=fair.spare,
            elsewhere=OtherReading(
                lenient=self.elsewhere.lenient,
                stringent=self.elsewhere.stringent,
                bound_bps=self.elsewhere.bound_bps,
                excess=self.elsewhere.excess,
            ),
        )

    def to_json(self) -> dict[str, Any]:
        """The judgement as plain data, as in a result file."""
        return self.record().to_json()


def demands(plan: Plan) -> list[Demand]:
    """The demands of a plan on its flows; flows without users are left out."""
    return [
        Demand(flow.name, flow.fair.definition, flow.fair.margin)
        for flow in plan.classes
        if flow.fair
    ]


def check_demands(
    scenario: Scenario, *, controller: str | None = None, overrides: Sequence[str] = ()
) -> list[Demand]:
    """`demands`, if a reference can be made for each flow. Raises ValueError that says for which
    not, and why.
    """
    found = demands(scenario.plan(controller=controller, overrides=list(overrides)))
    for demand in found:
        twins(scenario, demand.flow, controller=controller, overrides=overrides)
    return found


def judgements(result: Result, *, runs: Runs | None = None) -> list[Judgement]:
    """A judgement on each flow of a result that is to be TCP-fair, with references of the same
    seeds.

    `runs` produces the references, by simulation unless told. Raises ValueError as `reference`
    does, and if the result is not simulated and nothing else produces references.
    """
    wanted = demands(result.plan)
    if wanted and runs is None and result.world != "simulation":
        raise ValueError(
            f"there is no reference TCP for a result of {result.world}: give `runs`, which takes a scenario and "
            "seeds and has that world run it"
        )
    origin = result.provenance
    found = []
    for demand in wanted:
        twin = reference(
            result.scenario,
            demand.flow,
            result.seeds,
            controller=origin.get("controller"),
            overrides=origin.get("overrides", ()),
            runs=runs or run,
        )
        wide, narrow = (
            tcp_fairness(result, twin, margin=demand.margin, spare=spare)
            for spare in ("unused", "elsewhere")
        )
        found.append(Judgement(demand, wide, narrow))
    return found


def judge(
    scenario: Scenario | str,
    seeds: Seeds = (1,),
    *,
    controller: str | None = None,
    overrides: Sequence[str] = (),
) -> list[Judgement]:
    """Simulates a scenario and judges each of its flows that has `fair`.

    Arguments are those of `anabranch.run`. Raises ValueError if no flow has `fair` and for seeds
    that are not distinct integers. Also raises the errors of `reference`.
    """
    chosen = checked_seeds(seeds)
    if isinstance(scenario, str):
        scenario = load(scenario)
    if not check_demands(scenario, controller=controller, overrides=overrides):
        raise ValueError(
            f"no flow of {scenario.name} is to be TCP-fair: give one "
            'fair = { definition = "stringent" }, or ask fairness.reference and fairness.tcp_fairness'
        )
    return judgements(run(scenario, chosen, controller=controller, overrides=overrides))
