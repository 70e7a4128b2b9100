"""What a store has, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .disk import size
from .parts import KEPT, KEYS, RUNS, coded, empty, is_axis, once, opened, read_part
from .store import Failure, Store

if TYPE_CHECKING:
    import pyarrow

Counts = dict[str, int]
"""Runs by a value."""

MEASURED = ("digest", "events", "packet_hops", "simulated_s")
"""Columns of runs that are not counted."""


@dataclass(frozen=True)
class Summary:
    """What a store has; a run that is in several parts counts once."""

    runs: int
    configurations: int
    versions: Counts
    scenarios: Counts
    controllers: Counts
    sources: Counts
    """Hashes of laws and classes of one's own; a controller that was changed has several."""
    overrides: Counts
    """What is set beside axes."""
    axes: dict[str, Counts]
    """Runs by value, of each axis; those without the axis are not counted."""
    kept: Counts
    """Runs by the tables that are kept of them, by commas."""
    rows: Counts
    """Rows of each table, as they are in the parts: of a run in several parts several times."""
    parts: int
    bytes: int
    failures: list[Failure]
    """Runs that gave an error, and no rows since."""

    def to_json(self) -> dict[str, object]:
        """The summary as plain data."""
        return {"kind": "anabranch sweep status", **asdict(self)}


def summary(store: Store) -> Summary:
    """Counts what is in a store. Reads the rows of runs, and of other tables how many they are.

    Raises StoreError for a part that is broken.
    """
    parts = store.each(RUNS, _part)
    runs = once([part.runs for part in parts]) if parts else empty()
    counts = {name: _counts(runs, name) for name in runs.column_names if name not in KEYS}
    rows: Counter[str] = Counter()
    for part in parts:
        rows.update(part.rows)
    return Summary(
        runs=runs.num_rows,
        configurations=len(_counts(runs, "configuration")),
        versions=_counts(runs, "version"),
        scenarios=counts.get("scenario", {}),
        controllers=counts.get("controller", {}),
        sources=counts.get("controller_source", {}),
        overrides=counts.get("overrides", {}),
        axes={name: own for name, own in counts.items() if is_axis(name)},
        kept=counts.get(KEPT, {}),
        rows=dict(sorted(rows.items())),
        parts=len(parts),
        bytes=sum(part.bytes for part in parts),
        failures=store.failures(),
    )


class Part(NamedTuple):
    """What is counted of a part."""

    runs: pyarrow.Table
    rows: Counts
    bytes: int


def _part(file: Path) -> Part:
    runs = read_part(file, None, but=MEASURED, coded=True)
    tables = sorted(file.parent.glob("*.parquet"))
    rows = {one.stem: opened(one).metadata.num_rows for one in tables}
    return Part(runs, rows, size(file.parent))


def _counts(runs: pyarrow.Table, name: str) -> Counts:
    """How many rows have each value of a column of texts, values sorted."""
    values, code = coded(runs.column(name))
    many = np.bincount(code[code >= 0], minlength=len(values))
    found = zip(values.to_pylist(), many.tolist(), strict=True)
    return dict(sorted((value, count) for value, count in found if count))
