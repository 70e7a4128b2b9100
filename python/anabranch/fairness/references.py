"""References for the definitions of multipath TCP-fairness: twins of a scenario, with a TCP in
place of the ensemble on each of its paths in turn, and without the ensemble (Tse 2006, §1.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..offers import lookup, unknown
from ..plan import Plan
from ..result import Result, run
from ..scenario import Scenario
from ..seeds import Seeds, checked_seeds
from .ensemble import Fairness, Spare, ensemble_fairness

Floats = NDArray[np.float64]
Runs = Callable[[Scenario, list[int]], Result]
"""A function that gives results: by simulation, by measurement, or from a cache."""

OWN = ("controller", "subject", "base", "path", "striped", "protocol", "fair")
"""Keys of a flow that a TCP in its place does not have."""


@dataclass(frozen=True)
class Reference:
    """Rates that decide whether an ensemble is TCP-fair, in bit/s, one for each replication."""

    flow: str
    bottlenecks: tuple[str, ...]
    """For each path, the link that a TCP on it uses most."""
    tcp_bps: Floats
    """Shape (paths, replications). An idealised TCP is meant (footnote 1 of the thesis): it takes
    at least the unused capacity; a real TCP halves its window and leaves part of that unused."""
    spare_bps: dict[str, Floats]
    """By bottleneck, shape (replications,): all that is unused without the flow."""
    capacities_bps: dict[str, float]
    """By bottleneck."""
    measured_bps: Floats
    """Measured rate of a TCP, same shape as `tcp_bps`."""
    elsewhere_bps: dict[str, Floats]
    """As `spare_bps`, but only on links whose flows are limited elsewhere."""

    def read(self, spare: Spare) -> tuple[Floats, dict[str, Floats]]:
        """The rate of a TCP on each path and the spare capacity, for one reading of "spare"."""
        if spare == "unused":
            return self.tcp_bps, self.spare_bps
        floor = np.array([self.elsewhere_bps[link] for link in self.bottlenecks])
        return np.maximum(self.measured_bps, floor), self.elsewhere_bps


def twins(
    scenario: Scenario,
    flow: str,
    *,
    controller: str | None = None,
    overrides: Sequence[str] = (),
) -> tuple[list[Scenario], Scenario | None]:
    """The scenario with one TCP in place of `flow` on each of its paths, and without it.

    The second is None if the scenario has no other flow. Raises ScenarioError, and ValueError if
    there is no such flow, if it has several users, or if one of its paths has no link with a rate.
    """
    document = scenario.document(controller=controller, overrides=overrides)
    plan = scenario.plan(controller=controller, overrides=list(overrides))
    flows: list[dict[str, Any]] = document["flow"]
    names = [one["name"] for one in flows]
    place = names.index(lookup("flow", flow, names, "the flows are"))
    flow = names[place]
    users = {planned.name: planned.count for planned in plan.classes}
    if (count := users.pop(flow, 0)) != 1:
        raise ValueError(f"flow {flow!r} has {count} users; fairness is defined for one ensemble")
    check_limited(plan, flow)
    before, ensemble, after = flows[:place], flows[place], flows[place + 1 :]
    tcp = {key: value for key, value in ensemble.items() if key not in OWN}

    def twin(own: list[dict[str, Any]], what: str) -> Scenario:
        return Scenario.written(
            {**document, "flow": [*before, *own, *after]}, f"{scenario.name} {what}"
        )

    alone = [
        twin([{**tcp, "controller": "reno", "path": [path]}], f"with a TCP on path {number}")
        for number, path in enumerate(ensemble["path"])
    ]
    return alone, twin([], f"without {flow}") if users else None


def reference(
    scenario: Scenario,
    flow: str,
    seeds: Seeds = (1,),
    *,
    controller: str | None = None,
    overrides: Sequence[str] = (),
    runs: Runs = run,
) -> Reference:
    """The rate of one TCP on each path of `flow` in its place, and the capacity left unused without
    the flow.

    `controller` and `overrides` are those of the run to judge: other flows keep theirs. `runs`
    produces results, by default by simulation; identical paths are run once. Raises the errors of
    `twins`, and KeyboardInterrupt after an interrupt.
    """
    chosen = checked_seeds(seeds)
    with_tcp, without = twins(scenario, flow, controller=controller, overrides=overrides)
    names = [planned.name for planned in with_tcp[0].plan().classes]
    flow = lookup("flow", flow, names, "the flows are")
    found: dict[str, Result] = {}
    for one in (*with_tcp, *([without] if without else [])):
        if one.text not in found:
            found[one.text] = runs(one, chosen)
            if not found[one.text].provenance.get("complete", True):
                raise KeyboardInterrupt
    results = [found[one.text] for one in with_tcp]
    bottlenecks = tuple(bottleneck(result, flow) for result in results)
    capacities = {
        link: capacity(result, link) for result, link in zip(results, bottlenecks, strict=True)
    }
    empty = found[without.text] if without else None
    private = {link.name for link in results[0].plan.links if link.per_user}
    nothing = np.zeros(len(results[0].runs))
    alone = {link for link in bottlenecks if empty is None or link in private}
    used = {
        link: nothing if empty is None or link in alone else empty.link(link, "utilisation")
        for link in bottlenecks
    }
    spare = {link: capacities[link] * np.maximum(1 - used[link], 0.0) for link in bottlenecks}
    elsewhere = {
        link: unused if empty is None or link in alone else unused * ~limits(empty, link)
        for link, unused in spare.items()
    }
    measured = np.array([result.rate(flow) for result in results])
    ideal = np.maximum(measured, np.array([spare[link] for link in bottlenecks]))
    return Reference(flow, bottlenecks, ideal, spare, capacities, measured, elsewhere)


def limits(result: Result, link: str) -> NDArray[np.bool_]:
    """Whether a link limits a flow in each replication: it drops, marks or loses a packet, and
    flows slow down. Flows on others are limited elsewhere, or by their application.
    """
    signals = ("dropped_packets", "marked_packets", "lost_packets")
    return np.asarray(sum(result.link(link, signal) for signal in signals) > 0)


def ways(plan: Plan, flow: str) -> list[tuple[str, ...]]:
    """The links of each path of a flow; a striped flow has a path for each of its turns."""
    (planned,) = (one for one in plan.classes if one.name == flow)
    found = [
        links for path in planned.paths for links in (path.links, *(turn[0] for turn in path.turns))
    ]
    return [tuple(plan.links[link].name for link in links) for links in found]


def check_limited(plan: Plan, flow: str) -> None:
    """Raises ValueError if a path of a flow has no link with a rate."""
    limited = {link.name for link in plan.links if link.rate_bps}
    for number, links in enumerate(ways(plan, flow)):
        if not limited.intersection(links):
            raise ValueError(
                f"path {number} of flow {flow!r} has no link with a rate: nothing is its bottleneck"
            )


def bottleneck(result: Result, flow: str) -> str:
    """The link of a TCP's path that is used most, in the mean over replications."""
    plan = result.plan
    links = {link.name: link for link in plan.links if link.rate_bps}

    def used(name: str) -> float:
        if links[name].per_user:
            return float(result.rate(flow).mean()) / capacity(result, name)
        return float(result.link(name, "utilisation").mean())

    (way,) = ways(plan, flow)
    return max((name for name in way if name in links), key=used)


