"""TCP Fairness in Multipath Transport Protocols (R. H. Tse, honors thesis, Brown University, 2006)."""

# Importing them registers the claims.
from . import (
    definitions,
    ideal,
    independent,
    placement,
    schemes,
    shared,
    transport,
    twopaths,
    wishes,
)
from .figures import sections
from .paper import PAPER

PAPER.sections = sections

__all__ = [
    "PAPER",
    "definitions",
    "ideal",
    "independent",
    "placement",
    "schemes",
    "shared",
    "transport",
    "twopaths",
    "wishes",
]
