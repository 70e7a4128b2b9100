"""From rows to answers: frames, and questions in SQL. Figures are in `figures`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .columns import one_unit, ordered, units_of
from .figures import Question, draw
from .libraries import library
from .parts import CLASSES, is_axis
from .scan import plain
from .store import Store
from .views import answer, tables

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["Question", "draw", "frame", "numbers", "ordered", "query", "tables"]


def numbers(table: pyarrow.Table) -> tuple[pyarrow.Table, dict[str, str]]:
    """The table with numbers in the place of texts where all values of a column of an axis are
    numbers of one unit, and those units. Texts may be dictionaries.
    """
    arrow, compute = library("pyarrow"), library("pyarrow.compute")
    units: dict[str, str] = {}
    for place, name in enumerate(table.column_names):
        kind = table.schema.field(name).type
        if not is_axis(name) or not (
            arrow.types.is_string(kind) or arrow.types.is_dictionary(kind)
        ):
            continue
        column = table.column(name)
        coded = (
            column if arrow.types.is_dictionary(kind) else column.dictionary_encode()
        ).unify_dictionaries()
        texts = [text for text in coded.unique().to_pylist() if text]
        known = one_unit(texts)
        if known is None:
            continue
        own = arrow.array(texts, arrow.string())
        values = arrow.array([known.values[text] for text in texts], arrow.float64())
        found = compute.take(values, compute.index_in(coded.cast(arrow.string()), own))
        table = table.set_column(place, name, found.cast("int64") if known.whole else found)
        if known.unit:
            units[name] = known.unit
    return table, units


def frame(store: Store, table: str = CLASSES) -> pandas.DataFrame:
    """A table of all runs; its units are in `.attrs["units"]`. Raises StoreError, ImportError."""
    library("pandas")
    found, units = numbers(store.read(table, coded=True))
    own: pandas.DataFrame = plain(found).to_pandas()
    own.attrs["units"] = units_of(table) | units
    return own


def query(store: Store, sql: str) -> pandas.DataFrame:
    """The answer to a question in SQL over the tables of a store, such as
    `select controller, class, avg(throughput_bps) from classes group by all`. It takes 2 GB of
    memory at most beside the answer itself, and what does not fit goes to the disk.

    Raises ValueError with what DuckDB says, StoreError, ImportError.
    """
    library("pandas")
    return answer(store, sql)
