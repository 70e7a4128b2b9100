"""Tables and blocks of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; what is in a cell stays on one line."""
    lines = [head, ["---"] * len(head), *([cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(text: str) -> str:
    """A text as a cell wants it."""
    return " ".join(text.split()).replace("|", "\\|")


def block(language: str, text: str) -> str:
    """A fenced block."""
    return f"```{language}\n{text}\n```"


def together(*parts: str) -> str:
    """Those of the parts that are not empty, with a line between them."""
    return "\n\n".join(part for part in parts if part)
