"""The source documents: experiments, published numbers, verdicts."""

from .checking import check
from .findings import Check, Finding
from .laboratory import Configuration, Laboratory
from .ledger import Claim
from .library import Cell, Link, Metric, Users, measure, without_runs
from .paper import Paper
from .reading import LedgerError
from .registry import PAPERS, evaluate, opened, select

__all__ = [
    "PAPERS",
    "Cell",
    "Check",
    "Claim",
    "Configuration",
    "Finding",
    "Laboratory",
    "LedgerError",
    "Link",
    "Metric",
    "Paper",
    "Users",
    "check",
    "evaluate",
    "measure",
    "opened",
    "select",
    "without_runs",
]
