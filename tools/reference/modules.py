"""The Python package: what it exports, with signatures and docstrings, read from the sources."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from .markdown import block, table, together

MODULES = [
    "anabranch",
    "anabranch.theory",
    "anabranch.theory.coding",
    "anabranch.theory.throughput",
    "anabranch.fairness",
    "anabranch.statistics",
    "anabranch.plot",
    "anabranch.report",
    "anabranch.papers",
    "anabranch.linux",
]
"""What is described here; `anabranch.schema` is the scenario file, and the rest is internal."""

PROPERTIES = (property, cached_property)


def parts() -> dict[str, str]:
    """A part for each module."""
    return {f"module {name}": described(importlib.import_module(name)) for name in MODULES}


def described(module: ModuleType) -> str:
    """A module's docstring and what it exports; modules among that are only named."""
    public = {name: getattr(module, name) for name in exported(module) if name[0] != "_"}
    inner = [
        f"* `{value.__name__}`: {prose(value.__doc__).partition(chr(10))[0]}"
        for value in public.values()
        if isinstance(value, ModuleType)
    ]
    others = [name for name, value in public.items() if not isinstance(value, ModuleType)]
    return together(
        prose(module.__doc__), "\n".join(inner), *(member(module, name) for name in others)
    )


def exported(module: ModuleType) -> list[str]:
    """The public names, in the module's own order; without a list those that are made in it."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    body = ast.parse(inspect.getsource(module)).body
    return [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def member(module: ModuleType, name: str) -> str:
    """An exported name that is no module."""
    value = getattr(module, name)
    heading = "### " + f"{module.__name__}.{name}".removeprefix("anabranch.")
    if inspect.isclass(value):
        return together(heading, *of_class(value))
    if inspect.isfunction(value):
        return together(heading, block("pyi", called(value)), prose(value.__doc__))
    return together(heading, constant(module, name))


def called(function: Callable[..., Any], owner: str = "") -> str:
    """How a function is called, as its source has it."""
    text = textwrap.dedent(inspect.getsource(function))
    (node,) = ast.parse(text).body
    lines = text.splitlines()[node.lineno - 1 : node.body[0].lineno - 1]
    shown = "\n".join(lines).strip().removeprefix("def ").removesuffix(":")
    return owner + re.sub(r"\((\s*)(self|cls)\b(, ?)?", r"(\1", shown, count=1)


def of_class(kind: type) -> list[str]:
    """A class: docstring, fields and properties, methods."""
    try:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):  # made in Rust; the stub has its text
        return [prose(ast.get_docstring(stub(kind.__name__)))]
    rows = [
        [f"`{one.target.id}`", f"`{ast.unparse(one.annotation)}`", text_below(node.body, place)]
        for place, one in enumerate(node.body)
        if isinstance(one, ast.AnnAssign) and one.target.id[0] != "_"
    ]
    public = {name: value for name, value in vars(kind).items() if name[0] != "_"}
    rows += [property_row(name, one) for name, one in public.items() if type(one) in PROPERTIES]
    functions = {name: getattr(one, "__func__", one) for name, one in public.items()}
    methods = [
        together(block("pyi", called(one, f"{kind.__name__}.")), prose(one.__doc__))
        for one in functions.values()
        if inspect.isfunction(one) and one.__name__.isidentifier()  # a default may be a lambda
    ]
    columns = 3 if any(meaning for _, _, meaning in rows) else 2
    head = ["field", "type", "meaning"][:columns]
    fields = table(head, (row[:columns] for row in rows)) if rows else ""
    return [prose(kind.__doc__), fields, *methods]


def property_row(name: str, value: Any) -> list[str]:
    """A property, as a field that cannot be set."""
    function = value.fget if isinstance(value, property) else value.func
    back = inspect.signature(function).return_annotation
    return [f"`{name}`", f"`{back}`", prose(function.__doc__).partition("\n\n")[0]]


def stub(name: str) -> Any:
    """A definition in the stub of the extension module."""
    home = Path(str(importlib.import_module("anabranch").__file__)).with_name("_core.pyi")
    nodes = ast.parse(home.read_text(encoding="utf-8")).body
    return next(node for node in nodes if getattr(node, "name", "") == name)


def constant(module: ModuleType, name: str) -> str:
    """A constant's text, from the module that makes it."""
    package = module.__name__.partition(".")[0]
    value = getattr(module, name)
    for home in [module, *(m for n, m in sys.modules.items() if n.startswith(package))]:
        if getattr(home, name, None) is not value:
            continue
        body = ast.parse(inspect.getsource(home)).body
        for place, node in enumerate(body):
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return text_below(body, place)
    return ""


def text_below(body: list[Any], place: int) -> str:
    """The text that stands below an assignment, which is where this project explains it."""
    following = body[place + 1 : place + 2]
    for node in following:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return inspect.cleandoc(str(node.value.value))
    return ""


def prose(text: str | None) -> str:
    """A docstring as Markdown: what is indented for a doctest is a block."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(
        block("pycon", textwrap.dedent(one)) if one.lstrip().startswith(">>>") else one
        for one in paragraphs
    )
