"""HTML that notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

MOST_ROWS = 20
"""Rows of a table that are shown; below them stands how many more there are."""


def html_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Sequence[str],
    title: str = "",
    notes: Sequence[str] = (),
) -> str:
    """A table with a title above and notes below; all text is escaped.

    Columns whose heads are among `words` are aligned to the left, numbers to the right.
    """
    sides = ["left" if cell in words else "right" for cell in head]
    more = [f"… and {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []
    lines = [_row("th", head, sides), *(_row("td", row, sides) for row in rows[:MOST_ROWS])]
    above = f"<div><b>{escape(title)}</b></div>" if title else ""
    below = "".join(f"<div><small>{escape(note)}</small></div>" for note in [*more, *notes])
    return f"{above}<table>{''.join(lines)}</table>{below}"


def _row(tag: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    shown = (
        f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"
