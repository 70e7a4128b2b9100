"""Several networks in one scenario, so that the kernel runs them at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def together(name: str, networks: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Scenarios as nested data, by name, in one: nothing of one touches another.

    The name of a network stands before those of its links and flows. All else is of the first.
    """
    links: list[dict[str, Any]] = []
    flows: list[dict[str, Any]] = []
    for network, document in networks.items():
        links += [link | {"name": f"{network}-{link['name']}"} for link in document["link"]]
        for flow in document["flow"]:
            paths = [
                path | {"links": [f"{network}-{link}" for link in path["links"]]}
                for path in flow["path"]
            ]
            flows.append(flow | {"name": f"{network}-{flow['name']}", "path": paths})
    first = next(iter(networks.values()))
    return first | {"name": name, "link": links, "flow": flows}
