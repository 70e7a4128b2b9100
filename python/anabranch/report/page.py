"""A report as a page of HTML."""

from __future__ import annotations

import base64
import re
import shlex
from importlib import resources
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from . import Cell, Figure

if TYPE_CHECKING:
    from . import Report

TEMPLATE = "report.html.jinja"
FEWEST_FOR_CONTENTS = 4
"""Reports with fewer sections have no table of contents."""

NUMBER = re.compile(r"[-−+]?\d[\d.,]*(e[-+]?\d+)?\s?%?( ± .*| \([-−+\d.]+\))?")
"""A number, perhaps with its interval or with its change in brackets."""
VALUE = re.compile(rf"[<>≤≥]? ?{NUMBER.pattern}( … [-−+]?[\d.,]+)?( [A-Za-z/%]+)?")
"""A number, an interval, a band or a bound, with or without a unit: kept on one line."""


def page(report: Report) -> str:
    """The page. Everything that comes from the report is escaped by the template engine."""
    import jinja2

    source = (resources.files(__package__) / TEMPLATE).read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(
        paragraphs=paragraphs, address=address, placed=placed, numeric=numeric, shell=shlex.join
    )
    environment.tests["value"] = lambda cell: bool(VALUE.fullmatch(cell.text))
    facts: dict[str, Any] = {
        "report": report,
        "contents": len(report.sections) >= FEWEST_FOR_CONTENTS,
    }
    return environment.from_string(source).render(facts)


def paragraphs(text: str) -> list[str]:
    """Paragraphs, which empty lines separate."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def address(figure: Figure) -> str:
    """The picture itself as a `data:` address.

    As an image, an SVG can neither run a script, nor load anything, nor clash with the ids of
    another one in the page.
    """
    if isinstance(figure.content, str):
        svg = figure.content
    else:
        from ..plot.saving import svg as drawn

        svg = drawn(figure.content)
    if "<svg" not in svg[:1000]:
        raise ValueError(f"figure {figure.caption!r} is text, but not an SVG")
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def placed(row: list[Cell]) -> list[tuple[int, Cell]]:
    """The cells of a row, each with its first column."""
    ends = accumulate(cell.columns for cell in row)
    return [(end - cell.columns, cell) for end, cell in zip(ends, row, strict=True)]


def numeric(rows: list[list[Cell]], column: int) -> bool:
    """Whether a column is set to the right as numbers; cells that span columns are ignored."""
    own = [c.text for row in rows for start, c in placed(row) if start == column and c.columns == 1]
    texts = [text for text in own if text not in ("", "–", "—", "-")]
    return bool(texts) and all(NUMBER.fullmatch(text) for text in texts)
