"""Rows of a store as figures need them: some columns, each run once, with texts as codes, so that a
million runs take little memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..offers import lookup
from .columns import one_unit
from .libraries import library
from .parts import KEYS, StoreError, opened
from .store import Store

if TYPE_CHECKING:
    import pyarrow

Codes = NDArray[np.int64]

Where = Mapping[str, Sequence[str]]
"""Columns, and the values that rows may have there."""

PARTS = ("class", "link", "station", "name")
"""Columns that say which part of a run a row is about."""

MOST_LISTED = 12
"""Values of a column that an error has."""


def schema(store: Store, table: str) -> pyarrow.Schema:
    """The columns of a table, of all parts together. Raises StoreError, and ValueError where the
    store has no such table.
    """
    arrow = library("pyarrow")
    found = store.each(table, lambda file: opened(file).schema_arrow.remove_metadata())
    if not found:
        return store.read(table).schema
    try:
        return arrow.unify_schemas(found)
    except arrow.ArrowException as error:
        raise StoreError(f"parts do not fit together, so one of them is broken: {error}") from None


@dataclass(frozen=True)
class Coded:
    """A column as numbers of its values; -1 where a row has none."""

    codes: Codes
    values: list[str]


class Scan:
    """Rows of a table, sorted by configuration, seed and version; rows of a run keep their order."""

    def __init__(self, table: pyarrow.Table) -> None:
        """`table` is one that `Store.read` has given with codes in the place of texts."""
        self.table = table

    @cached_property
    def run(self) -> Codes:
        """The number of the run of each row; it rises."""
        new = np.zeros(self.table.num_rows, dtype=bool)
        for key in KEYS:
            codes = self.codes(key)
            new[1:] |= codes[1:] != codes[:-1]
        return np.cumsum(new)

    def codes(self, name: str) -> Codes:
        """Numbers that tell the values of a column apart; -1 where a row has none."""
        column = self.table.column(name)
        if _is_dictionary(column.type):
            column = column.combine_chunks().indices
        return np.asarray(column.fill_null(-1) if column.null_count else column).astype(np.int64)

    def coded(self, name: str) -> Coded:
        """A column as codes: numbers by size, names of what a run has in the order of its rows,
        others by name.
        """
        column = self.table.column(name)
        if not _is_dictionary(column.type):
            column = column.cast("string").dictionary_encode()
        whole = column.combine_chunks()
        codes = np.asarray(whole.indices.fill_null(-1), dtype=np.int64)
        values = whole.dictionary.to_pylist()
        first = np.full(len(values) + 1, len(codes))  # the last one is of -1
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        used = [place for place in range(len(values)) if first[place] < len(codes)]
        if known := one_unit([values[place] for place in used]):
            used.sort(key=lambda place: known.values[values[place]])
        else:
            used.sort(key=lambda place: first[place] if name in PARTS else values[place])
        ranks = np.full(len(values) + 1, -1)
        ranks[used] = np.arange(len(used))
        return Coded(ranks[codes], [values[place] for place in used])

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers; NaN where a row has none."""
        return np.asarray(self.table.column(name).cast("float64").to_numpy(), dtype=float)


def plain(table: pyarrow.Table) -> pyarrow.Table:
    """A table with texts in the place of codes."""
    for place, field in enumerate(table.schema):
        if _is_dictionary(field.type):
            own = field.with_type(field.type.value_type)
            table = table.set_column(place, own, table.column(place).cast(own.type))
    return table


def _is_dictionary(kind: Any) -> bool:
    return bool(library("pyarrow").types.is_dictionary(kind))


def scan(
    store: Store, table: str, columns: Sequence[str] | None = None, where: Where | None = None
) -> Scan:
    """Some columns of a table, all of them by default: of the rows that have the values `where`.

    Raises StoreError, and ValueError where the store has no such table or no row has the values.
    """
    arrow, compute = library("pyarrow"), library("pyarrow.compute")
    wanted = None if columns is None else list(dict.fromkeys([*columns, *(where or {})]))
    rows = store.read(table, wanted, coded=True)
    for name, values in (where or {}).items():
        known = arrow.array(values, arrow.string())
        rows = rows.filter(compute.is_in(rows.column(name).cast(arrow.string()), known))
    if where and not rows.num_rows:
        both = " and ".join(f"{name} = {', '.join(values)}" for name, values in where.items())
        raise ValueError(f"no row has {both} together")
    return Scan(rows.combine_chunks())


def fixed(store: Store, table: str, given: Mapping[str, object], names: Sequence[str]) -> Where:
    """What rows are to have, from a value or a list of values for each column. A text may have
    several values with commas between them, unless the whole of it is a value.

    Raises ValueError for a column that there is not, or a value that no row has.
    """
    found = {lookup("column", name, names, "the columns are"): one for name, one in given.items()}
    if not found:
        return {}
    rows = scan(store, table, list(found))
    return {name: _values(name, one, rows.coded(name).values) for name, one in found.items()}


def _values(name: str, given: object, known: Sequence[str]) -> list[str]:
    if isinstance(given, (list, tuple, set, range)):
        texts = [str(one) for one in given]
    elif str(given) in known:
        texts = [str(given)]
    else:
        texts = [text.strip() for text in str(given).split(",")]
    for text in texts:
        if text not in known:
            more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
            there = ", ".join(known[:MOST_LISTED])
            raise ValueError(f"no row has {name} = {text!r}; its values are {there}{more}")
    return texts
