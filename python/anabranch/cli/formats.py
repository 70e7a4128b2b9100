"""Forms of a table for other programs: CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from ..offers import chosen

TEXT = "text"
"""The form for people, which the terminal draws."""

LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "−": "$-$",
    "→": r"$\to$",
    "↓": r"$\downarrow$",
    "≠": r"$\neq$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "√": r"$\surd$",
    "∞": r"$\infty$",
    "²": "$^2$",
    "φ": r"$\varphi$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "Σ": r"$\Sigma$",
    "§": r"\S ",
}
"""Characters that LaTeX reads otherwise, or that its fonts may lack."""


def _csv(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Comma-separated values: a half-width has a column of its own, a dash is an empty field."""
    out = io.StringIO()
    out.write(f"# {title}\n")
    writer = csv.writer(out, lineterminator="\n")
    columns = list(zip(*rows, strict=True)) or [()] * len(head)
    wide = [index >= left and any(" ± " in cell for cell in c) for index, c in enumerate(columns)]
    writer.writerow(
        [
            part
            for name, two in zip(head, wide, strict=True)
            for part in [name, f"{name} ±"][: 1 + two]
        ]
    )
    for row in rows:
        fields: list[str] = []
        for index, (cell, two) in enumerate(zip(row, wide, strict=True)):
            cell = "" if index >= left and cell == "–" else cell
            mean, _, half = cell.partition(" ± ")
            fields += [mean, half] if two else [cell]
        writer.writerow(fields)
    return out.getvalue()


def _markdown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """A table of GitHub's Markdown below its title."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    rule = ["---" if index < left else "---:" for index in range(len(head))]
    return f"{title}\n\n{''.join(map(line, [head, rule, *rows]))}"


def _latex(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """A `tabular` with the rules of the package booktabs; the title is a comment."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join("".join(LATEX.get(c, c) for c in cell) for cell in cells) + r" \\"

    kinds = "".join("l" if index < left else "r" for index in range(len(head)))
    lines = [
        f"% {title}",
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        line(head),
        r"\midrule",
        *map(line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[str, Sequence[str], Sequence[Sequence[str]], int], str]] = {
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
"""Functions that write a table from its title, its head, its rows, and the number of text
columns.
"""


def checked_format(name: str) -> str:
    """A name of `--format`. Raises ValueError for another word."""
    return chosen("--format", name, (TEXT, *FORMATS))
