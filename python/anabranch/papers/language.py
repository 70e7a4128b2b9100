"""The expressions of a ledger: arithmetic over results, in a small part of Python's syntax.

`rate("c-olia-10", "multipath") / rate("c-lia-10", "multipath") - 1` is one number for each seed.
A text with `{expression:format}` in it is a template.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arithmetic import OPERATORS, applied
from ..offers import offer
from .laboratory import NotRun

OTHERS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Invert: operator.invert,
}
"""Operators beside those of arithmetic: `&` and `|` are for truths of seeds."""

HEAD = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\((?P<parameters>[\w, ]*)\))?\Z")
"""A definition's key: `SIZES`, or `gain(n, users)`."""

WIDE = re.compile(r"\d{3}")
"""A width or a precision that no text needs."""

MOST_DEEP = 40
"""Definitions inside one another; more are a circle."""


class Problem(ValueError):
    """An expression is wrong, or has no value."""


class Unknown:
    """A value that only runs give: what an expression is before anything has been run."""

    def __repr__(self) -> str:
        """For messages."""
        return "a value of runs"


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Expression:
    """An expression or a template, parsed."""

    text: str
    tree: ast.expr = field(compare=False, repr=False)

    @classmethod
    def read(cls, text: str) -> Expression:
        """An expression. Raises Problem for anything else."""
        return cls(text, _parsed(text.strip(), text))

    @classmethod
    def template(cls, text: str) -> Expression:
        """A text with expressions in braces. Raises Problem."""
        if '"""' in text or "\\" in text:
            raise Problem(f"{text!r}: a text has no backslash and no three quotes")
        body = text + " " if text.endswith('"') else text
        return cls(text, _parsed(f'f"""{body}"""', text))

    @classmethod
    def of(cls, value: Any) -> Expression | Any:
        """A definition's value: a text is an expression, other data stands for itself."""
        return cls.read(value) if isinstance(value, str) else value


def _parsed(source: str, text: str) -> ast.expr:
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        raise Problem(f"{text!r} cannot be read: {why}") from None
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED) and type(node) not in (*OPERATORS, *OTHERS):
            raise Problem(f"{text!r} has {_named(node)}, which expressions do not have")
        if isinstance(node, ast.Call) and not isinstance(node.func, ast.Name):
            raise Problem(f"{text!r} calls something that is no name")
    return tree


ALLOWED = (
    *(ast.Constant, ast.Name, ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.UnaryOp),
    *(ast.BoolOp, ast.boolop, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.List, ast.Tuple),
    *(ast.Dict, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Subscript),
    *(ast.Slice, ast.Load, ast.Store, ast.Starred),
)


def _named(node: ast.AST) -> str:
    """A part of Python's syntax in words."""
    if isinstance(node, ast.Attribute):
        return f"an attribute, .{node.attr}"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()


@dataclass(frozen=True)
class Macro:
    """A definition with parameters."""

    parameters: tuple[str, ...]
    body: Expression


