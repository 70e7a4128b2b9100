"""Scenario C with multipath users of several laws: one replication has the steps of all of them."""

from __future__ import annotations

from collections.abc import Iterable

from anabranch.scenario import Scenario, load


def beside(controllers: Iterable[str], users: int) -> Scenario:
    """So many multipath users under each of these controllers, by name or by text."""
    document = load("khalili/scenario-c").document()
    (multipath,) = (flow for flow in document["flow"] if flow["name"] == "multipath")
    others = [flow for flow in document["flow"] if flow is not multipath]
    start = {"count": users, "spread": "1 s"}
    document["flow"] = [
        multipath | start | {"name": f"multipath-{number}", "controller": controller}
        for number, controller in enumerate(controllers)
    ] + [flow | {"spread": "1 s"} for flow in others]
    return Scenario.written(document)
