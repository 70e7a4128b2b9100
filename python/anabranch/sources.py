"""Loads scenarios by name: a file, a shipped scenario, or a cell of a document."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from . import result, scenario
from ._core import ScenarioError
from .scenario import Scenario

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class World(Protocol[P, R]):
    """A function that runs a scenario, which may be given by name."""

    def __call__(self, scenario: Scenario | str | Path, *words: P.args, **options: P.kwargs) -> R:
        """Runs it; raises ScenarioError as `load` does, and the errors of the world."""


def load(source: str | Path) -> Scenario:
    """A scenario from a file, one that comes with the package by its name, or a cell of a document
    such as "khalili:c-lia-30" or "./my-paper:lia-10": its controller and overrides are written into
    the scenario.

    Trace and opportunity files are found relative to the scenario's file and embedded, so that a
    result contains them.

    Raises ScenarioError when there is no such file, scenario or cell, or when it is not text or
    invalid.
    """
    place = _cell_of(str(source))
    if not place or Path(source).is_file():
        return scenario.load(source)
    from .papers import LedgerError
    from .papers.cells import cell

    try:
        return cell(*place)
    except (KeyError, LedgerError) as error:
        raise ScenarioError(str(error)) from None


def _cell_of(source: str) -> tuple[str, str] | None:
    """A document's key or a paper's folder, and the name of a cell; None for a scenario.

    Names of folders and of cells may have colons.
    """
    for colon in (at for at, letter in enumerate(source) if letter == ":"):
        if (Path(source[:colon]) / "ledger.toml").is_file():
            return source[:colon], source[colon + 1 :]
    key, colon_, name = source.partition(":")
    return (key, name) if colon_ and "/" not in key else None


def named(world: Callable[Concatenate[Scenario, P], R]) -> World[P, R]:
    """The same function, which also accepts every argument of `load`."""

    @wraps(world)
    def run(scenario: Scenario | str | Path, *words: P.args, **options: P.kwargs) -> R:
        whole = scenario if isinstance(scenario, Scenario) else load(scenario)
        return world(whole, *words, **options)

    return run


run = named(result.run)
"""Simulates a scenario; see `anabranch.result.run`."""
