"""HTML that notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
) -> str:
    """A table with a title above and notes below; all text is escaped."""
    columns = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    below = "".join(f"<div><small>{escape(note)}</small></div>" for note in notes)
    above = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{above}<thead><tr>{columns}</tr></thead><tbody>{lines}</tbody></table>{below}"
