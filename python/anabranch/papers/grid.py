"""The cells of a folder: tables of data that name scenarios, controllers and overrides, expanded.

An entry is a cell, or many: its texts have `{expression}` in them, and `for` gives the values.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from ..offers import offer
from .laboratory import Configuration
from .language import Environment, Expression, Problem

BRACES = re.compile(r"\{([\w.+ -]*(?:,[\w.+ -]*)+)\}")
"""Alternatives: words with commas between, so that no expression is taken for them."""


MOST_ROUNDS = 10_000
"""Entries that one entry stands for; more are a slip."""


@dataclass(frozen=True)
class Entry:
    """A cell as an entry made it."""

    name: str
    configuration: Configuration
    experiments: tuple[str, ...]


def alternatives(pattern: str) -> list[str]:
    """A pattern with each of its alternatives: `a-{lia,olia}` is a-lia and a-olia.

    >>> alternatives("{a,c}-{lia,olia}-10")
    ['a-lia-10', 'a-olia-10', 'c-lia-10', 'c-olia-10']

    Raises Problem for more than `MOST_ROUNDS`.
    """
    many = math.prod(one.count(",") + 1 for one in BRACES.findall(pattern))
    if many > MOST_ROUNDS:
        raise Problem(f"{pattern!r} stands for {many} names; at most {MOST_ROUNDS} are taken")
    match = BRACES.search(pattern)
    if not match:
        return [pattern]
    head, tail = pattern[: match.start()], pattern[match.end() :]
    return [
        text for one in match[1].split(",") for text in alternatives(f"{head}{one.strip()}{tail}")
    ]


def matching(patterns: Iterable[str], cells: Iterable[str]) -> list[str]:
    """The names of cells that patterns mean, each once, in the order of the patterns.

    A pattern has alternatives in braces, and the wildcards of a shell. `!pattern` takes away.
    Raises Problem for a pattern that means no cell.
    """
    known = list(cells)
    found: dict[str, None] = {}
    for pattern in patterns:
        without = pattern.startswith("!")
        for one in alternatives(pattern.removeprefix("!")):
            names = [one] if one in known else [name for name in known if fnmatchcase(name, one)]
            if not names:
                raise Problem(f"no cell is called {one!r}{offer(one, known)}")
            for name in names:
                if without:
                    found.pop(name, None)
                else:
                    found[name] = None
    return list(found)


Loops = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]


def rounds(table: Loops, env: Environment) -> Iterator[dict[str, Any]]:
    """The values of `for`: every combination of a table of lists, or those of a list of tables.

    A text in place of a list is an expression that gives one, and so is a text in place of all.
    """
    if isinstance(table, str):
        found = env.evaluated(Expression.read(table))
        if not isinstance(found, list | dict):
            raise Problem(f"for is {found!r}, and a list of tables belongs there")
        table = found
    if not isinstance(table, Mapping):
        for row in table:
            if not isinstance(row, Mapping):
                raise Problem(f"for has {row!r}, and a table of names and values belongs there")
            yield from rounds({k: v if isinstance(v, list) else [v] for k, v in row.items()}, env)
        return
    lists: list[list[Any]] = []
    for name, values in table.items():
        found = env.evaluated(Expression.read(values)) if isinstance(values, str) else values
        if not isinstance(found, list | tuple):
            raise Problem(f"for.{name} is {found!r}, and a list belongs there")
        lists.append(list(found))
    if (many := math.prod(map(len, lists))) > MOST_ROUNDS:
        raise Problem(f"for gives {many} combinations; at most {MOST_ROUNDS} are taken")
    for combination in itertools.product(*lists):
        yield dict(zip(table, combination, strict=True))


def filled(text: str, env: Environment) -> str:
    """A text with its expressions filled in. Raises Problem."""
    return str(env.evaluated(Expression.template(text))).strip() if "{" in text else text


def expanded(
    table: Mapping[str, Any], env: Environment, known: Mapping[str, Configuration]
) -> Iterator[Entry]:
    """The cells of an entry. `known` are those before it, which `from` names."""
    for values in rounds(table.get("for", {}), env):
        inner = Environment(values, env)
        if "from" in table:
            patterns = [
                filled(one, inner) for text in _list(table["from"]) for one in alternatives(text)
            ]
            for base in matching(patterns, known):
                names = {"base": base, "controller": known[base].controller or ""}
                yield _entry(table, Environment(names, inner), known[base])
        else:
            yield _entry(table, inner, None)


def _entry(table: Mapping[str, Any], env: Environment, base: Configuration | None) -> Entry:
    name = filled(table["name"], env)
    if any(part in ("", ".", "..") for part in name.split("/")):
        raise Problem(f"the cell {name!r} has no good name: measurements are files of that path")
    scenario = filled(table["scenario"], env) if "scenario" in table else ""
    if not scenario and base is None:
        raise Problem(f"the cell {name!r} has no scenario")
    one = base or Configuration(scenario)
    changes: dict[str, Any] = {"scenario": scenario or one.scenario}
    if "controller" in table:
        changes["controller"] = filled(table["controller"], env) or None
    if "series" in table:
        changes["series"] = table["series"]
    if "weight" in table:
        weight = table["weight"]
        if isinstance(weight, str):
            weight = env.evaluated(Expression.read(weight))
        if not isinstance(weight, int | float):
            raise Problem(f"weight is {weight!r}, and a number belongs there")
        changes["weight"] = float(weight)
    changes["overrides"] = (*one.overrides, *overrides(_list(table.get("set", [])), env))
    experiments = tuple(filled(one, env) for one in _list(table.get("experiment", [])))
    return Entry(name, replace(one, **changes), experiments)


def overrides(texts: Sequence[str], env: Environment) -> Iterator[str]:
    """Overrides as `--set` takes them. `*name` stands for the list that a definition gives."""
    for text in texts:
        if text.startswith("*"):
            found = env.evaluated(Expression.read(text[1:]))
            if not isinstance(found, list | tuple):
                raise Problem(f"{text} is {found!r}, and a list of overrides belongs there")
            yield from map(str, found)
        else:
            yield filled(text, env)


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
