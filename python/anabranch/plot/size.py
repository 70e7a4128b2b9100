"""Widths of figures, and the sizes of letters, lines and panels that follow from them."""

from __future__ import annotations

import math
import re

Width = float | str
"""Inches, or text such as "3.5in", "88mm" or "252pt"."""

PAGE_INCHES = 8.0
"""The width of a figure unless another is given: 1280 pixels at 160 dpi."""

UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Inches per unit; "pt" is TeX's point, in which LaTeX prints the width of a column."""

NARROWEST, WIDEST = 2.0, 40.0
"""Inches; below there is no room for an axis."""

COLUMN_INCHES, COLUMN_PT = 3.5, 8.0
"""A column of a paper, and the size of its labels."""
PAGE_PT = 10.0
"""The size of labels at `PAGE_INCHES`."""


def inches_of(width: Width | None) -> float:
    """A width in inches, `PAGE_INCHES` for None.

    Raises ValueError for text that is not a length, and for a width that is out of range.
    """
    if width is None:
        return PAGE_INCHES
    if isinstance(width, str):
        found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(in|cm|mm|pt)\s*", width.lower())
        if not found:
            raise ValueError(f"the width is {width!r}; write a length such as 3.5in, 88mm or 252pt")
        inches = float(found[1]) * UNITS[found[2]]
    else:
        inches = float(width)
    if not NARROWEST <= inches <= WIDEST:
        raise ValueError(
            f"the width is {width!r}; a figure is from {NARROWEST:g}in to {WIDEST:g}in wide"
        )
    return inches


def letters_pt(inches: float) -> float:
    """The size of labels in a figure of this width: 8 pt in a column, 10 pt on a page, and above
    in proportion to the width, as on slides.
    """
    if inches >= PAGE_INCHES:
        return PAGE_PT * inches / PAGE_INCHES
    slope = (PAGE_PT - COLUMN_PT) / (PAGE_INCHES - COLUMN_INCHES)
    return max(7.0, COLUMN_PT + slope * (inches - COLUMN_INCHES))


def height_of(page_inches: float, inches: float) -> float:
    """Height in a figure of this width for a part that is `page_inches` high on a page: narrow
    figures are less flat.
    """
    return page_inches * math.pow(inches / PAGE_INCHES, 0.75)
