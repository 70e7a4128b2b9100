"""Whether a store has what runs give: files that can be read, and rows that come out again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .configuration import Task
from .parts import CLASSES, KEPT, KEYS, RUNS, StoreError, check_file, coded, is_axis
from .store import Store
from .work import work

if TYPE_CHECKING:
    import pyarrow

Run = tuple[str, int, str]
"""What `KEYS` name."""

NAMES = ("scenario", "controller", KEPT)
"""Columns that say how a run was asked for: of one configuration they may differ, as axes may."""


@dataclass(frozen=True)
class Sample:
    """Runs of this version, drawn evenly, and how many there are of this and of other versions."""

    runs: list[Run]
    mine: int
    others: dict[str, int]
    """By version."""


def broken(store: Store) -> list[str]:
    """What is wrong with files of parts, each read whole, one after the other."""
    found = []
    for name in store.names():
        part = store.parts / name
        needed = (part / f"{table}.parquet" for table in (RUNS, CLASSES))
        for file in sorted({*part.glob("*.parquet"), *needed}):
            try:
                check_file(file)
            except FileNotFoundError:
                if part.exists():
                    found.append(f"{file} is missing; delete the folder {name}")
            except StoreError as error:
                found.append(str(error))
    return found


def sample(store: Store, version: str, most: int) -> Sample:
    """At most so many runs of a version, evenly from all of them in their order: the same ones each
    time. Raises StoreError.
    """
    runs = store.read(RUNS, KEYS, coded=True)
    versions, made_by = coded(runs.column("version"))
    counts = np.bincount(made_by, minlength=len(versions)).tolist()
    by_version = dict(sorted(zip(versions.to_pylist(), counts, strict=True)))
    own = np.flatnonzero(np.array([one == version for one in versions.to_pylist()], bool)[made_by])
    many = min(most, len(own))
    chosen = own[[place * len(own) // many for place in range(many)]] if many else own
    rows = runs.take(chosen).to_pylist()
    found = [(row["configuration"], row["seed"], row["version"]) for row in rows]
    return Sample(found, by_version.pop(version, 0), by_version)


def differing(
    store: Store, runs: list[Run], tell: Callable[[int, int], object] | None = None
) -> dict[Run, str]:
    """Makes runs again; what differs from their rows, or why they cannot be made, of those where
    something does. Raises StoreError.
    """
    stored: dict[str, pyarrow.Table] = {RUNS: store.some(RUNS, runs)}
    kept = {
        tuple(row[key] for key in KEYS): tuple((row[KEPT] or "").split(","))
        for row in stored[RUNS].to_pylist()
    }
    for table in sorted({table for own in kept.values() for table in own if table}):
        stored[table] = store.some(table, runs)
    found = {}
    for number, run in enumerate(runs):
        if why := _difference(store, run, kept[run], stored):
            found[run] = why
        if tell:
            tell(number + 1, len(runs))
    return found


def _difference(
    store: Store, run: Run, tables: tuple[str, ...], stored: dict[str, pyarrow.Table]
) -> str:
    key, seed, version = run
    try:
        of = store.configuration(key)
        if of.key != key:
            return f"what is kept of its configuration gives {of.key}: a file was changed since"
    except (OSError, ValueError) as error:
        return f"it cannot be made again: {error}"
    outcome = work(Task(((of, (seed,)),), tables, version))
    if outcome.failures:
        return f"it fails now: {outcome.failures[0].reason}"
    names = []
    for table in (RUNS, *tables):
        if table:
            rows = _of_run(stored[table], run)
            names += [f"{table}.{one}" for one in _columns(rows, outcome.tables[table])]
    return ", ".join(names)


def _of_run(rows: pyarrow.Table, run: Run) -> pyarrow.Table:
    own = zip(*(rows.column(key).to_pylist() for key in KEYS), strict=True)
    return rows.take([number for number, one in enumerate(own) if one == run])


def _columns(stored: pyarrow.Table, made: pyarrow.Table) -> list[str]:
    """The columns that differ in two tables of one run; NaN equals NaN."""
    names = dict.fromkeys([*made.column_names, *stored.column_names])
    measured = [one for one in names if one not in (*KEYS, *NAMES) and not is_axis(one)]
    if stored.num_rows != made.num_rows:
        return measured
    return [one for one in measured if _texts(stored, one) != _texts(made, one)]


def _texts(rows: pyarrow.Table, name: str) -> list[str]:
    """The values of a column, so that equal texts are equal bits; a column that is not there has
    none.
    """
    there = name in rows.column_names
    return (
        [repr(one) for one in rows.column(name).to_pylist()] if there else ["None"] * rows.num_rows
    )
