"""Measures on the kernel what `lia+sbd` takes where all paths share, and where none do.

    sudo .venv/bin/python tools/couple_on_linux.py [REPLICATIONS]   # 90 s each; goes on

The networks are those of `anabranch.sharing.closed_loop`: 1, 2, 4 and 8 subflows beside four TCPs
over one link, and two subflows on links of their own, under `lia+sbd` and under Reno. They do not
touch, and run at once. Prints intervals and writes measurements/coupling-on-linux.json.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import Scenario, linux
from anabranch.files import atomic_write
from anabranch.sharing import closed_loop
from anabranch.statistics import interval

OUT = Path("measurements/coupling-on-linux.json")
LAW = "lia+sbd"
SUBFLOWS = (1, 2, 4, 8)
APART = 2
"""Subflows on links of their own."""

NETWORKS = {
    **{f"shared{n}": (closed_loop.shared(n), LAW) for n in SUBFLOWS},
    "apart": (closed_loop.disjoint(APART), LAW),
    "uncoupled": (closed_loop.disjoint(APART), "reno"),
}
TIMES = ("duration=80 s", "warmup=20 s")


def together() -> Scenario:
    """All networks in one scenario, with their names before those of links and flows."""
    links: list[dict[str, Any]] = []
    flows: list[dict[str, Any]] = []
    for name, (document, controller) in NETWORKS.items():
        links += [link | {"name": f"{name}-{link['name']}"} for link in document["link"]]
        for flow in document["flow"]:
            paths = [
                {"links": [f"{name}-{link}" for link in path["links"]]} for path in flow["path"]
            ]
            own = {"controller": controller} if flow.pop("subject", False) else {}
            flows.append(flow | own | {"name": f"{name}-{flow['name']}", "path": paths})
    first, _ = NETWORKS["apart"]
    return Scenario.written(first | {"name": "coupling", "link": links, "flow": flows})


def measure(replications: int) -> dict[str, Any]:
    """Runs what is missing; returns the rows."""
    kept: dict[str, Any] = json.loads(OUT.read_text()) if OUT.exists() else {"rows": []}
    kept["kernel"] = platform.release()
    scenario = together()
    for seed in range(len(kept["rows"]) + 1, replications + 1):
        found = linux.run(scenario, (seed,), overrides=TIMES, keep_invalid=True)
        rates = {one.name: round(float(found.rate(one.name).mean())) for one in found.plan.classes}
        row = {"seed": seed, "valid": found.runs[0].valid, "rate_bps": rates}
        kept["rows"].append(row)
        print(row, flush=True)
        atomic_write(OUT, json.dumps(kept, indent=1) + "\n")
    return kept


def told(rows: list[dict[str, Any]]) -> str:
    """A line for each network, with intervals over replications."""

    def of(name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.array([row["rate_bps"][name] for row in rows], float)

    lines = [
        f"{n} subflows, one link: {interval(of(f'shared{n}-subject') / of(f'shared{n}-tcp'))} TCPs"
        for n in SUBFLOWS
    ]
    part = interval(of("apart-subject") / of("uncoupled-subject"))
    lines.append(f"{APART} links: {part} of uncoupled")
    return "\n".join(lines)


if __name__ == "__main__":
    print(told(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 8)["rows"]))
