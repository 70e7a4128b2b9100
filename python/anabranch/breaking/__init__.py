"""The search for the smallest network on which a controller breaks a goal.

    >>> bench, outcome = ab.breaking.hunt("lia", "everybody-loses", trials=500)
    >>> outcome.finding.network

A goal (`GOALS`) is a score of a network's runs and a limit. A search draws networks within physical
ranges (`Ranges`) and learns which ones come near the limit. A broken network is shrunk, and what is
left is confirmed on seeds that nothing before has used. A finding is one network and no more: a
search that finds nothing proves nothing.

Each part is imported when it is first used: Optuna takes long to import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .drawing import Needs
    from .finding import Told
    from .front import hunt
    from .goals import GOALS
    from .hunting import Finding, Outcome
    from .kind import Goal, Part
    from .network import Event, Link, Network, Path, User
    from .own import goal
    from .ranges import Ranges
    from .trial import Trial
    from .variants import reno_on_every_path, tcp_on_each_path

__all__ = [
    "GOALS",
    "Event",
    "Finding",
    "Goal",
    "Link",
    "Needs",
    "Network",
    "Outcome",
    "Part",
    "Path",
    "Ranges",
    "Told",
    "Trial",
    "User",
    "goal",
    "hunt",
    "reno_on_every_path",
    "tcp_on_each_path",
]

_HOMES = {
    "GOALS": "goals",
    "Event": "network",
    "Finding": "hunting",
    "Goal": "kind",
    "Link": "network",
    "Needs": "drawing",
    "Network": "network",
    "Outcome": "hunting",
    "Part": "kind",
    "Path": "network",
    "Ranges": "ranges",
    "Told": "finding",
    "Trial": "trial",
    "User": "network",
    "goal": "own",
    "hunt": "front",
    "reno_on_every_path": "variants",
    "tcp_on_each_path": "variants",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
