"""Sweeps: many runs, on threads or a cluster, in a store that is never half."""

from .axes import Axis, axis
from .configuration import Configuration
from .front import Swept, sweep
from .parts import StoreError
from .results import maker
from .store import Failure, Store
from .sweep import Progress, Sweep

__all__ = [
    "Axis",
    "Configuration",
    "Failure",
    "Progress",
    "Store",
    "StoreError",
    "Sweep",
    "Swept",
    "axis",
    "maker",
    "sweep",
]
