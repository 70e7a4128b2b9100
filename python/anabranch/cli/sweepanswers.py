"""What `anabranch sweep query`, `export` and `plot` do."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from .. import plot
from ..files import beside, check_writable
from ..sweeps import Store
from ..sweeps.answers import Question, draw, query
from ..sweeps.export import FORMATS, export
from .draw import Looks
from .terminal import console, named, table, writing


def query_command(folder: Path, sql: str) -> None:
    """Asks in SQL."""
    found = query(filled(folder), sql)
    rows = [[named(cell(value)) for value in row] for row in found.itertuples(index=False)]
    console().print(table("", [named(str(one)) for one in found.columns], rows))


def filled(folder: Path) -> Store:
    """A store that has runs. Raises StoreError."""
    store = Store(folder)
    store.check_filled()
    return store


def cell(value: object) -> str:
    """A value in a table."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def export_command(folder: Path, file: Path, name: str) -> None:
    """Writes a table into one file."""
    if file.suffix not in FORMATS:
        *some, last = FORMATS
        raise ValueError(f"{file} ends in {file.suffix!r}; write {', '.join(some)} or {last}")
    check_writable(file)
    store = filled(folder)
    with writing(file), beside(file) as place:
        assert place is not None
        export(store, name, place, file.suffix)


def plot_command(
    folder: Path, asked: Question, where: list[str], output: Path, looks: Looks
) -> None:
    """Draws a figure."""
    check_writable(output)
    plot.check_format(output)
    question = replace(asked, where=fixed(where))
    figure = draw(filled(folder), question, **looks.options())
    with writing(output):
        plot.save(figure, output)


def fixed(where: list[str]) -> dict[str, object]:
    """What rows are to have: a text for each column, or a list where one is there several times."""
    found: dict[str, list[str]] = {}
    for text in where:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ValueError(f"--where is {text!r}; write COLUMN=VALUE, or COLUMN=VALUE,VALUE")
        found.setdefault(name, []).append(value)
    return {name: one[0] if len(one) == 1 else one for name, one in found.items()}
