"""Where in a TOML file an entry stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence

HEADER = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
KEY = re.compile(
    r"""\s*((?:"[^"]*"|'[^']*'|[A-Za-z0-9_.-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*="""
)


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line of the entry at `path`, or of the innermost table on the way that has one; from 1.

    `["claim", 2, "expected", "rate"]` is the key `rate` of the third claim's table `expected`.
    """
    best, most = 1, 0
    for number, place in _places(text):
        if list(path[: len(place)]) == place and len(place) > most:
            best, most = number, len(place)
        elif place[: len(path)] == list(path) and most < len(path):
            return number  # a header of an inner table is the first line of the outer one
    return best


def _places(text: str) -> list[tuple[int, list[str | int]]]:
    """Lines that begin an entry, with the entry's path."""
    found: list[tuple[int, list[str | int]]] = []
    counts: dict[tuple[str | int, ...], int] = {}
    at: list[str | int] = []
    open_ = ""
    for number, line in enumerate(text.splitlines(), 1):
        if open_:
            open_ = "" if line.count(open_) % 2 else open_
            continue
        if match := HEADER.match(line):
            at = _header(match[2], match[1] == "[[", counts)
            found.append((number, list(at)))
            continue
        if match := KEY.match(line):
            found.append((number, [*at, *_keys(match[1])]))
        open_ = next((mark for mark in ('"""', "'''") if line.count(mark) % 2), "")
    return found


def _header(name: str, many: bool, counts: dict[tuple[str | int, ...], int]) -> list[str | int]:
    """The path of a table's header; `counts` has how many of each array there have been."""
    keys = _keys(name)
    path: list[str | int] = []
    for key in keys[:-1]:
        path.append(key)
        if (index := counts.get(tuple(path))) is not None:
            path.append(index)
    path.append(keys[-1])
    if many:
        counts[tuple(path)] = counts.get(tuple(path), -1) + 1
        path.append(counts[tuple(path)])
    elif (index := counts.get(tuple(path))) is not None:
        path.append(index)
    return path


def _keys(dotted: str) -> list[str]:
    """The parts of a dotted key."""
    table = tomllib.loads(f"{dotted} = 0")
    keys: list[str] = []
    while isinstance(table, dict):
        key, table = next(iter(table.items()))
        keys.append(key)
    return keys
