"""Performance Issues with MPTCP (draft-khalili-mptcp-performance-issues-04, October 2013)."""

from . import dynamics, structure, tables, theory  # noqa: F401  (they register the claims)
from .paper import PAPER

__all__ = ["PAPER"]
