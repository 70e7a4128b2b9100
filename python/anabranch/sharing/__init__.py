"""Detection of shared bottlenecks: of captures, and its errors on random networks.

The detectors themselves are the crate `sharing`; controllers use them as LAW+sbd.
"""

from __future__ import annotations

from .drawing import DURATION_S, Network, Ranges, document, draw
from .errors import Errors, Judged, Rate, judge, measure

__all__ = [
    "DURATION_S",
    "Errors",
    "Judged",
    "Network",
    "Ranges",
    "Rate",
    "document",
    "draw",
    "judge",
    "measure",
]
