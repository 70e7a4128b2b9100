"""Scenarios by whatever names them: a file, a shipped scenario, a cell of a document."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec

from . import result, scenario
from ._core import ScenarioError
from .result import Result
from .scenario import Scenario

P = ParamSpec("P")


def load(source: str | Path) -> Scenario:
    """A scenario from a file, one that comes with the package by its name, or a cell of a document
    such as "khalili:c-lia-30": its controller and overrides are written into the scenario.

    Files of traces and opportunities that it names, found from where it is, come into it: so a
    result has them.

    Raises ScenarioError when there is no such file, scenario or cell, it is not text, or it is
    wrong.
    """
    key, colon, name = str(source).partition(":")
    if not colon or "/" in key or Path(source).is_file():
        return scenario.load(source)
    from .papers.cells import cell

    try:
        return cell(key, name)
    except KeyError as error:
        raise ScenarioError(str(error)) from None


def _named(
    world: Callable[Concatenate[Scenario | str, P], Result],
) -> Callable[Concatenate[Scenario | str, P], Result]:
    """The same function, which also takes what `load` takes."""

    @wraps(world)
    def run(scenario: Scenario | str, /, *words: P.args, **options: P.kwargs) -> Result:
        return world(load(scenario) if isinstance(scenario, str) else scenario, *words, **options)

    return run


run = _named(result.run)
"""Simulates a scenario; see `anabranch.result.run`."""
