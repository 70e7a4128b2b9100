"""Reports: one HTML file with text, tables and figures, which needs nothing else to be read.

    >>> table = Table("Rates", ["class", "Mb/s"], [["multipath", Cell("1.28", "reproduced")]])
    >>> section = Section("Scenario C", "LIA and OLIA side by side.", [table])
    >>> write(Report("Reproduction", "What came out.", [section]), "report.html")

The same report gives the same bytes: no time, no random ids. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import atomic_write
from ..offers import lookup

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = ["WORDS", "Card", "Cell", "Figure", "Report", "Section", "Table", "render", "write"]

WORDS = {
    "reproduced": "reproduced",
    "not_reproduced": "not reproduced",
    "undecided": "undecided",
    "not_run": "not run",
    "meets": "meets",
    "misses": "misses",
    "not_evaluated": "not evaluated",
}
"""Verdicts as people read them."""


@dataclass(frozen=True)
class Cell:
    """A table's cell. Raises ValueError for a verdict that there is not."""

    text: str
    verdict: str | None = None
    """One of `WORDS`; the cell gets its colour, and the word where `text` does not say it."""
    note: str | None = None
    """A remark in small type below the text."""
    link: str | None = None
    """Where the remark leads, or the text if there is none: a relative address."""
    columns: int = 1
    """Over how many columns the cell reaches."""
    heading: bool = False
    """Whether the row is the heading of the rows below it."""
    code: bool = False
    """Whether the text is a command or a name for the machine."""

    def __post_init__(self) -> None:
        """Finds the verdict however it is written."""
        if self.verdict is not None:
            verdict = lookup("verdict", self.verdict, WORDS, "the verdicts are")
            object.__setattr__(self, "verdict", verdict)

    @property
    def word(self) -> str | None:
        """The verdict's word."""
        return None if self.verdict is None else WORDS[self.verdict]

    @property
    def shown(self) -> str:
        """The text without a verdict that only repeats the word."""
        return "" if self.text in (self.verdict, self.word) else self.text


@dataclass(frozen=True)
class Table:
    """A table. Raises ValueError when a row and the head differ in the number of columns."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]

    def __post_init__(self) -> None:
        """Checks the rows."""
        for number, row in enumerate(self.cells, start=1):
            columns = sum(cell.columns for cell in row)
            if columns != len(self.head):
                raise ValueError(
                    f"table {self.caption!r}: row {number} has {columns} columns, "
                    f"the head has {len(self.head)}"
                )

    @property
    def cells(self) -> list[list[Cell]]:
        """The rows with plain texts as cells."""
        return [[c if isinstance(c, Cell) else Cell(c) for c in row] for row in self.rows]


@dataclass(frozen=True)
class Figure:
    """A picture: a figure of Matplotlib, or the text of an SVG."""

    caption: str
    content: Drawing | str


@dataclass(frozen=True)
class Section:
    """A part of a report. Paragraphs of `text` are separated by empty lines."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    command: Sequence[str] = ()
    """The words of a command that reproduces the section; the page quotes them for a shell."""
    below: Sequence[Table] = ()
    """Tables below the figures, folded until the reader opens them."""


@dataclass(frozen=True)
class Card:
    """A summary that stands first and is a document of its own when printed: facts, paragraphs of
    `text`, and tables in small type.
    """

    facts: Mapping[str, str]
    tables: Sequence[Table] = ()
    text: str = ""


@dataclass(frozen=True)
class Report:
    """A report. `intro` is made of paragraphs; `provenance` says where the numbers come from."""

    title: str
    intro: str = ""
    sections: Sequence[Section] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    card: Card | None = None


def render(report: Report) -> str:
    """The report as HTML in one piece.

    Raises ValueError for a figure that is text but no SVG.
    """
    from .page import page

    return page(report)


def write(report: Report, path: str | Path) -> None:
    """Writes the report whole or not at all. Raises OSError, and the errors of `render`."""
    atomic_write(path, render(report))
