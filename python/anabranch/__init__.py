"""Anabranch: the laboratory and toolbox for multipath congestion control.

    >>> import anabranch as ab
    >>> scenario = ab.load("khalili/scenario-c")
    >>> result = ab.run(scenario, seeds=range(1, 6), controller="olia")
    >>> print(result.table())
    >>> ab.plot.windows(result).savefig("windows.png")

Heavy libraries are imported when a function needs them, so importing this package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._core import ScenarioError, __version__
from .result import Result, run
from .scenario import Scenario, load

if TYPE_CHECKING:
    from . import fairness, papers, plot, report, theory

__all__ = [
    "Result",
    "Scenario",
    "ScenarioError",
    "__version__",
    "fairness",
    "load",
    "papers",
    "plot",
    "report",
    "run",
    "theory",
]

_LAZY = ("fairness", "papers", "plot", "report", "theory")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
