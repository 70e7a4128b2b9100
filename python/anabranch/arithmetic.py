"""Arithmetic of expressions that users write, in sweeps and in ledgers: Python's operators."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
"""By the kind of their node in a syntax tree."""

MOST_POWER = 64
"""Exponents; larger ones make numbers that take for ever."""


def applied(op: ast.AST, *values: Any) -> Any:
    """The value of an operator. Raises ValueError for a power of more than `MOST_POWER`."""
    if isinstance(op, ast.Pow) and _largest(values[1]) > MOST_POWER:
        raise ValueError(f"a power of more than {MOST_POWER}")
    return OPERATORS[type(op)](*values)


def _largest(exponent: Any) -> Any:
    """The largest magnitude of an exponent, which may be an array."""
    size = abs(exponent)
    return size.max() if getattr(size, "ndim", 0) else size
