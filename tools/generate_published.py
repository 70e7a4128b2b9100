"""Writes the published rates that the explorer shows, from [[rates]] of the papers' ledgers: for
each cell, and for the shipped scenarios that are the same without overrides.

Run it after a change of a ledger; `--check` only says whether that was forgotten. The page has them
as a file because `papers` needs results, and a result can show the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from anabranch.explorer.data import Published
from anabranch.papers import PAPERS
from anabranch.papers.laboratory import Configuration
from anabranch.papers.paper import Paper
from anabranch.papers.tabled import entries
from anabranch.plan import Plan
from anabranch.scenario import load, shipped

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "python/anabranch/explorer/published.json"

BITS = {"Mbps": 1e6}
"""Bit/s of the units that ledgers have."""


def main() -> int:
    """Writes or checks the file."""
    rows = [row for paper in PAPERS.values() for row in published(paper)]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    wanted = f"[\n{lines}\n]\n"
    if FILE.exists() and FILE.read_text("utf-8") == wanted:
        return 0
    if "--check" in sys.argv:
        print(f"{FILE.relative_to(ROOT)} is stale: run tools/generate_published.py")
        return 1
    FILE.write_text(wanted, encoding="utf-8")
    return 0


def published(paper: Paper) -> Iterator[Published]:
    """The published rates of a paper."""
    for _, entry in entries(paper):
        if "claim" not in entry:
            continue
        cell, claim = paper.cells[entry["cell"]], paper.claims[entry["claim"]]
        expected = claim.expected[entry["expected"]]
        settings = [(cell.scenario, cell.overrides)] if cell.overrides else []
        for scenario, overrides in [*settings, *((name, ()) for name in alike(cell))]:
            yield Published(
                scenario=scenario,
                controller=cell.controller or "",
                overrides=[*overrides],
                users=entry["users"],
                bps=round(expected["value"] * BITS[expected["unit"]]),
                claim=claim.id,
                source=f"{paper.title}, {claim.source}",
            )


def alike(cell: Configuration) -> Iterator[str]:
    """The shipped scenarios that are a cell without its overrides."""
    wanted = nameless(cell.scenario, cell.controller, cell.overrides)
    return (name for name in shipped() if nameless(name, cell.controller) == wanted)


@cache
def nameless(scenario: str, controller: str | None, overrides: tuple[str, ...] = ()) -> Plan:
    """The plan of a scenario without what it is called."""
    plan = load(scenario).plan(controller=controller, overrides=overrides)
    return replace(plan, name="", title="", source="", choices=[], warnings=[])


if __name__ == "__main__":
    sys.exit(main())
