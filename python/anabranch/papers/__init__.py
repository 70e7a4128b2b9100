"""The source documents: experiments, published numbers, verdicts."""

from .document import Paper
from .findings import Check, Finding
from .laboratory import Cell, Laboratory
from .ledger import Claim, claims
from .registry import PAPERS, evaluate, select

__all__ = [
    "PAPERS",
    "Cell",
    "Check",
    "Claim",
    "Finding",
    "Laboratory",
    "Paper",
    "claims",
    "evaluate",
    "select",
]
