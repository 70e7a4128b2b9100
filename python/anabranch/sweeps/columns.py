"""Columns of the tables of a store: their order, their units, and which of them are numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..frames import TABLES
from ..records import meanings
from .libraries import library
from .numbers import NUMBER
from .parts import CLASSES, KEYS, is_axis

if TYPE_CHECKING:
    import pyarrow

OWNERS = ("user", "path", "users")
"""Columns of whole numbers that say what a row belongs to."""

MOST_WHOLE = 2.0**53
"""From here on floats do not tell whole numbers apart."""


@dataclass(frozen=True)
class OneUnit:
    """Texts that are numbers of one unit."""

    values: dict[str, float]
    """The number of each text."""
    unit: str

    @property
    def whole(self) -> bool:
        """Whether all numbers are whole."""
        return all(one.is_integer() and abs(one) < MOST_WHOLE for one in self.values.values())


def one_unit(texts: Collection[str]) -> OneUnit | None:
    """The numbers of texts such as "5 Mb/s"; None unless all are numbers of one unit.

    >>> one_unit(["5 Mb/s", "10 Mb/s"]).values
    {'5 Mb/s': 5.0, '10 Mb/s': 10.0}
    """
    found = {text: NUMBER.match(text) for text in texts}
    known = {text: match for text, match in found.items() if match}
    units = {match[2] or "" for match in known.values()}
    if not known or len(known) < len(found) or len(units) > 1:
        return None
    return OneUnit({text: float(match[1]) for text, match in known.items()}, units.pop())


def ordered(values: Iterable[object]) -> list[str]:
    """The values of an axis as texts, each once: numbers by size, others as they come."""
    texts = list(dict.fromkeys(str(value) for value in values))
    known = one_unit(texts)
    return sorted(texts, key=known.values.__getitem__) if known else texts


def units_of(table: str) -> dict[str, str]:
    """The units of a table's own columns; classes have the rates of their flows too."""
    own = [TABLES[table]] if table in TABLES else []
    if table == CLASSES:
        own.append(TABLES["flows"])
    return {name: one.unit for each in own for name, one in meanings(each).items() if one.unit}


def metrics(schema: pyarrow.Schema) -> list[str]:
    """The columns that are measured numbers."""
    arrow = library("pyarrow")
    numeric = (arrow.types.is_floating, arrow.types.is_integer)
    own = (one for one in schema if one.name not in (*KEYS, *OWNERS) and not is_axis(one.name))
    return [one.name for one in own if any(test(one.type) for test in numeric)]


def words(metric: str) -> str:
    """What a metric is called in a figure."""
    return metric.removesuffix("_bps").removesuffix("_s").replace("_", " ")


def axis_label(key: str, values: Sequence[str]) -> str:
    """What an axis is called, with the unit of its values."""
    units = {match[2] or "" for value in values if (match := NUMBER.match(value))}
    unit = units.pop() if len(units) == 1 else ""
    return f"{key} ({unit})" if unit else key
