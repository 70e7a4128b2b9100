"""What a paper's ledger can have: keys of its files, and functions of its expressions."""

from __future__ import annotations

import inspect
from typing import Any

from anabranch.papers.library import PLAIN
from anabranch.papers.reading import schema
from anabranch.papers.readings import BASIC

from .markdown import table


def parts() -> dict[str, str]:
    """The keys of each table of a ledger, and the functions of expressions."""
    return {"ledger tables": keys(), "ledger functions": functions()}


def keys() -> str:
    """A row for each key: its table, what it takes, and its meaning."""
    found = schema()
    rows = []
    for name, entry in found["properties"].items():
        rows += _of(name, entry, found["$defs"])
    return table(["key", "meaning"], rows)


def _of(path: str, entry: dict[str, Any], known: dict[str, Any]) -> list[list[str]]:
    """The rows of a key and of the keys inside."""
    own = entry.get("items", entry)
    own = known["expectation"] if path == "claim.expected" else own
    what = str(entry.get("description", own.get("description", "")))
    rows = [[f"`{path}`", what]] if what else []
    for name, inner in own.get("properties", {}).items():
        rows += _of(f"{path}.{name}", inner, known)
    return rows


def functions() -> str:
    """A row for each function."""
    rows = [
        [f"`{name}{_signature(function)}`", PLAIN[name][1] if name in PLAIN else _first(function)]
        for name, function in BASIC.items()
    ]
    return table(["function", "value"], rows)


def _signature(function: Any) -> str:
    if not inspect.isfunction(function) or function.__name__ in ("<lambda>", "reduce", "_listed"):
        return ""
    names = [name for name in inspect.signature(function).parameters if name != "lab"]
    return f"({', '.join(names)})"


def _first(function: Any) -> str:
    text = (inspect.getdoc(function) or "").split("\n\n")[0]
    return text[0].lower() + text[1:].rstrip(".")
