"""Rows of runs, as a store keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..frames import TABLES, columns_of
from ..offers import lookup
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
    found: dict[str, list[dict[str, Any]]] = {table: [] for table in (RUNS, *tables)}
    for run in result.runs:
        about = _about(of, run.seed, made_by)
        counts = {
            "tables": ",".join(tables),
            "digest": run.digest,
            "events": run.events,
            "packet_hops": run.packet_hops,
            "simulated_s": run.simulated_s,
        }
        found[RUNS].append({name: [value] for name, value in {**about, **counts}.items()})
        for table in tables:
            own = columns_of(of.plan, run, table)
            if "controller" in own:  # of each class; the sweep's own is under that name
                own["class_controller"] = own.pop("controller")
            many = len(next(iter(own.values())))
            found[table].append({name: [value] * many for name, value in about.items()} | own)
    return {table: _arrow(parts) for table, parts in found.items()}


def _about(of: Configuration, seed: int, made_by: str) -> dict[str, Any]:
    return {
        "configuration": of.key,
        "seed": seed,
        "version": made_by,
        "scenario": of.name,
        "controller": of.label,
        **of.values,
    }


def _arrow(parts: Sequence[dict[str, Any]]) -> pyarrow.Table:
    """A table of columns that come in pieces; numbers keep their widths."""
    arrow = library("pyarrow")
    return joined([arrow.table({k: _column(k, v) for k, v in part.items()}) for part in parts])


def _column(name: str, values: Any) -> Any:
    arrow = library("pyarrow")
    if name == "seed":
        return arrow.array(values, type=arrow.uint64())
    if isinstance(values, np.ndarray):
        return arrow.array(values)
    if any(isinstance(value, str) for value in values):
        return arrow.array(values, type=arrow.string())
    return arrow.array(values)
