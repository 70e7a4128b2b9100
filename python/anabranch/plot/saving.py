"""Figures as files: whole or not at all, the same bytes for the same figure."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import atomic_write
from ..offers import offer
from .size import NARROWEST, WIDEST, Width, inches_of
from .style import RECIPES, context

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats by suffix, each with the metadata keys that would record time and program."""


def save(figure: Figure, path: str | Path, *, dpi: float = 160, width: Width | None = None) -> None:
    """Writes PNG, SVG or PDF as the suffix says; `dpi` is the resolution of PNG.

    `width`, in inches or as text such as "3.5in" or "88mm", draws the figure once more for that
    width. PDF has TrueType fonts, and text in SVG is text.

    Raises ValueError for another suffix, for a width that is not one, and for a width where the
    figure was not made by a plot function or has been changed since; and OSError when the file
    cannot be written.
    """
    suffix = check_format(path)
    if width is not None:
        figure = redrawn(figure, width)
    atomic_write(path, encoded(figure, suffix, dpi=dpi))


def check_format(path: str | Path) -> str:
    """The format that a file's name says. Raises ValueError when it says none that there is."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise ValueError(
            f"{path}: the name must end in one of {known}, to say which format{offer(suffix, FORMATS)}"
        )
    return suffix


def redrawn(figure: Figure, width: Width) -> Figure:
    """The figure as its plot function draws it for another width."""
    if inches_of(width) == figure.get_figwidth():
        return figure
    again = RECIPES.get(figure)
    if again is None:
        raise ValueError(
            f"the width {width!r} is for figures of plot functions, which are drawn once more; "
            "give this one its size with set_size_inches"
        )
    if encoded(again(), "svg") != encoded(figure, "svg"):
        raise ValueError(
            f"the figure has been changed since it was drawn, and the width {width!r} would draw "
            "it without the changes; give width= to the plot function"
        )
    return again(width=width)


def svg(figure: Figure, *, last: bool = False) -> str:
    """The figure as SVG text, with glyphs as paths: it needs no font. `last` spares the copy of a
    figure that is not drawn again.
    """
    return encoded(figure, "svg", glyphs=True, last=last).decode()


def encoded(
    figure: Figure, suffix: str, *, glyphs: bool = False, last: bool = False, **options: Any
) -> bytes:
    """The figure in a format of `FORMATS`; `glyphs` draws the text of SVG as paths.

    A copy is drawn unless it is the `last` time, for drawing moves the axes a little each time and
    bytes would change with it.
    """
    import matplotlib

    buffer = io.BytesIO()
    wide = min(max(float(figure.get_figwidth()), NARROWEST), WIDEST)
    with context(wide):  # ticks take their sizes from the style when they are drawn
        if glyphs:
            matplotlib.rcParams["svg.fonttype"] = "path"
        drawn = figure if last else copy.deepcopy(figure)
        drawn.savefig(buffer, format=suffix, metadata=FORMATS[suffix], **options)
    return buffer.getvalue()
