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

MOST_BITS = 4096
"""Bits of whole numbers, for the same reason: powers of powers."""

MOST_PARTS = 100_000
"""Parts of a list or a text that is multiplied."""


def applied(op: ast.AST, *values: Any) -> Any:
    """The value of an operator.

    Raises ValueError for a power of more than `MOST_POWER`, for a whole number of more than
    `MOST_BITS` bits, for more than `MOST_PARTS` copies, and for the remainder of a text.
    """
    if isinstance(op, ast.Pow) and _largest(values[1]) > MOST_POWER:
        raise ValueError(f"a power of more than {MOST_POWER}")
    if isinstance(op, ast.Mod) and isinstance(values[0], str):
        raise ValueError("a text has no remainder")
    if isinstance(op, ast.Mult) and _copies(*values) > MOST_PARTS:
        raise ValueError(f"a text or a list of more than {MOST_PARTS} parts")
    found = OPERATORS[type(op)](*values)
    if isinstance(found, int) and found.bit_length() > MOST_BITS:
        raise ValueError(f"a whole number of more than {MOST_BITS} bits")
    return found


def _copies(one: Any, other: Any) -> int:
    """The parts of a list or a text that is multiplied; 0 for the product of numbers."""
    for many, times in ((one, other), (other, one)):
        if isinstance(many, str | list | tuple) and isinstance(times, int):
            return len(many) * times
    return 0


def _largest(exponent: Any) -> Any:
    """The largest magnitude of an exponent, which may be an array."""
    size = abs(exponent)
    return size.max() if getattr(size, "ndim", 0) else size
