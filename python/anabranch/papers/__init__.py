"""The source documents: experiments, published numbers, verdicts."""

from .document import Paper
from .findings import Check, Finding
from .laboratory import Configuration, Laboratory
from .ledger import Claim, claims
from .registry import PAPERS, evaluate, select

__all__ = [
    "PAPERS",
    "Check",
    "Claim",
    "Configuration",
    "Finding",
    "Laboratory",
    "Paper",
    "claims",
    "evaluate",
    "select",
]
