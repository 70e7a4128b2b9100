"""Performance Issues with MPTCP (draft-khalili-mptcp-performance-issues-04, October 2013)."""

from . import dynamics, structure, tables, theory  # noqa: F401  (they register the claims)
from .paper import PAPER
from .sidebyside import rows, sensitivity

PAPER.side_by_side = rows
PAPER.moved = sensitivity
PAPER.shown = ("c-lia-10", "c-olia-10")

__all__ = ["PAPER"]
