"""Sweeps as files: TOML with a scenario, axes, controllers and seeds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..offers import lookup
from ..sources import load
from ..written import several
from .axes import Axis, axis, from_values, together
from .designs import axes_of, dimension
from .sweep import Sweep, sequence
from .until import MOST

KEYS = (
    *("scenario", "controllers", "seeds", "set", "tables", "vary", "together"),
    *("sample", "derive", "only", "until", "most_seeds"),
)
"""What a file of a sweep may have."""

OWN = {"scenario", "controllers", "seeds", "vary", "together", "derive", "only", "until"}
"""Those that a scenario does not have."""


def read(file: Path) -> Sweep:
    """The sweep in a file. Raises ValueError naming file and field, OSError, ScenarioError."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: {error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not text; a sweep is a TOML file in UTF-8") from None
    try:
        return _sweep(content, file.parent)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None


def is_sweep(file: Path) -> bool:
    """Whether a file of TOML is a sweep, and not a scenario: it has fields that only a sweep has.

    Raises ValueError for what is not TOML.
    """
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: {error}") from None
    except (OSError, UnicodeDecodeError):
        return False
    return not OWN.isdisjoint(content)


def _sweep(content: dict[str, Any], folder: Path) -> Sweep:
    for key in content:
        if key not in KEYS:
            lookup("field of a sweep", key, KEYS, "the fields are")
            raise ValueError(f"the field {key!r} is spelt otherwise: {', '.join(KEYS)}")
    name = content.get("scenario")
    if not isinstance(name, str):
        raise ValueError("the field scenario is missing; name a scenario, or a file of one")
    beside = folder / name
    given = _texts("controllers", content.get("controllers", []))
    controllers = [one for text in given for one in several(text)]
    derive = {
        key: _beside(text, folder)
        for key, text in _flat(content.get("derive", {}))
        if _is_text(f"derive.{key}", text)
    }
    until = content.get("until")
    return Sweep(load(beside if beside.is_file() else name)).extended(
        tuple(_axes(content)),
        controllers=[_beside(one, folder) for one in controllers],
        seeds=content.get("seeds"),
        overrides=_texts("set", content.get("set", [])),
        tables=_texts("tables", content.get("tables", [])),
        derive=derive,
        only=_texts("only", content.get("only", [])),
        until=None if until is None else str(until),
        most_seeds=content.get("most_seeds", MOST),
    )


def _is_text(field: str, value: Any) -> bool:
    if not isinstance(value, str):
        raise ValueError(
            f"the field {field} is {value!r}; give an expression, or FILE.py:FUNCTION, as a text"
        )
    return True


def _axes(content: dict[str, Any]) -> Iterator[Axis]:
    vary = content.get("vary", {})
    if not isinstance(vary, dict):
        raise ValueError("the field vary is a table of keys with their values")
    ranges = []
    for key, values in _flat(vary):
        if isinstance(values, str) and dimension(f"{key}={values}"):
            ranges.append(f"{key}={values}")
        else:
            yield from_values(key, values)
    sample = content.get("sample")
    yield from axes_of(ranges, str(sample) if sample is not None else None, axis)
    groups = content.get("together", [])
    for group in groups if isinstance(groups, list) else [groups]:
        yield together([from_values(key, values) for key, values in _flat(group)])


def _flat(table: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Keys with dots, quoted or not. Raises ValueError for what is no table."""
    if not isinstance(table, dict):
        raise ValueError(f"{table!r} stands where a table of keys belongs")
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _texts(field: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, str | list) or not all(isinstance(one, str) for one in values):
        raise ValueError(f"the field {field} is {values!r}; give a list of texts")
    return sequence(values)


def _beside(text: str, folder: Path) -> str:
    """A text that may begin with a file, which stands beside that of the sweep."""
    head = text.split(":", 1)[0]
    beside = folder / head
    if head.endswith((".law", ".py")) and not Path(head).is_file() and beside.is_file():
        return str(beside) + text[len(head) :]
    return text
