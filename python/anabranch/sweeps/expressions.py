"""Arithmetic over the values of axes: values that follow from others, and conditions.

`flow.multipath.count * 1.5 Mb/s` is a number and a unit; a key of an axis stands for its number.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..arithmetic import OPERATORS, applied
from .functions import IN_FILE, Derived, function
from .numbers import NUMBER

UNIT = re.compile(r"\s+([A-Za-zµ%][A-Za-zµ%/]*)\s*$")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "round": round,
    "abs": abs,
    "sqrt": math.sqrt,
    "log": math.log,
    "ceil": math.ceil,
    "floor": math.floor,
}


@dataclass(frozen=True)
class Expression:
    """An expression over keys of axes."""

    text: str
    unit: str = ""
    keys: dict[str, str] = field(default_factory=dict, compare=False)
    """The keys of axes in it, by what stands for them."""
    tree: ast.expr = field(default_factory=lambda: ast.Constant(0), compare=False)

    @classmethod
    def read(cls, text: str, keys: list[str], unit: bool = True) -> Expression:
        """The expression in a text; the last word is a unit, if one is expected and it is one.

        Raises ValueError for what is no arithmetic over those keys.
        """
        body, found = text.strip(), ""
        names: dict[str, str] = {}
        for number, key in enumerate(sorted(keys, key=len, reverse=True)):
            name = f"_{number}_"
            # A key may have hyphens and dots, and one may begin another.
            body, times = re.subn(rf"(?<![\w.]){re.escape(key)}(?![\w.])", name, body)
            if times:
                names[name] = key
        if unit and (match := UNIT.search(body)):
            body, found = body[: match.start()], match[1]
        try:
            tree = ast.parse(body.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            raise ValueError(f"{text!r} is no arithmetic over {', '.join(keys)}") from None
        _check(tree, names, text, keys)
        return cls(text, found, names, tree)

    def value(self, values: Mapping[str, str]) -> Any:
        """What it is at these values of axes. Raises ValueError where a value is no number, or it
        has none there.
        """
        numbers = {}
        for name, key in self.keys.items():
            match = NUMBER.match(values[key])
            if not match:
                raise ValueError(f"{self.text!r} takes {key}, and {values[key]!r} is no number")
            numbers[name] = float(match[1])
        try:
            return _evaluated(self.tree, numbers)
        except (ArithmeticError, TypeError, ValueError) as error:
            at = ", ".join(f"{key} = {values[key]}" for key in self.keys.values())
            raise ValueError(f"{self.text!r} has no value at {at}: {error}") from None

    def written(self, values: Mapping[str, str]) -> str:
        """The same as `--set` takes it."""
        found = self.value(values)
        try:
            number = float(found)
        except (TypeError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{self.text!r} is {found}, and a finite number belongs there")
        return f"{number:.12g}{' ' + self.unit if self.unit else ''}"


class Value(Protocol):
    """What follows from the values of axes."""

    @property
    def text(self) -> str:
        """How it was written."""

    @property
    def keys(self) -> Mapping[str, str]:
        """The keys of axes whose numbers it takes, by any name."""

    def written(self, values: Mapping[str, str]) -> str:
        """The value as `--set` takes it. Raises ValueError where it has none."""


Derivable = str | Callable[[dict[str, str]], object]
"""What a derived value may be given as: an expression, FILE.py:FUNCTION, or a function."""


def derived(given: Derivable, keys: list[str]) -> Value:
    """What an expression says, or a function: one of Python, or `FILE.py:FUNCTION`.

    Raises ValueError.
    """
    if callable(given):
        return Derived(getattr(given, "__qualname__", repr(given)), given)
    if IN_FILE.match(given):
        return Derived(given, function(given, "a derived value"))
    return Expression.read(given, keys)


def check_units(value: Value, axes: Mapping[str, Collection[str]]) -> None:
    """Raises ValueError if a key is taken as a number whose values have several units."""
    for key in value.keys.values():
        matches = [NUMBER.match(text) for text in sorted(axes.get(key, ()))]
        units = dict.fromkeys(match[2] or "" for match in matches if match)
        if len(units) > 1:
            raise ValueError(
                f"{value.text!r} takes the numbers of {key} without their units, and its values "
                f"have several: {', '.join(unit or 'none' for unit in units)}; write them in one"
            )


def _check(node: ast.expr, names: dict[str, str], text: str, keys: list[str]) -> None:
    for part in ast.walk(node):
        called = {id(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
        known_name = isinstance(part, ast.Name) and (
            part.id in FUNCTIONS if id(part) in called else part.id in names
        )
        if isinstance(part, ast.Name) and not known_name:
            raise ValueError(
                f"{text!r} has {part.id!r}, which is no axis: those are {', '.join(keys)}"
            )
        if isinstance(part, ast.Constant) and not isinstance(part.value, int | float):
            raise ValueError(f"{text!r} has {part.value!r}, which is no number")
        if isinstance(part, ast.Call) and not isinstance(part.func, ast.Name):
            raise ValueError(f"{text!r} is no arithmetic over {', '.join(keys)}")
        allowed = (
            ast.BinOp,
            ast.UnaryOp,
            ast.BoolOp,
            ast.Compare,
            ast.Call,
            ast.Name,
            ast.Constant,
        )
        known = isinstance(part, (*allowed, ast.boolop, ast.Load)) or type(part) in OPERATORS
        if not known:
            raise ValueError(f"{text!r} is no arithmetic over {', '.join(keys)}")


def _evaluated(node: ast.expr, numbers: Mapping[str, float]) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return numbers[name]
        case ast.UnaryOp(op, operand):
            return applied(op, _evaluated(operand, numbers))
        case ast.BinOp(left, op, right):
            return applied(op, _evaluated(left, numbers), _evaluated(right, numbers))
        case ast.BoolOp(ast.And(), parts):
            return all(_evaluated(part, numbers) for part in parts)
        case ast.BoolOp(_, parts):
            return any(_evaluated(part, numbers) for part in parts)
        case ast.Compare(left, ops, rights):
            sides = [_evaluated(one, numbers) for one in (left, *rights)]
            return all(applied(op, a, b) for op, a, b in zip(ops, sides, sides[1:], strict=False))
        case ast.Call(ast.Name(name), parts) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_evaluated(part, numbers) for part in parts))
    raise ValueError("no arithmetic")
