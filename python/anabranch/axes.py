"""Axes in their text form: a key of the scenario, as for `--set`, and its values.

link.ap1.rate=5 Mb/s,10 Mb/s        these
link.ap1.rate=5..40:8 Mb/s          eight, evenly spaced
link.line.delay=1..1000:7 log ms    seven whose logarithms are evenly spaced
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

RANGE = re.compile(
    r"^\s*([0-9.eE+-]+?)\s*\.\.\s*([0-9.eE+-]+)\s*:\s*(\d+)(?:\s+(log)(?![A-Za-z]))?\s*(.*)$"
)
"""`5..40:8 Mb/s`, or `1..1000:7 log ms`."""

MOST_VALUES = 1_000_000
"""Values of one axis."""


def read_axis(
    text: str, split: Callable[[str], list[str]] | None = None
) -> tuple[str, tuple[str, ...]]:
    """The key and the values of an axis, in the form of `--set`.

    Numbers without a unit stay whole if both ends are whole and the steps are at least one. `split`
    splits a text whose values contain commas, as `anabranch.several` does for controllers. Raises
    ValueError, naming the text.
    """
    key, equals, values = text.partition("=")
    key = key.strip()
    if not equals or not key or not values.strip():
        raise ValueError(
            f"an axis is {text.strip()!r}; write KEY=V1,V2 such as link.ap1.rate=5 Mb/s,10 Mb/s, or "
            "KEY=FIRST..LAST:COUNT UNIT such as link.ap1.rate=2..20:10 Mb/s"
        )
    if spaced := RANGE.match(values):
        return key, checked(_spaced(text, spaced), text)
    listed = split(values) if split else values.split(",")
    return key, checked([value.strip() for value in listed], text)


def checked(values: Sequence[str], text: str) -> tuple[str, ...]:
    """The values of an axis. Raises ValueError if one is empty, or given twice."""
    if not values or len(set(values)) != len(values) or not all(values):
        raise ValueError(f"an axis is {text.strip()!r}; each value is given, and given once")
    return tuple(values)


def _spaced(text: str, match: re.Match[str]) -> list[str]:
    """The values of a range. Raises ValueError."""
    low, high, count, logarithmic, unit = match.groups()
    try:
        first, last, many = float(low), float(high), int(count)
    except ValueError:
        raise ValueError(
            f"an axis is {text.strip()!r}; {low!r} and {high!r} are not numbers"
        ) from None
    if not 2 <= many <= MOST_VALUES or first == last:
        raise ValueError(
            f"an axis is {text.strip()!r}; a range has two ends and 2 to {MOST_VALUES:,} values"
        )
    if logarithmic and min(first, last) <= 0:
        raise ValueError(f"an axis is {text.strip()!r}; logarithms need ends above zero")
    unit = unit.strip()
    values = np.geomspace(first, last, many) if logarithmic else np.linspace(first, last, many)
    whole = not unit and not logarithmic and not set(low + high) & set(".eE")
    if whole and abs(last - first) >= many - 1:
        values = np.round(values)
    return [f"{float(f'{value:.12g}'):.12g} {unit}".strip() for value in values]
