"""Cells of documents as scenarios: `khalili:c-lia-30` is a cell of the draft's Table 3."""

from __future__ import annotations

from dataclasses import replace

from ..offers import UnknownName, nearest, unknown
from ..scenario import Scenario, load
from .laboratory import SIMULATION, Configuration
from .registry import PAPERS


def cells(key: str) -> dict[str, Configuration]:
    """The configurations of a document by name: a shipped scenario, a controller and overrides.

    Raises KeyError for an unknown document.
    """
    if key not in PAPERS:
        raise unknown("document", key, PAPERS, "the documents are")
    found: dict[str, Configuration] = PAPERS[key].configurations_of(SIMULATION)
    return found


def cell(key: str, name: str) -> Scenario:
    """The scenario of a cell, with its controller and overrides written into it.

    Raises KeyError for an unknown document or cell.
    """
    known = cells(key)
    if name not in known:
        near = nearest(name, known)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UnknownName(
            f"{key} has no cell {name!r}{hint}\nhelp: `anabranch list cells {key}` shows its {len(known)} cells"
        )
    found = known[name]
    whole = load(found.scenario)
    scenario = whole.changed(
        controller=found.controller,
        overrides=found.overrides,
        name=f"{key}:{name}",
        source=f"the configuration {name} of {key}, made from {found.scenario}: {whole.plan().source}",
    )
    return replace(scenario, name=f"{key}:{name}")
