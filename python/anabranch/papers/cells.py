"""Cells of documents as scenarios: `khalili:c-lia-30` is a cell of the draft's Table 3."""

from __future__ import annotations

from dataclasses import replace

from ..offers import UnknownName, find, offer
from ..scenario import Scenario, load
from .laboratory import SIMULATION, Configuration
from .registry import PAPERS, opened


def cells(key: str) -> dict[str, Configuration]:
    """The configurations of a document or a folder by name: a scenario, a controller and overrides.

    Raises KeyError for an unknown document, and LedgerError for a folder that is wrong.
    """
    return opened(key).configurations_of(SIMULATION)


def cell(key: str, name: str) -> Scenario:
    """The scenario of a cell, with its controller and overrides written into it.

    Raises KeyError for an unknown document or cell.
    """
    known = cells(key)
    named = find(name, known)
    if named is None:
        raise UnknownName(
            f"{key} has no cell {name!r}{offer(name, known)}\nhelp: `anabranch list cells {key}` shows its {len(known)} cells"
        )
    key, name = find(key, PAPERS) or key, named
    found = known[name]
    whole = load(found.scenario)
    scenario = whole.changed(
        controller=found.controller,
        overrides=found.overrides,
        name=f"{key}:{name}",
        source=f"the configuration {name} of {key}, made from {found.scenario}: {whole.plan().source}",
    )
    return replace(scenario, name=f"{key}:{name}", cell=f"{key}:{name}")
