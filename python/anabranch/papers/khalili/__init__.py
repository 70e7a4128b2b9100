"""Performance Issues with MPTCP (draft-khalili-mptcp-performance-issues-04, October 2013)."""

from . import dynamics, structure, tables, theory  # noqa: F401  (they register the claims)
from .paper import PAPER
from .sidebyside import rows

PAPER.side_by_side = rows

__all__ = ["PAPER"]
