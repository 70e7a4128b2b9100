"""Tables of very many rows: each row is one line, whatever the width of the terminal."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import product

from rich.box import HEAVY_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from .streams import writable

FORMS = ((1, True), (0, True), (0, False))
"""Blanks beside a cell, and whether the outer lines are drawn: the widest form that fits counts."""

BOLD, DIM, TITLE = Style(bold=True), Style(dim=True), Style(italic=True)


@dataclass(frozen=True)
class Lines:
    """A table whose first `left` columns are text and whose others are numbers; cells are plain
    text, and none is broken. Headings have several lines.

    If the terminal is too narrow, columns in `spare` are left out, the first one first, and a note
    says so; if that is not enough, `shorter` is drawn, and without it the lines are too long.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    spare: Sequence[str] = ()
    bold: Container[int] = ()
    """Numbers of the rows in bold."""
    shorter: Lines | None = None
    note: str = ""
    """Below the table."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = [[writable(cell, console.file) for cell in row] for row in self.rows]
        widths = [
            max(map(cell_len, [*name.split("\n"), *column]))
            for name, column in zip(
                self.head, zip(*rows, strict=True) if rows else [()] * len(self.head), strict=True
            )
        ]
        for left_out, (padding, edge) in product(range(len(self.spare) + 1), FORMS):
            gone = self.spare[:left_out]
            kept = [index for index, name in enumerate(self.head) if name not in gone]
            width = sum(widths[index] + 2 * padding for index in kept) + len(kept) - 1 + 2 * edge
            if width <= options.max_width:
                break
        else:
            if self.shorter:
                yield self.shorter
                return
        drawn = Drawn(self, [widths[index] for index in kept], kept, padding, edge)
        yield from drawn.segments(rows, options)
        if gone:
            names = ", ".join(name.replace("\n", " ") for name in gone)
            yield Text(f"left out at {options.max_width} columns: {names}", style="dim")
        if self.note:
            yield Text(self.note, style="dim")


@dataclass(frozen=True)
class Drawn:
    """A form of a table."""

    table: Lines
    widths: Sequence[int]
    kept: Sequence[int]
    """The columns that are drawn."""
    padding: int
    edge: bool

    def segments(self, rows: Sequence[Sequence[str]], options: ConsoleOptions) -> RenderResult:
        """The lines, with the ends of lines."""
        box = HEAVY_HEAD.substitute(options, safe=True)
        widths = [width + 2 * self.padding for width in self.widths]
        head = box.head_left, box.head_vertical, box.head_right
        body = box.mid_left, box.mid_vertical, box.mid_right
        lines = [(self.table.title, TITLE)]
        if self.edge:
            lines.append((box.get_top(widths), Style.null()))
        titles = [name.split("\n") for name in self.table.head]
        for number in range(max(len(titles[index]) for index in self.kept)):
            names = [(*title, "", "")[number] for title in titles]
            lines.append((self._line(names, *head), BOLD))
        rule = box.get_row(widths, "head")
        lines.append((rule if self.edge else rule[1:-1], Style.null()))
        for number, row in enumerate(rows):
            bold = number in self.table.bold
            lines.append((self._line(row, *body), BOLD if bold else Style.null()))
        if self.edge:
            lines.append((box.get_bottom(widths), Style.null()))
        end = Segment.line()
        for text, style in lines:
            yield Segment(text, style)
            yield end

    def _line(self, row: Sequence[str], first: str, between: str, last: str) -> str:
        blank, cells = " " * self.padding, []
        for index, width in zip(self.kept, self.widths, strict=True):
            fill = " " * (width - cell_len(row[index]))
            text = row[index] + fill if index < self.table.left else fill + row[index]
            cells.append(f"{blank}{text}{blank}")
        line = between.join(cells)
        return f"{first}{line}{last}" if self.edge else line