def capacity(result: Result, link: str) -> float:
    """The rate of a link in bit/s, its mean where it changes; of one copy of a private link."""
    (planned,) = (one for one in result.plan.links if one.name == link)
    used = result.link(link, "utilisation") * result.link(link, "copies")
    if (planned.changes or planned.opportunities) and used.mean() > 0:
        return float(result.link(link, "throughput_bps").mean() / used.mean())
    return float(result.rates_bps[link])


def tcp_fairness(
    result: Result, reference: Reference, *, margin: float = 0.05, spare: Spare = "unused"
) -> Fairness:
    """Applies both definitions to a result of any world, with means over its replications and one
    reading of spare capacity.

    `result` is of the scenario that `reference` was made for; a striped flow is assumed to give
    each of its paths the same share. Raises ValueError without a reference, and if the flow is not
    in the result or its paths are not those of the reference.
    """
    if reference is None:
        raise ValueError(
            "there is no reference TCP to compare with: make one with fairness.reference(scenario, flow, seeds)"
        )
    flow = reference.flow
    if flow not in result.classes:
        raise unknown("flow", flow, result.classes, "the flows of the result are")
    paths = ways(result.plan, flow)
    if len(paths) != len(reference.bottlenecks):
        raise ValueError(
            f"flow {flow!r} has {len(paths)} paths and the reference "
            f"{len(reference.bottlenecks)}; they must be of one scenario"
        )
    for number, (links, link) in enumerate(zip(paths, reference.bottlenecks, strict=True)):
        if link not in links:
            raise ValueError(
                f"path {number} of flow {flow!r} does not cross {link!r}, its bottleneck in the reference; "
                "they must be of one scenario"
            )
    planned = len(result.plan.classes[result.classes.index(flow)].paths)
    taken = [
        float(result.path(flow, p, "throughput_bps").mean()) * planned / len(paths)
        for p in range(planned)
        for _ in range(len(paths) // planned)
    ]
    tcp, free = reference.read(spare)
    return ensemble_fairness(
        taken,
        reference.bottlenecks,
        tcp.mean(axis=1).tolist(),
        {link: float(unused.mean()) for link, unused in free.items()},
        reference.capacities_bps,
        margin=margin,
        reading=spare,
    )
