"""What the plans of cells have, without a run: links, paths, coding, and changes of loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...plan import Path as PlanPath
from ...plan import Plan
from ..laboratory import Laboratory
from ..library import Cell, Link, measure, plan_of, without_runs


def _paths(plan: Plan) -> Iterator[tuple[str, PlanPath]]:
    """The paths of all classes by name, such as "multipath 0"."""
    for one in plan.classes:
        for number, path in enumerate(one.paths):
            yield f"{one.name} {number}", path


@measure
@without_runs
def ways(lab: Laboratory, cell: Cell) -> dict[str, list[str]]:
    """The links of each path by its class and number."""
    plan: Plan = plan_of(lab.configurations[cell])
    return {name: [plan.links[i].name for i in path.links] for name, path in _paths(plan)}


@measure
@without_runs
def base_rtts_ms(lab: Laboratory, cell: Cell) -> dict[str, float]:
    """The round trip of each path with empty queues, in ms."""
    plan: Plan = plan_of(lab.configurations[cell])
    return {name: round(path.base_rtt_s * 1e3, 9) for name, path in _paths(plan)}


@measure
@without_runs
def redundancies(lab: Laboratory, cell: Cell) -> dict[str, float]:
    """The redundancy of each coded path."""
    plan: Plan = plan_of(lab.configurations[cell])
    return {name: path.coding.redundancy for name, path in _paths(plan) if path.coding}


@measure
@without_runs
def losses(lab: Laboratory, cell: Cell) -> dict[str, float]:
    """The imposed loss of each link that has one."""
    plan: Plan = plan_of(lab.configurations[cell])
    return {link.name: link.loss for link in plan.links if link.loss}


@measure
@without_runs
def of_link(lab: Laboratory, cell: Cell, link: Link, key: str) -> Any:
    """A quantity of a link in the plan."""
    plan: Plan = plan_of(lab.configurations[cell])
    (one,) = [one for one in plan.links if one.name == link]
    return getattr(one, key)


@measure
@without_runs
def loss_steps(lab: Laboratory, cell: Cell, link: Link) -> list[tuple[float, float]]:
    """When the imposed loss of a link changes, in s, and to what."""
    changes = of_link(lab, cell, link, "changes")
    return [(one.at_s, one.loss) for one in changes if one.loss is not None]


@measure
@without_runs
def udp_kbps(lab: Laboratory, cell: Cell) -> list[float]:
    """The rates at which applications send, in kb/s."""
    plan: Plan = plan_of(lab.configurations[cell])
    return [one.app_rate_bps / 1e3 for one in plan.classes if one.app_rate_bps]
