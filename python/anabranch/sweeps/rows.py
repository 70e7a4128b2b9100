"""Rows of runs, as a store keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..frames import TABLES, columns_of
from ..offers import lookup
from ..records import Flags, Indices, Numbers, Table, Words, hints
from ..result import Result
from .configuration import Configuration
from .libraries import library
from .parts import joined
from .store import CLASSES, RUNS

if TYPE_CHECKING:
    import pyarrow


def checked_tables(names: Iterable[str]) -> tuple[str, ...]:
    """The tables that a sweep keeps beside the runs. Raises UnknownName."""
    kept = [name for name in TABLES if not name.startswith(("series", "events_log"))]
    found = [lookup("table", name, kept, "the tables are") for name in names]
    return tuple(dict.fromkeys([CLASSES, *found]))


def version() -> str:
    """What made a row: the version, and the digest of the sources that it was built from."""
    return f"{_core.__version__}+{_core.SOURCES}"


def rows(
    of: Configuration, result: Result, tables: Sequence[str], made_by: str
) -> dict[str, pyarrow.Table]:
    """The rows of the runs of a configuration, by table."""
    found: dict[str, list[pyarrow.Table]] = {table: [] for table in (RUNS, *tables)}
    for run in result.runs:
        about = _about(of, run.seed, made_by)
        counts = {
            "tables": ",".join(tables),
            "digest": run.digest,
            "events": run.events,
            "packet_hops": run.packet_hops,
            "simulated_s": run.simulated_s,
        }
        found[RUNS].append(_arrow(about, {name: [value] for name, value in counts.items()}))
        for table in tables:
            own = columns_of(of.plan, run, table)
            if "controller" in own:  # of each class; the sweep's own is under that name
                own["class_controller"] = own.pop("controller")
            found[table].append(_arrow(about, own, TABLES[table]))
    return {table: joined(parts) for table, parts in found.items()}


def _about(of: Configuration, seed: int, made_by: str) -> dict[str, Any]:
    return {
        "configuration": of.key,
        "seed": seed,
        "version": made_by,
        "scenario": of.name,
        "controller": of.label,
        **of.values,
    }


def _arrow(
    about: dict[str, Any], own: dict[str, Any], table: type[Table] | None = None
) -> pyarrow.Table:
    """The rows of a run: what is about it, and its own columns with the types of the table."""
    arrow = library("pyarrow")
    many = len(next(iter(own.values())))
    columns = {
        name: arrow.array([value] * many, arrow.uint64() if name == "seed" else arrow.string())
        for name, value in about.items()
    }
    kinds = _kinds(table) if table else COUNTS
    for name, values in own.items():
        kind = kinds.get(name, "int64" if name in WHOLE else "string")
        plain = values.tolist() if isinstance(values, np.ndarray) else list(values)
        columns[name] = arrow.array(plain, getattr(arrow, kind)())
    return arrow.table(columns)


WHOLE = ("user", "path", "users")
"""Columns of whole numbers that say what rows belong to."""

COUNTS = {"events": "int64", "packet_hops": "int64", "simulated_s": "float64"}
"""Columns of runs that are no texts."""

KINDS = {Numbers: "float64", Indices: "int64", Flags: "bool_", Words: "string"}
"""The types of columns, whatever is in them: parts of one store fit together."""


def _kinds(table: type[Table]) -> dict[str, str]:
    """The types of a table's columns, by their names in JSON."""
    owners = ("flow", "way")  # numbers of rows, in whose place names stand
    found = {name: KINDS[hint] for name, hint in hints(table).items() if hint in KINDS}
    if table is TABLES[CLASSES]:
        found |= {name: "float64" for name in hints(TABLES["flows"]) if name.endswith("_bps")}
    return {name.rstrip("_"): kind for name, kind in found.items() if name not in owners}
