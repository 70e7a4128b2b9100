"""Values of a record of a log, with errors that say where a wrong one stands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MOST = 2**62
"""QUIC's variable-length integers end below this (RFC 9000 §16)."""

SHOWN = 40
"""Characters of a wrong value that an error shows."""


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of a record, and where it stands, such as `record 12: data.header`."""

    values: dict[str, Any]
    place: str

    @classmethod
    def of(cls, value: Any, place: str) -> Fields:
        """An object. Raises ValueError if it is something else."""
        if not isinstance(value, dict):
            raise ValueError(f"{place} is {shown(value)}; it is an object")
        return cls(value, place)

    def __contains__(self, key: str) -> bool:
        """Whether the object has a value for the key."""
        return self.values.get(key) is not None

    def wrong(self, key: str, right: str) -> ValueError:
        """An error that says what would be right."""
        place = f"{self.place}{'.' if self.place.count(':') else ': '}{key}"
        return ValueError(f"{place} is {shown(self.values.get(key))}; it is {right}")

    def part(self, key: str) -> Fields:
        """An object in this one; an empty one if it is missing."""
        value = self.values.get(key)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return Fields(value, f"{self.place}{'.' if self.place.count(':') else ': '}{key}")

    def parts(self, key: str) -> Iterator[Fields]:
        """The objects of a list in this one."""
        value = self.values.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "a list of objects")
        inner = f"{self.place}{'.' if self.place.count(':') else ': '}{key}"
        for number, one in enumerate(value):
            yield Fields.of(one, f"{inner}[{number}]")

    def number(self, key: str, scale: float = 1.0) -> float | None:
        """A finite number that is not negative, times `scale`; None if it is missing."""
        value = self.values.get(key)
        if value is None:
            return None
        found = as_number(value)
        if found is None or found < 0:
            raise self.wrong(key, "a number, 0 or more")
        return found * scale

    def whole(self, key: str) -> int | None:
        """A whole number from 0 on, also one that is written as text; None if it is missing."""
        value = self.values.get(key)
        if value is None:
            return None
        found = as_whole(value)
        if found is None:
            raise self.wrong(key, f"a whole number from 0 to {MOST - 1}")
        return found

    def text(self, key: str) -> str | None:
        """A text, or a number as text; None if it is missing."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(key, "a text")
        return str(value)


def as_number(value: Any) -> float | None:
    """A number of JSON, or one that is written as text; None if it is neither, or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def as_whole(value: Any) -> int | None:
    """A whole number that fits a variable-length integer; None if it is something else."""
    found = as_number(value)
    if found is None or not 0 <= found < MOST or found != math.floor(found):
        return None
    return int(value) if isinstance(value, int) else int(found)


def shown(value: Any) -> str:
    """A value as an error shows it."""
    if value is None:
        return "missing"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
