"""From the syntax tree of a Python function to the text of a law."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ._core import ScenarioError

SYMBOLS = ("w", "rtt", "x", "l", "rtt_min")
"""Attributes of a path."""

WORDS = {*SYMBOLS, "n", "w_tot", "acked", "rtt_last", "p", "growth", "backoff", "min_ssthresh"} | {
    *("law", "source", "param", "note", "on", "steady", "with", "if", "then", "else"),
    *("and", "or", "not", "min", "max", "abs", "sqrt", "exp", "ln", "is_largest", "is_smallest"),
    *("inf", "slow_start", "arithmetic", "since_loss", "between_losses", "least_rtt"),
}
"""Names that the language of laws has taken."""

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "^",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.And: "and",
    ast.Or: "or",
}

FUNCTIONS = {"min": "min", "max": "max", "abs": "abs", "sqrt": "sqrt", "exp": "exp", "log": "ln"}
"""Functions of Python and of `math`, with their names in laws."""

SETS = {"largest": "is_largest", "smallest": "is_smallest"}
"""`largest(paths, key=…)` and `smallest(…)`, which only the translation knows."""

LETTERS = "sqtu"
"""Letters of paths in reductions, one inside the other."""

MOST_NESTED = 3


@dataclass(frozen=True)
class Param:
    """A parameter of a law that is a Python function, with its range and meaning."""

    default: float
    range: str = "(-inf, inf)"
    """Such as "(0, 1]"."""
    meaning: str = ""


@dataclass(frozen=True)
class Note:
    """A variable of each path in a law that is a Python function: its value when the path joins,
    and its meaning.

    Every path has the note as an attribute. The functions `on_ack`, `on_loss` and `steady` inside
    the law update it, each for its own path:

    >>> import anabranch as ab
    >>> @ab.law(wait=20, calm=ab.Note(0, "segments acknowledged since the last loss"))
    ... def patient(r, paths, wait):
    ...     def on_ack(r):
    ...         r.calm += r.acked
    ...
    ...     def on_loss(r):
    ...         r.calm = 0
    ...
    ...     def steady(r):
    ...         r.calm = 1 / r.p
    ...
    ...     share = 0.5 if r.calm < wait else 1
    ...     return share / (len(paths) * sum(s.w for s in paths)), r.w / 2
    """

    initial: float
    meaning: str = ""


@dataclass(frozen=True)
class Update:
    """A function inside a law that updates notes."""

    begins: str
    """Prefix of its statements in the text of a law."""
    symbols: tuple[str, ...]
    """Attributes of its path, besides notes."""
    notes: bool
    """Whether it can read the notes of its path."""


UPDATES = {
    "on_ack": Update("on ack: ", ("acked", "rtt", "rtt_last"), notes=True),
    "on_loss": Update("on loss: ", (), notes=True),
    "steady": Update("steady ", ("p", "rtt"), notes=False),
}
"""By the names of the functions."""


class LawError(ScenarioError):
    """A function uses a construct that the language of laws lacks."""


@dataclass
class Places:
    """Where a function is defined, and which of its lines gave each line of the law."""

    file: str
    first: int
    """The line of the file at which the function begins, from 1."""
    source: list[str]
    indent: int
    """Lines that precede the function in the parsed text."""
    lines: list[int]
    """For each line of the law, the line of the parsed text."""

    def of(self, wrong: str) -> str:
        """An error message of the law's language, with the place in the function."""
        match = re.search(r"the law, line (\d+), character \d+: (.*)", wrong, re.DOTALL)
        if match is None:
            return f"{self.file}:{self.first}: {wrong}"
        message = match[2].partition("\n")[0]
        at = self.lines[min(int(match[1]), len(self.lines)) - 1] - self.indent
        text = self.source[at - 1].rstrip("\n") if 0 < at <= len(self.source) else ""
        indent = " " * (len(text) - len(text.lstrip()))
        return f"{self.file}:{self.first + at - 1}: {message}\n    {text}\n    {indent}^"


