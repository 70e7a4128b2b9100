"""Anabranch: the laboratory and toolbox for multipath congestion control.

    >>> import anabranch as ab
    >>> result = ab.run("khalili/scenario-c", seeds=range(1, 6), controller="olia", series=True)
    >>> print(result.table())
    >>> ab.plot.save(ab.plot.windows(result), "windows.png")

Everything is imported when it is first used, so importing this package takes no time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        breaking,
        capture,
        evaluation,
        fairness,
        linux,
        papers,
        plot,
        report,
        sweeps,
        theory,
    )
    from ._core import PathView, ScenarioError, __version__
    from .controller import Controller
    from .evaluation.evaluating import Evaluation, evaluate
    from .result import Recording, Result
    from .scenario import Scenario
    from .sources import load, run
    from .sweeps.front import sweep
    from .translation import Note, Param
    from .written import Law, law, several

__all__ = [
    "Controller",
    "Evaluation",
    "Law",
    "Note",
    "Param",
    "PathView",
    "Recording",
    "Result",
    "Scenario",
    "ScenarioError",
    "__version__",
    "breaking",
    "capture",
    "evaluate",
    "evaluation",
    "fairness",
    "law",
    "linux",
    "load",
    "papers",
    "plot",
    "report",
    "run",
    "several",
    "sweep",
    "sweeps",
    "theory",
]

_HOMES = {
    "Controller": "controller",
    "PathView": "_core",
    "Evaluation": "evaluation.evaluating",
    "evaluate": "evaluation.evaluating",
    "Law": "written",
    "Note": "translation",
    "Param": "translation",
    "Recording": "result",
    "Result": "result",
    "Scenario": "scenario",
    "ScenarioError": "_core",
    "__version__": "_core",
    "law": "written",
    "load": "sources",
    "run": "sources",
    "several": "written",
    "sweep": "sweeps.front",
}
_MODULES = (
    "breaking",
    "capture",
    "evaluation",
    "fairness",
    "linux",
    "papers",
    "plot",
    "report",
    "sweeps",
    "theory",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
