"""What the definitions of multipath TCP-fairness compare with: twins of a scenario, with a TCP in place of the
ensemble on each of its paths in turn, and without it (Tse 2006, §1.3)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..result import Result, run
from ..scenario import Scenario
from .ensemble import Fairness, ensemble_fairness

Floats = NDArray[np.float64]
Runs = Callable[[Scenario, list[int]], Result]
"""Whatever simulates, measures or remembers."""


@dataclass(frozen=True)
class Reference:
    """Rates that decide whether an ensemble is TCP-fair, in bit/s, one for each replication."""

    flow: str
    bottlenecks: tuple[str, ...]
    """Of each path: the link of it that a TCP on it uses most."""
    tcp_bps: Floats
    """Shape (paths, replications)."""
    spare_bps: dict[str, Floats]
    """By bottleneck, shape (replications,)."""
    capacities_bps: dict[str, float]
    """By bottleneck."""


def simulated(scenario: Scenario, seeds: list[int]) -> Result:
    """Runs by simulation."""
    return run(scenario, seeds)


def twins(scenario: Scenario, flow: str) -> tuple[list[Scenario], Scenario | None]:
    """The scenario with one TCP in place of `flow` on each of its paths, and without it.

    The second is None if nobody else is there. Raises ValueError if there is no such flow, or it is more
    than one user.
    """
    document = tomllib.loads(scenario.text)
    flows: list[dict[str, Any]] = document["flow"]
    ensemble = next((one for one in flows if one["name"] == flow), None)
    if ensemble is None:
        names = ", ".join(one["name"] for one in flows)
        raise ValueError(f"there is no flow {flow!r}; the flows are {names}")
    if (users := scenario.plan()["classes"][flows.index(ensemble)]["count"]) != 1:
        raise ValueError(f"flow {flow!r} has {users} users; fairness is defined for one ensemble")
    own = {"controller", "path"}
    tcp = {key: value for key, value in ensemble.items() if key not in own}
    others = [one for one in flows if one is not ensemble]

    def twin(flows: list[dict[str, Any]], name: str) -> Scenario:
        import tomli_w

        return Scenario.parse(tomli_w.dumps({**document, "flow": flows}), f"{scenario.name} {name}")

    alone = [
        twin(
            [*others, {**tcp, "controller": "reno", "path": [path]}], f"with a TCP on path {number}"
        )
        for number, path in enumerate(ensemble["path"])
    ]
    return alone, twin(others, f"without {flow}") if others else None


def reference(
    scenario: Scenario, flow: str, seeds: Iterable[int] = (1,), *, runs: Runs = simulated
) -> Reference:
    """What one TCP gets on each path of `flow` in its place, and what is unused without it.

    `runs` produces results, by simulation unless told. Raises ValueError as `twins` does, and for a path
    without a link that has a rate.
    """
    chosen = list(seeds)
    with_tcp, without = twins(scenario, flow)
    results = [runs(one, chosen) for one in with_tcp]
    bottlenecks = tuple(bottleneck(result, flow) for result in results)
    empty = runs(without, chosen) if without else None
    rates = {link["name"]: link["rate_bps"] for link in scenario.plan()["links"]}
    used = {
        link: np.zeros(len(chosen)) if empty is None else empty.link(link, "utilisation")
        for link in bottlenecks
    }
    return Reference(
        flow,
        bottlenecks,
        np.array([result.rate(flow) for result in results]),
        {link: rates[link] * np.maximum(1 - used[link], 0.0) for link in bottlenecks},
        {link: float(rates[link]) for link in bottlenecks},
    )


def bottleneck(result: Result, flow: str) -> str:
    """The link of a TCP's path that is used most, in the mean over replications."""
    plan = result.plan
    path = plan["classes"][result.classes.index(flow)]["paths"][0]
    links = [plan["links"][link] for link in path["links"]]
    names: list[str] = [link["name"] for link in links if link["rate_bps"]]
    if not names:
        raise ValueError(
            f"a path of flow {flow!r} has no link with a rate: nothing is its bottleneck"
        )
    return max(names, key=lambda name: float(result.link(name, "utilisation").mean()))


def tcp_fairness(result: Result, reference: Reference, *, margin: float = 0.05) -> Fairness:
    """Both definitions for a result of any world, by means over its replications.

    `result` is of the scenario that `reference` was made for. Raises KeyError if the flow is not in it,
    ValueError if it has another number of paths.
    """
    if reference.flow not in result.classes:
        raise KeyError(f"there is no flow {reference.flow!r} in this result")
    paths = result.plan["classes"][result.classes.index(reference.flow)]["paths"]
    if len(paths) != len(reference.bottlenecks):
        raise ValueError(
            f"flow {reference.flow!r} has {len(paths)} paths and the reference "
            f"{len(reference.bottlenecks)}; they must be of one scenario"
        )
    taken = [result.path(reference.flow, p, "throughput_bps").mean() for p in range(len(paths))]
    spare = {link: float(unused.mean()) for link, unused in reference.spare_bps.items()}
    tcp = reference.tcp_bps.mean(axis=1).tolist()
    return ensemble_fairness(
        taken, reference.bottlenecks, tcp, spare, reference.capacities_bps, margin=margin
    )
