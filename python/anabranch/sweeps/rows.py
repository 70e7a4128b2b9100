"""Rows of runs, as a store keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..frames import TABLES, columns_of
from ..offers import lookup
from ..records import Flags, Indices, Meaning, Numbers, Words, hints, meanings, pieces
from ..result import Result
from ..runs import Run
from .configuration import Configuration
from .libraries import library
from .parts import CLASSES, MADE_BY, RUNS, joined

if TYPE_CHECKING:
    import pyarrow


def checked_tables(names: Iterable[str]) -> tuple[str, ...]:
    """The tables that a sweep keeps beside the runs. Raises UnknownName."""
    kept = [*TABLES, *WHOLES]
    found = [lookup("table", name, kept, "the tables are") for name in names]
    return tuple(dict.fromkeys([CLASSES, *found]))


def over_time(table: str) -> bool:
    """Whether a table needs samples over time."""
    return "series" in table.split(".")


def of_events(table: str) -> bool:
    """Whether a table needs the log of events."""
    return "events_log" in table.split(".")


def version() -> str:
    """What made a row: the version, and the digest of the sources that it was built from."""
    return f"{_core.__version__}+{_core.SOURCES}"


def rows(
    of: Configuration, result: Result, tables: Sequence[str], made_by: str
) -> dict[str, pyarrow.Table]:
    """The rows of the runs of a configuration, by table."""
    seeds = [run.seed for run in result.runs]
    counts: dict[str, list[Any]] = {
        "tables": [",".join(tables)] * len(seeds),
        "digest": [run.digest for run in result.runs],
        "events": [run.events for run in result.runs],
        "packet_hops": [run.packet_hops for run in result.runs],
        "simulated_s": [run.simulated_s for run in result.runs],
    }
    found = {RUNS: arrow_table(of, seeds, made_by, counts)}
    for table in tables:
        columns: dict[str, list[Any]] = {}
        rows_of: list[int] = []
        for run in result.runs:
            own = _columns(of, run, table)
            rows_of += [run.seed] * len(next(iter(own.values())))
            for name, values in own.items():
                plain = values.tolist() if isinstance(values, np.ndarray) else values
                columns.setdefault(name, []).extend(plain)
        found[table] = arrow_table(of, rows_of, made_by, columns, table)
    return {table: joined([rows]) for table, rows in found.items()}


def _columns(of: Configuration, run: Run, table: str) -> dict[str, Any]:
    if table in WHOLES:
        left = {"series", "events_log"}.difference(table.split("."))
        whole = {key: value for key, value in run.json_parts().items() if key not in left}
        return {"run": ["".join(pieces(whole))]}
    columns = columns_of(of.plan, run, table)
    if "controller" in columns:  # of each class; the sweep's own is under that name
        columns["class_controller"] = columns.pop("controller")
    return columns


def is_whole(table: str) -> bool:
    """Whether a table has whole runs."""
    return table in WHOLES


def whole_with(series: bool, events: bool) -> str:
    """The table of whole runs with samples over time, or logs of events."""
    return WHOLES[series + 2 * events]


def arrow_table(
    of: Configuration,
    seeds: Sequence[int],
    made_by: str,
    own: dict[str, list[Any]],
    table: str = RUNS,
) -> pyarrow.Table:
    """Rows of runs: of each its seed, what all have in common, and the table's own columns."""
    common = {
        "version": made_by,
        "scenario": of.name,
        "controller": of.label,
        **of.values,
        "controller_source": of.source or None,
        "overrides": of.fixed or None,
    }
    if table == RUNS:
        own = {"world": [of.world] * len(seeds), **own}
    columns = {
        "configuration": [of.key] * len(seeds),
        "seed": list(seeds),
        **{name: [value] * len(seeds) for name, value in common.items()},
        **own,
    }
    about = tuple(name for name in columns if name not in own)
    schema = _schema(tuple(columns), about, table, made_by)
    array = library("pyarrow").array
    arrays = [array(columns[field.name], field.type) for field in schema]
    return library("pyarrow").Table.from_arrays(arrays, schema=schema)


@lru_cache
def _schema(names: tuple[str, ...], about: tuple[str, ...], table: str, made_by: str) -> Any:
    """The types of columns, and what is said of them; `about` names those that say which run."""
    arrow = library("pyarrow")
    kinds = _kinds(table) if table in TABLES else COUNTS
    kinds = OTHERS | kinds | dict.fromkeys(about, "string") | {"seed": "uint64"}
    said = metadata(table)
    fields = [
        arrow.field(name, getattr(arrow, kinds.get(name, "string"))(), metadata=said.get(name))
        for name in names
    ]
    return arrow.schema(fields, {MADE_BY: made_by})


@cache
def metadata(table: str) -> dict[str, dict[str, str]]:
    """The unit and the meaning of columns of a table, which files of rows have beside them."""
    found = dict(ABOUT)
    if table == CLASSES:
        flows = meanings(TABLES["flows"]).items()
        found |= {name: one for name, one in flows if name.endswith("_bps")}
    if table in TABLES:
        found |= meanings(TABLES[table])
    return {name: {"unit": one.unit, "meaning": one.text} for name, one in found.items()}


ABOUT = {
    "configuration": Meaning("", "hash of all that the run depends on beside its seed"),
    "seed": Meaning("", "of all random numbers of the run"),
    "version": Meaning("", "of anabranch, and a digest of its sources"),
    "controller_source": Meaning("", "hash of a law or a class of one's own"),
    "overrides": Meaning("", "that the sweep sets beside its axes"),
    "world": Meaning("", "in which the run was made: simulation, or equilibrium"),
    "tables": Meaning("", "that the sweep keeps of the run"),
    "digest": Meaning("", "of every event of the run"),
    "events": Meaning("", "that the run had"),
    "packet_hops": Meaning("", "packets that came out of a link"),
    "simulated_s": Meaning("s", "how long the run lasted in its own time"),
}
"""Columns that belong to no table of results."""


WHOLES = ("whole", "whole.series", "whole.events_log", "whole.series.events_log")
"""Tables of whole runs, as result files have them: JSON in the column `run`. The names say whether
it has samples over time and logs of events."""

OTHERS = dict.fromkeys(("user", "path", "users"), "int64") | {"t_s": "float64"}
"""The types of columns that say what rows belong to, where they are no texts."""

COUNTS = {"events": "int64", "packet_hops": "int64", "simulated_s": "float64"}
"""Columns of runs that are no texts."""

KINDS: dict[Any, str] = {Numbers: "float64", Indices: "int64", Flags: "bool_", Words: "string"}
"""The types of columns, whatever is in them: parts of one store fit together."""


NAMES = {"series.nodes.hops": ("medium", "from", "to")}
"""Columns in which names stand for numbers of rows."""


def _kinds(table: str) -> dict[str, str]:
    """The types of a table's columns, by their names in JSON."""
    found = {name: KINDS[hint] for name, hint in hints(TABLES[table]).items() if hint in KINDS}
    if table == CLASSES:
        found |= {name: "float64" for name in hints(TABLES["flows"]) if name.endswith("_bps")}
    kinds = {name.rstrip("_"): kind for name, kind in found.items()}
    return kinds | dict.fromkeys(NAMES.get(table, ()), "string")
