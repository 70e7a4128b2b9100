"""Tables: the widths of their columns, and their form on a narrow terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from rich import table as rich
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.text import Text

from .streams import writable

SPREAD = re.compile(" (±|\\+-) ")
"""Stands between a mean and its half-width, spelled where the terminal has no sign for it."""


@dataclass(frozen=True)
class Table:
    """A table whose first `left` columns are text and whose others are numbers; cells have markup.

    Lines break between words only, numbers last. If the terminal is too narrow, columns in `spare`
    are left out, the first one first, and a note says so. If that is not enough, every cell gets
    its own line.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    spare: Sequence[str] = ()

    def plain(self) -> list[list[str]]:
        """The rows without markup."""
        return [[Text.from_markup(cell).plain for cell in row] for row in self.rows]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = _spelled(self, console)
        for left_out in range(len(self.spare) + 1):
            shown = without(whole, self.spare[:left_out])
            if layout := _layout(shown, options.max_width):
                yield _drawn(shown, layout)
                break
        else:
            yield _upright(whole)
            return
        if left_out:
            names = ", ".join(self.spare[:left_out])
            yield Text(f"left out at {options.max_width} columns: {names}", style="dim")


def _spelled(table: Table, console: Console) -> Table:
    """The table in the letters that the console has: spelled ones may be longer."""
    spelled = partial(writable, stream=console.file)
    rows = [[*map(spelled, row)] for row in table.rows]
    return replace(table, title=spelled(table.title), head=[*map(spelled, table.head)], rows=rows)


def without(table: Table, names: Sequence[str]) -> Table:
    """The table without some of its columns."""
    kept = [index for index, name in enumerate(table.head) if name not in names]
    return replace(
        table,
        head=[table.head[index] for index in kept],
        rows=[[row[index] for index in kept] for row in table.rows],
        left=sum(index < table.left for index in kept),
        spare=[name for name in table.spare if name not in names],
    )


def _columns(table: Table) -> Iterator[list[Text]]:
    """Each column: the heading and the cells, numbers aligned at their decimal points."""
    for index, (name, *cells) in enumerate(zip(table.head, *table.rows, strict=True)):
        texts = [Text.from_markup(cell) for cell in cells]
        yield [Text.from_markup(name), *(texts if index < table.left else _aligned(texts))]


def _aligned(cells: Sequence[Text]) -> list[Text]:
    """Cells of numbers, padded to put decimal points of means and of half-widths below another."""
    parts = [_parts(text) for text in cells]
    sign = max((len(spread) for _, spread, _ in parts), default=0)
    if not sign:
        return list(cells)
    means = _at_points([mean for mean, _, _ in parts])
    halves = _at_points([half for _, _, half in parts])
    result = []
    for text, (_, spread, _), (left, mean, right), half in zip(
        cells, parts, means, halves, strict=True
    ):
        if spread:
            result.append(Text(f"{left}{mean}{right} {spread} {''.join(half)}"))
        else:
            text = text.copy()
            text.pad_left(len(left))
            text.pad_right(len(right) + 1 + sign + 1 + len("".join(half)))
            result.append(text)
    return result


def _at_points(numbers: Sequence[str]) -> list[tuple[str, str, str]]:
    """Pads numbers with spaces so that their decimal points align."""
    points = [number.find(".") if "." in number else len(number) for number in numbers]
    before = max(points, default=0)
    behind = max((len(number) - at for number, at in zip(numbers, points, strict=True)), default=0)
    return [
        (" " * (before - at), number, " " * (behind - len(number) + at))
        for number, at in zip(numbers, points, strict=True)
    ]


def _parts(cell: Text) -> tuple[str, str, str]:
    """Mean, sign and half-width of a cell; without a half-width, the last two are empty."""
    mean, sign, half = [*SPREAD.split(cell.plain.strip(), maxsplit=1), "", ""][:3]
    return mean.strip(), sign, half.strip()


@dataclass(frozen=True)
class Layout:
    """Style of a table."""

    widths: Sequence[int]
    padding: int
    edge: bool
    """Whether the outer lines are drawn."""


def _layout(table: Table, width: int) -> Layout | None:
    """The widest form that fits; None where words do not fit side by side."""
    columns = list(_columns(table))
    for broken, (padding, edge) in product(
        (table.left, len(columns)), ((1, True), (0, True), (0, False))
    ):
        least = [_least(column, index < broken) for index, column in enumerate(columns)]
        lines = len(columns) + 1 if edge else len(columns) - 1
        room = width - 2 * padding * len(columns) - lines
        if sum(least) <= room:
            longest = [max(text.cell_len for text in column) for column in columns]
            return Layout(_narrowed(longest, least, room), padding, edge)
    return None


def _least(column: Sequence[Text], broken: bool) -> int:
    """The least width of a column: headings break between words, cells only if `broken`, and those
    with a half-width before it.
    """
    head, *cells = column
    parts = head.plain.split()
    for text in cells:
        mean, sign, half = _parts(text)
        if not broken:
            parts.append(text.plain)
        elif sign:
            parts += [mean, f"{sign} {half}"]
        else:
            parts += text.plain.split()
    return max(map(cell_len, parts), default=0)


def _narrowed(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fit into `room`: the widest columns give way, none below its least."""
    result = list(widths)
    while sum(result) > room:
        spare = [i for i, width in enumerate(result) if width > least[i]]
        result[max(spare, key=lambda i: result[i])] -= 1
    return result


def _drawn(table: Table, layout: Layout) -> rich.Table:
    """The table, drawn."""
    result = rich.Table(
        title=table.title,
        title_justify="left",
        padding=(0, layout.padding),
        show_edge=layout.edge,
    )
    body = []
    for index, (column, width) in enumerate(zip(_columns(table), layout.widths, strict=True)):
        number = index >= table.left
        justify: JustifyMethod = "right" if number else "left"
        head, *cells = column
        result.add_column(head, justify=justify, overflow="fold", width=width)
        if number and max((text.cell_len for text in cells), default=0) <= width:
            for text in cells:  # the padding at the end is part of the alignment
                text.pad_left(width - text.cell_len)
                text.justify = "left"
        elif number:
            cells = [_broken(text) for text in cells]
        body.append(cells)
    for row in zip(*body, strict=True):
        result.add_row(*row)
    return result


def _broken(cell: Text) -> Text:
    """A number over two lines, the half-width below the mean."""
    mean, sign, half = _parts(cell)
    return Text(f"{mean}\n{sign} {half}") if sign else cell


def _upright(table: Table) -> rich.Table:
    """The cells of each row, one per line, with their headings."""
    result = rich.Table(title=table.title, title_justify="left", show_header=False)
    result.add_column(style="bold")
    result.add_column(overflow="fold")
    for row in table.rows:
        for name, cell in zip(table.head, row, strict=True):
            if cell:
                result.add_row(name, cell)
        result.add_section()
    return result