def definitions(table: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions of a table by name: constants, expressions and macros. Raises Problem."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        match = HEAD.match(key)
        if not match:
            raise Problem(f"{key!r} is no name, and no name with parameters")
        if match["name"] in found:
            raise Problem(f"{match['name']} is defined twice")
        body = Expression.of(value)
        if match["parameters"] is not None:
            names = tuple(name.strip() for name in match["parameters"].split(",") if name.strip())
            if not isinstance(body, Expression):
                raise Problem(f"{key} has parameters and no expression")
            body = Macro(names, body)
        found[match["name"]] = body
    return found


@dataclass(frozen=True)
class Defined:
    """A definition with parameters where it stands: its expression has the names of that place."""

    name: str
    macro: Macro
    home: Environment


class Environment:
    """Names and what they stand for; definitions are evaluated once, when first needed."""

    def __init__(
        self, defined: Mapping[str, Any], outer: Environment | None = None, tracing: bool = False
    ) -> None:
        """The names of `defined`, and those of `outer`; `tracing` before anything has been run."""
        self.defined = defined
        self._values: dict[tuple[str, int], Any] = {}
        self.outer = outer
        self.tracing: bool = tracing or (outer is not None and outer.tracing)
        self.depth: int = outer.depth + 1 if outer else 0
        self.skips: int = outer.skips if outer else 0
        """In how many loops inside one another an entry is left out whose cells have not been run."""
        self._busy: list[str] = []

    def defines(self, name: str) -> Any:
        """What the definition of a name is before it is evaluated. Raises Problem."""
        return self._home(name).defined[name]

    def value(self, name: str) -> Any:
        """What a name stands for. Raises Problem for an unknown one, and for a circle."""
        home = self._home(name)
        definition = home.defined[name]
        if isinstance(definition, Macro):
            return Defined(name, definition, home)
        if not isinstance(definition, Expression):
            return definition
        key = (name, self.skips)
        if key not in home._values:
            if name in home._busy:
                circle = " needs ".join([*home._busy[home._busy.index(name) :], name])
                raise Problem(f"definitions go round in a circle: {circle}")
            home._busy.append(name)
            inner = Environment({}, home)
            inner.skips = self.skips
            try:
                home._values[key] = inner.evaluated(definition)
            finally:
                home._busy.pop()
        return home._values[key]

    def _home(self, name: str) -> Environment:
        """The environment that defines a name. Raises Problem for an unknown one."""
        env: Environment | None = self
        while env is not None:
            if name in env.defined:
                return env
            env = env.outer
        raise Problem(f"there is no {name!r}{offer(name, self._names())}")

    def _names(self) -> list[str]:
        return [*self.defined, *(self.outer._names() if self.outer else ())]

    def evaluated(self, expression: Expression) -> Any:
        """The value of an expression here. Raises Problem, which quotes the expression."""
        try:
            return self._of(expression.tree)
        except (Problem, NotRun):
            raise
        except RecursionError:
            raise Problem(f"{expression.text!r} goes round in a circle") from None
        except Exception as error:  # a paper's own Python may raise anything
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            raise Problem(f"{expression.text!r} has no value: {kind}{error}") from error

    def _of(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self.value(name)
            case ast.JoinedStr(parts):
                texts = [self._of(part) for part in parts]
                return UNKNOWN if UNKNOWN in texts else "".join(texts)
            case ast.FormattedValue(inner, _, spec):
                value, form = self._of(inner), self._of(spec) if spec else ""
                if WIDE.search(str(form)):
                    raise Problem(f"the format {form!r} is of more than 99 characters")
                return UNKNOWN if UNKNOWN in (form,) or value is UNKNOWN else shown(value, form)
            case ast.BinOp(left, op, right):
                return self._applied(op, self._of(left), self._of(right))
            case ast.UnaryOp(op, operand):
                return self._applied(op, self._of(operand))
            case ast.BoolOp(op, parts):
                return self._both(op, parts)
            case ast.Compare(left, ops, rights):
                return self._compared(left, ops, rights)
            case ast.IfExp(test, yes, no):
                return self._chosen(test, yes, no)
            case ast.Call(ast.Name(name), arguments, keywords):
                return self._called(name, arguments, keywords)
            case ast.Subscript(of, index):
                value, place = self._of(of), self._of(index)
                return UNKNOWN if value is UNKNOWN or place is UNKNOWN else value[place]
            case ast.Slice(lower, upper, step):
                return slice(*(self._of(one) if one else None for one in (lower, upper, step)))
        return self._collected(node)

    def _collected(self, node: ast.expr) -> Any:
        """A list, a tuple or a dictionary, written out or by `for`."""
        match node:
            case ast.List(parts):
                return self._each(parts)
            case ast.Tuple(parts):
                return tuple(self._each(parts))
            case ast.Dict(keys, values):
                found: dict[Any, Any] = {}
                for key, value in zip(keys, values, strict=True):
                    for one in self._tried(value):
                        found |= one if key is None else {self._of(key): one}
                return found
            case ast.ListComp(element, loops) | ast.GeneratorExp(element, loops):
                rounds = list(self._rounds(loops))
                values = [value for env in rounds for value in self._tried(element, env)]
                return values if all(env.certain for env in rounds) else UNKNOWN
            case ast.DictComp(key, value, loops):
                rounds = list(self._rounds(loops))
                pairs = [(env._of(key), one) for env in rounds for one in self._tried(value, env)]
                return dict(pairs) if all(env.certain for env in rounds) else UNKNOWN
        raise Problem(f"{ast.unparse(node)!r} has no meaning here")

    def _each(self, parts: Sequence[ast.expr]) -> list[Any]:
        found: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                values = self._of(part.value)
                found += [UNKNOWN] if values is UNKNOWN else list(values)
            else:
                found.append(self._of(part))
        return found

    def _tried(self, node: ast.expr, env: Environment | None = None) -> list[Any]:
        """A value; none where it needs a cell that has not been run and such ones are left out."""
        try:
            return [(env or self)._of(node)]
        except NotRun:
            if self.skips:
                return []
            raise

    certain = True
    """Whether the round of a loop is one that there is."""

    def _rounds(self, loops: Sequence[ast.comprehension]) -> Iterator[Environment]:
        """An environment for each round of some loops, the last one innermost."""
        first, *others = loops
        values = self._of(first.iter)
        unknown = values is UNKNOWN
        for value in [UNKNOWN] if unknown else values:
            inner = Environment(_bound(first.target, value), self)
            inner.certain = self.certain and not unknown
            inner.skips = max(self.skips - 1, 0)
            tests = [inner._of(test) for test in first.ifs]
            if UNKNOWN in [test for test in tests if test is UNKNOWN]:
                inner.certain = False
            elif not all(tests):
                continue
            if others:
                yield from inner._rounds(others)
            else:
                yield inner

    def _applied(self, op: ast.AST, *values: Any) -> Any:
        if any(value is UNKNOWN for value in values):
            return UNKNOWN
        return OTHERS[type(op)](*values) if type(op) in OTHERS else applied(op, *values)

    def _both(self, op: ast.boolop, parts: Sequence[ast.expr]) -> Any:
        """`and` and `or`; a trace evaluates all parts, for the cells that they name."""
        stops, values = isinstance(op, ast.Or), []
        for part in parts:
            values.append(self._of(part))
            if not self.tracing and bool(values[-1]) == stops:
                return values[-1]
        if any(value is UNKNOWN for value in values):
            return UNKNOWN
        return next((value for value in values if bool(value) == stops), values[-1])

    def _compared(self, left: ast.expr, ops: Sequence[ast.cmpop], rights: Sequence[Any]) -> Any:
        sides = [self._of(one) for one in (left, *rights)]
        results = [self._applied(op, a, b) for op, a, b in zip(ops, sides, sides[1:], strict=False)]
        if any(result is UNKNOWN for result in results):
            return UNKNOWN
        found = results[0]
        for result in results[1:]:
            found = np.logical_and(found, result)
        return found

    def _chosen(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> Any:
        value = self._of(test)
        if value is UNKNOWN:
            self._of(yes), self._of(no)
            return UNKNOWN
        return self._of(yes if value else no)

    def _called(
        self, name: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> Any:
        function = self.value(name)
        values = self._each(arguments)
        named = {word.arg: self._of(word.value) for word in keywords if word.arg}
        if isinstance(function, Defined):
            open_ = any(isinstance(one, ast.Starred) for one in arguments) and any(
                value is UNKNOWN for value in values
            )
            if open_:  # before a run nobody knows how many values there are
                values = [UNKNOWN] * len(function.macro.parameters)
            return self._expanded(function, values, named)
        if not callable(function):
            raise Problem(f"{name} is no function")
        if getattr(function, "traces", False):
            return function(*values, **named)
        if any(value is UNKNOWN for value in (*values, *named.values())):
            return UNKNOWN
        if self.tracing and (
            getattr(function, "expensive", False) or any(_has_unknown(value) for value in values)
        ):
            return UNKNOWN
        return function(*values, **named)

    def _expanded(self, one: Defined, values: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The value of a definition with parameters."""
        parameters = one.macro.parameters
        if self.depth > MOST_DEEP:
            raise Problem(f"{one.name} goes round in a circle")
        if named or len(values) != len(parameters):
            raise Problem(f"{one.name} takes {', '.join(parameters) or 'nothing'}")
        env = Environment(dict(zip(parameters, values, strict=True)), one.home)
        env.depth, env.skips = self.depth + 1, self.skips
        return env.evaluated(one.macro.body)


def _has_unknown(value: Any) -> bool:
    """Whether a value of runs is anywhere in a value."""
    if isinstance(value, dict):
        return any(_has_unknown(one) for one in value.values())
    if isinstance(value, list | tuple):
        return any(_has_unknown(one) for one in value)
    return value is UNKNOWN


def _bound(target: ast.expr, value: Any) -> dict[str, Any]:
    """The names that the target of a loop gives a value to."""
    match target:
        case ast.Name(name):
            return {name: value}
        case ast.Tuple(parts) | ast.List(parts):
            values = [UNKNOWN] * len(parts) if value is UNKNOWN else list(value)
            if len(values) != len(parts):
                raise Problem(f"{ast.unparse(target)!r} takes {len(parts)} values")
            found: dict[str, Any] = {}
            for part, one in zip(parts, values, strict=True):
                found |= _bound(part, one)
            return found
    raise Problem(f"{ast.unparse(target)!r} is no name")


def shown(value: Any, form: str = "") -> str:
    """A value in a text: an interval for values of seeds, each point of several by its name.

    A format is that of the mean.
    """
    from ..statistics import Interval, interval, significant

    if isinstance(value, dict):
        return ", ".join(f"{key}: {shown(one, form)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(shown(one, form) for one in value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, np.ndarray) and value.ndim:
        return format(float(np.mean(value)), form) if form else str(interval(value))
    if isinstance(value, Interval):
        return format(value.mean, form) if form else str(value)
    if isinstance(value, float | np.floating):
        return format(float(value), form) if form else significant(float(value))
    if form and isinstance(value, int | np.integer):
        return format(int(value), form)
    return str(value)
