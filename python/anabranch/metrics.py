"""Meanings of the columns of a result: the single list from which pages and commands are made.

Rates and counts cover the time after the warm-up. Throughput counts IP bytes of data packets that
arrive at the receiver, copies included; goodput counts payload delivered in order, each byte once.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import tables
from .records import Table, meanings


@dataclass(frozen=True)
class Metric:
    """A column."""

    table: str
    name: str
    unit: str
    meaning: str


NOT_OF_RESULTS = ("capture.", "emulated.")
"""Where other tables are documented."""

METRICS = [
    Metric(table.PLACE, name, meaning.unit, meaning.text)
    for table in vars(tables).values()
    if isinstance(table, type) and issubclass(table, Table) and table is not Table
    if not table.PLACE.startswith(NOT_OF_RESULTS)
    for name, meaning in meanings(table).items()
    if meaning.unit  # names and row numbers have no unit
]
"""Every column of a result; only runs on the kernel have columns that begin with "linux:"."""