def translated(
    function: Callable[..., Any], declared: Mapping[str, Param | Note]
) -> tuple[str, Places]:
    """The text of the law that a function is, and where each line of it comes from; `declared` are
    its parameters and notes.

    Raises LawError with file and line.
    """
    try:
        source, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<function>"
    except (TypeError, OSError) as why:
        raise LawError(f"{function!r} is no plain function with a source: {why}") from None
    # An indented function, such as one inside another function, is parsed inside an `if`.
    inside = source[0][:1].isspace()
    text = ("if True:\n" if inside else "") + "".join(source)
    try:
        tree: ast.stmt = ast.parse(text).body[0]
    except SyntaxError:
        raise LawError(f"{file}:{first}: a law is a plain function, defined by itself") from None
    if inside:
        assert isinstance(tree, ast.If)
        tree = tree.body[0]
    places = Places(file, first, source, int(inside), [])
    return _Translation(places, declared).law(tree), places


def stored(tree: ast.AST) -> set[str]:
    """The names that are assigned to."""
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


class _Translation:
    """Translates one function."""

    def __init__(self, places: Places, declared: Mapping[str, Param | Note]) -> None:
        self.places = places
        self.declared = declared
        self.parameters = [name for name, one in declared.items() if isinstance(one, Param)]
        self.notes = [name for name, one in declared.items() if isinstance(one, Note)]
        self.own = self.paths = ""
        self.names: dict[str, str] = {}
        """Names of Python that have a value, with their names in the law."""
        self.functions: set[str] = set()
        """Names of functions of one path."""
        self.sets: set[str] = set()
        """Names of sets of paths."""
        self.of_own: set[str] = set()
        """Names of values that belong to the own path, and not to all."""
        self.of_paths: set[str] = set()
        """Names of values that depend on any path."""
        self.reads: dict[str, set[str]] = {}
        """The notes that values and functions read, by their names."""
        self.update = ""
        """The function of `UPDATES` that is being translated."""
        self.updates: set[str] = set()
        """Functions of `UPDATES` that have been translated."""
        self.local: dict[str, ast.stmt] = {}
        """Names of values of the update, and where they get them."""
        self.read: set[str] = set()
        """Names that were read."""
        self.stale: dict[str, str] = {}
        """Names whose value was read from a note that has since changed, with that note."""
        self.used: set[str] = set()
        """Names of the law that no name of Python stands for: notes, and values of updates that
        have ended."""
        self.letters: dict[str, str] = {}
        """Names of paths, and their letters; empty for the own path."""
        self.lines: list[str] = []
        self.written: set[str] = set()
        """Names that the function gives values to, now or later."""

    def say(self, node: ast.AST, line: str) -> None:
        """A line of the law, which comes from a node."""
        self.lines.append(line)
        self.places.lines.append(getattr(node, "lineno", 1))

    def law(self, tree: ast.stmt) -> str:
        """The whole text."""
        if not isinstance(tree, ast.FunctionDef):
            self.refuse(tree, "a law is a plain function: write `def`")
        self.arguments(tree)
        name = tree.name.replace("_", "-").strip("-")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", name):
            self.refuse(
                tree, f"`{tree.name}` is no name of a law: it has letters from a to z and digits"
            )
        self.written = stored(tree)
        head = f"law {name}"
        body = tree.body
        about = ast.get_docstring(tree)
        if about:
            head += ": " + " ".join(about.split("\n\n")[0].split())
            body = body[1:]
        self.say(tree, head)
        self.declarations(tree)
        updates = []
        for statement in body[:-1]:
            if isinstance(statement, ast.FunctionDef) and statement.name in UPDATES:
                updates.append(statement)
            else:
                self.statement(statement)
        for update in updates:  # they see all names of the law, also those below them
            self.updating(update)
        self.returned(body[-1] if body else tree)
        return "\n".join(self.lines) + "\n"

    def declarations(self, tree: ast.FunctionDef) -> None:
        """Parameters and notes, as @law has them."""
        calls = [one for one in tree.decorator_list if isinstance(one, ast.Call)]
        given = {one.arg: one for call in calls for one in call.keywords}
        for name, one in self.declared.items():
            place = given.get(name, tree)
            if self.free(name) != name:
                what = "parameter" if isinstance(one, Param) else "note"
                self.refuse(
                    place, f"`{name}` means something in laws: give the {what} another name"
                )
            about = f": {' '.join(one.meaning.split())}" if one.meaning else ""
            if isinstance(one, Param):
                self.names[name] = name
                self.say(place, f"param {name} = {float(one.default)!r} in {one.range}{about}")
            else:
                self.used.add(name)
                self.say(place, f"note {name} = {float(one.initial)!r}{about}")

    def arguments(self, tree: ast.FunctionDef) -> None:
        """The own path, all paths and the parameters."""
        names = [
            one.arg for one in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)
        ]
        more = (
            tree.args.vararg or tree.args.kwarg or tree.args.defaults or any(tree.args.kw_defaults)
        )
        if more:
            self.refuse(
                tree, "arguments have no defaults and no stars here: defaults stand in @law"
            )
        if len(names) < 2 or set(names[2:]) != set(self.parameters):
            known = ", ".join(["r", "paths", *self.parameters])
            notes = [f"{names[0]}.{name}" for name in self.notes if name in names[1:]]
            help_ = f"; a note is a value of a path: `{notes[0]}`" if notes else ""
            self.refuse(
                tree,
                f"the arguments are {', '.join(names)}; they are to be ({known}): the "
                f"own path, all paths, and the parameters of @law{help_}",
            )
        self.own, self.paths = names[:2]
        self.letters[self.own] = ""

    def statement(self, statement: ast.stmt) -> None:
        """An assignment, or a function of one path."""
        if isinstance(statement, ast.FunctionDef):
            self.function(statement)
            return
        if not (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            why = "this is no assignment `name = …`, function or last `return`"
            self.refuse(statement, why + self.changing())
        self.assigned(statement, statement.targets[0].id, statement.value)

    def assigned(self, statement: ast.stmt, name: str, value: ast.expr) -> None:
        """`name = …`."""
        if name in {*self.names, *self.sets, *self.functions, *self.letters, self.paths}:
            self.refuse(statement, f"`{name}` has a value already: give this one another name")
        known = self.free(name)
        if not self.update and (chosen := self.set_of(value)) is not None:
            self.sets.add(name)
            self.say(statement, f"{known} = {chosen}")
        else:
            self.say(statement, f"{known} = {self.value(value)}")
            if self.belongs(value):
                self.of_own.add(name)
        if self.depends(value):
            self.of_paths.add(name)
        self.reads[name] = self.noted(value)
        self.names[name] = known

    def function(self, tree: ast.FunctionDef) -> None:
        """`def quality(s): return s.l / s.rtt**2`."""
        names = [one.arg for one in tree.args.args]
        body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
        if len(names) != 1 or len(body) != 1 or not isinstance(body[0], ast.Return):
            why = "a function inside a law has one path and one `return`"
            self.refuse(tree, why + self.changing())
        value = body[0].value
        if value is None:
            self.refuse(tree, "the function returns nothing")
        self.define(tree.name, tree.name, names[0], value)
        self.reads[tree.name] = self.noted(value)
        self.functions.add(tree.name)

    def changing(self) -> str:
        """Hint for error messages on where notes change; empty for a law without notes."""
        return f"; notes change in {', '.join(f'`{name}`' for name in UPDATES)}" * bool(self.notes)

    def updating(self, tree: ast.FunctionDef) -> None:
        """Translates `def on_ack(r): r.calm += r.acked`, which updates notes."""
        name = tree.name
        if not self.notes:
            self.refuse(tree, "the law has no note: declare one in @law, such as calm=ab.Note(0)")
        if name in self.updates:
            self.refuse(tree, f"`{name}` is there already: write all of it into one function")
        if not tree.args.args or ast.unparse(tree.args) != tree.args.args[0].arg:
            seen = ", ".join(f"`r.{one}`" for one in UPDATES[name].symbols)
            self.refuse(
                tree, f"`{name}` takes the path alone" + (f", which has {seen}" if seen else "")
            )
        path = tree.args.args[0].arg
        outside = self.letters, self.own, self.names, self.of_own, self.of_paths, self.reads
        self.letters, self.own, self.update = {path: ""}, path, name
        self.used |= set(self.names.values())
        own = stored(tree)  # as in Python, these names are local in the whole function
        self.names = {one: known for one, known in self.names.items() if one not in own}
        self.of_own, self.of_paths, self.reads = set(), self.of_paths - own, dict(self.reads)
        for statement in tree.body[1:] if ast.get_docstring(tree) is not None else tree.body:
            self.updated(statement, path)
        for one, place in self.local.items():
            if one not in self.read:
                self.refuse(place, f"`{name}` does not use `{one}`: take this out")
            self.used.add(self.names[one])
        self.letters, self.own, self.names, self.of_own, self.of_paths, self.reads = outside
        self.update, self.local, self.stale = "", {}, {}
        self.updates.add(name)

    def updated(self, statement: ast.stmt, path: str) -> None:
        """A line of a function that updates notes."""
        match statement:
            case ast.Assign(targets=[ast.Attribute(ast.Name(id=own), note) as at], value=new) if (
                own == path
            ):
                value = self.value(new) if note in self.notes else ""
            case ast.AugAssign(ast.Attribute(ast.Name(id=own), note) as at, op, new) if (
                own == path and type(op) in OPERATORS
            ):
                before = self.symbol(at, path, note) if note in self.notes else ""
                value = f"{before} {OPERATORS[type(op)]} {self.value(new)}" if before else ""
            case ast.Assign(targets=[ast.Name(id=name)], value=new):
                self.assigned(statement, name, new)
                self.local[name] = statement
                self.read.discard(name)
                return
            case _:
                self.refuse(
                    statement, f"`{self.update}` has lines such as `{path}.{self.notes[0]} = …`"
                )
        if not value:
            self.refuse(at, f"`{note}` is no note; the notes are {', '.join(self.notes)}")
        self.say(statement, f"{UPDATES[self.update].begins}{note} = {value}")
        self.stale |= {name: note for name in self.local if note in self.reads[name]}

    def define(self, name: str, known: str, path: str, value: ast.expr) -> None:
        """A definition for any path: inside, `path` is the own one."""
        outside, self.letters = self.letters, {path: ""}
        own, self.own = self.own, path
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and node.id in self.of_own:
                self.refuse(
                    node, f"`{node.id}` belongs to path `{own}`, and this is a function of `{path}`"
                )
        known = self.free(known, own=name == known)
        self.say(value, f"{known} = {self.value(value)}")
        self.letters, self.own = outside, own
        self.names[name] = known

    def returned(self, last: ast.AST) -> None:
        """`return growth, backoff`."""
        value = last.value if isinstance(last, ast.Return) else None
        if not isinstance(value, ast.Tuple) or len(value.elts) != 2:
            self.refuse(last, "a law ends with `return growth, backoff`")
        growth, backoff = map(self.value, value.elts)
        self.say(value.elts[0], f"growth = {growth}")
        self.say(value.elts[1], f"backoff = {backoff}")

    def free(self, name: str, own: bool = True) -> str:
        """A name for use in the law: `name`, changed where it is taken or reserved there. With
        `own` false it also differs from all names of the function."""
        written = self.written - {name} if own else self.written
        taken = {*WORDS, *self.names.values(), *self.used, *written}
        plain = name if name.isidentifier() and not keyword.iskeyword(name) else "value"
        plain = plain.lstrip("_") or "value"
        base, _, letter = plain.rpartition("_")
        if base and len(letter) == 1:
            plain += "value"
        while plain in taken:
            plain += "_value"
        return plain

    def belongs(self, value: ast.expr) -> bool:
        """Whether a value depends on the own path."""
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        return bool(names & {self.own, *self.of_own})

    def depends(self, value: ast.expr) -> bool:
        """Whether a value depends on any path."""
        names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        return bool(names & {self.own, self.paths, *self.of_own, *self.of_paths})

    def noted(self, value: ast.expr) -> set[str]:
        """The notes that a value reads, through other values too."""
        found = set()
        for node in ast.walk(value):
            if isinstance(node, ast.Attribute) and node.attr in self.notes:
                found.add(node.attr)
            elif isinstance(node, ast.Name):
                found |= self.reads.get(node.id, set())
        return found

    def alone(self, node: ast.expr) -> None:
        """Refuses an expression over several paths inside an update."""
        if self.update:
            self.refuse(node, f"`{self.update}` sees one path alone, and this is of several")

    def value(self, node: ast.expr) -> str:
        """An expression in the language of laws, in brackets where it is not one word."""
        match node:
            case ast.Constant(value=bool()):
                self.refuse(node, "True and False are no values of a law: write a comparison")
            case ast.Constant(value=int() | float() as number):
                return repr(number)
            case ast.Name(id=name):
                return self.name(node, name)
            case ast.Attribute(value=ast.Name(id=path), attr=symbol) if path in self.letters:
                return self.symbol(node, path, symbol)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return f"({self.value(left)} {OPERATORS[type(op)]} {self.value(right)})"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"(-{self.value(operand)})"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"(not {self.value(operand)})"
            case ast.BoolOp(op=op, values=values):
                return "(" + f" {OPERATORS[type(op)]} ".join(map(self.value, values)) + ")"
            case ast.Compare():
                return self.compared(node)
            case ast.IfExp(test=test, body=body, orelse=other):
                return f"(if {self.value(test)} then {self.value(body)} else {self.value(other)})"
            case ast.Call():
                return self.call(node)
        return self.refuse(node, "laws have no such expression")

    def name(self, node: ast.expr, name: str) -> str:
        """A local name, or a parameter."""
        if name in self.sets or name in self.functions or name in (*self.letters, self.paths):
            self.refuse(node, f"`{name}` is no number")
        if name not in self.names:
            known = f"it is a note: write `{self.own}.{name}`" if name in self.notes else ""
            known = known or "parameters stand in @law"
            self.refuse(node, f"`{name}` has no value here; {known}")
        if name in self.stale:
            note = self.stale[name]
            self.refuse(
                node, f"`{name}` is made of `{note}` before it changed: put this before that line"
            )
        if self.update and name in self.of_paths and name not in self.local:
            self.refuse(
                node, f"`{name}` depends on paths, and `{self.update}` has parameters and one path"
            )
        self.read.add(name)
        return self.names[name]

    def symbol(self, node: ast.expr, path: str, symbol: str) -> str:
        """`s.w` as `w_s`; a note as well."""
        update = UPDATES.get(self.update)
        own = [*(update.symbols if update else SYMBOLS)]
        own += self.notes if update is None or update.notes else []
        if symbol not in own:
            place = f" in `{self.update}`" if update else ""
            other = [name for name, one in UPDATES.items() if symbol in one.symbols]
            known = f"; `{other[0]}` has it" if other and not update else ""
            self.refuse(node, f"a path has no `{symbol}`{place}; it has {', '.join(own)}{known}")
        return self.of(symbol, path)

    def of(self, name: str, path: str) -> str:
        """The value of a name for a path."""
        letter = self.letters[path]
        return f"{name}_{letter}" if letter else name

    def compared(self, node: ast.Compare) -> str:
        """A comparison, also `s in best`; chains become conditions in a row."""
        sides = [node.left, *node.comparators]
        found = []
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(op, ast.In | ast.NotIn):
                found.append(
                    ("not " if isinstance(op, ast.NotIn) else "") + self.member(left, right)
                )
            elif type(op) in OPERATORS:
                found.append(f"{self.value(left)} {OPERATORS[type(op)]} {self.value(right)}")
            else:
                self.refuse(node, "laws have no such comparison")
        return "(" + " and ".join(found) + ")"

    def member(self, path: ast.expr, chosen: ast.expr) -> str:
        """`s in best`."""
        self.alone(chosen)
        if not (isinstance(path, ast.Name) and path.id in self.letters):
            self.refuse(path, "a path belongs before `in`")
        if not (isinstance(chosen, ast.Name) and chosen.id in self.sets):
            self.refuse(
                chosen, "a set such as `largest(paths, key=…)` belongs behind `in`, by its name"
            )
        return self.of(self.names[chosen.id], path.id)

    def call(self, node: ast.Call) -> str:
        """A function, or a reduction over paths."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            name = node.func.attr if node.func.value.id == "math" else ""
        if node.keywords or not name:
            self.refuse(node, "laws have no such call")
        match name, node.args:
            case "len", [of]:
                return self.length(node, of)
            case (
                ("sum" | "max" | "min" | "any" | "all"),
                [ast.GeneratorExp() | ast.ListComp() as of],
            ):
                return self.reduction(name, of)
            case _, [ast.Name(id=path)] if name in self.functions and path in self.letters:
                return self.of(self.names[name], path)
            case (("abs" | "sqrt" | "exp" | "log"), arguments) if len(arguments) != 1:
                self.refuse(node, f"`{name}` takes one number here")
            case _ if name in FUNCTIONS:
                return f"{FUNCTIONS[name]}({', '.join(map(self.value, node.args))})"
        if name in self.functions:
            self.refuse(
                node, f"`{name}` takes a path: write `{name}({self.own})`, or in a sum `{name}(s)`"
            )
        if name in ("sum", "any", "all", "len"):
            self.refuse(node, f"`{name}` runs over paths: write `{name}(… for s in {self.paths})`")
        known = ", ".join([*FUNCTIONS, "sum", "any", "all", "len", *self.functions])
        return self.refuse(node, f"laws have no function `{name}`; they have {known}")

    def length(self, node: ast.expr, of: ast.expr) -> str:
        """`len(paths)`, `len(best)`, or how many paths a list has."""
        self.alone(node)
        match of:
            case ast.Name(id=name) if name == self.paths:
                return "n"
            case ast.Name(id=name) if name in self.sets:
                letter = LETTERS[len(self.letters) - 1]
                return f"count_{letter}({self.names[name]}_{letter})"
            case ast.ListComp():
                return self.reduction("count", of)
        return self.refuse(node, "`len` is that of `paths`, of a set, or of a list over `paths`")

    def reduction(self, name: str, of: ast.GeneratorExp | ast.ListComp) -> str:
        """`sum(s.w for s in paths if …)`."""
        self.alone(of)
        loop = of.generators[0]
        over = isinstance(loop.iter, ast.Name) and loop.iter.id == self.paths
        if len(of.generators) > 1 or not over or not isinstance(loop.target, ast.Name):
            self.refuse(of, f"a reduction runs over `{self.paths}` with one name")
        path = loop.target.id
        if path in self.letters:
            self.refuse(of, f"`{path}` is a path already: take another name")
        if len(self.letters) > MOST_NESTED:
            self.refuse(of, f"reductions are nested more than {MOST_NESTED} deep")
        self.letters[path] = letter = LETTERS[len(self.letters) - 1]
        conditions = [self.value(condition) for condition in loop.ifs]
        condition = " and ".join(conditions)
        counts = isinstance(of.elt, ast.Constant) and of.elt.value == 1
        if name == "count" or (name == "sum" and counts):
            found = f"count_{letter}({condition})" if condition else "n"
        else:
            value = self.value(of.elt)
            if conditions:
                neutral = {"sum": "0", "max": "-inf", "min": "inf"}.get(name)
                if neutral is None:
                    self.refuse(of, f"`{name}` over paths has no `if`: write `and` or `or`")
                value = f"if {condition} then {value} else {neutral}"
            found = f"{name}_{letter}({value})"
        del self.letters[path]
        return found

    def set_of(self, node: ast.expr) -> str | None:
        """The condition of a set, `largest(paths, key=lambda s: …)`; None for any other
        expression.
        """
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SETS
        ):
            return None
        match node.args, node.keywords:
            case [ast.Name(id=over)], [ast.keyword(arg="key", value=ast.Lambda() as key)] if (
                over == self.paths
            ):
                if len(key.args.args) != 1 or key.args.vararg or key.args.defaults:
                    self.refuse(key, "the key is a function of one path, such as `lambda s: s.w`")
                path = key.args.args[0].arg
                self.define(f"key of line {node.lineno}", f"key{len(self.lines)}", path, key.body)
                return f"{SETS[node.func.id]}({self.names.pop(f'key of line {node.lineno}')})"
            case [ast.Name(id=over)], [ast.keyword(arg="key", value=ast.Name(id=key))] if (
                over == self.paths
            ):
                if key in self.functions:
                    return f"{SETS[node.func.id]}({self.names[key]})"
        return self.refuse(node, f"write `{node.func.id}({self.paths}, key=lambda s: s.w)`")

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        """Raises LawError with the place of a node."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        at = line - self.places.indent
        source = self.places.source
        text = source[at - 1].rstrip("\n") if 0 < at <= len(source) else ""
        column = len(text.encode()[:column].decode(errors="ignore"))  # it counts bytes
        place = f"{self.places.file}:{self.places.first + at - 1}"
        raise LawError(f"{place}: {why}\n    {text}\n    {' ' * column}^")
