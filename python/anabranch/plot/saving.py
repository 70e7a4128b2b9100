"""Figures as files: whole or not at all, the same bytes for the same figure."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files import atomic_write
from .style import context

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Formats by suffix, each with the metadata that would say when and by what it was made."""


def save(figure: Figure, path: str | Path, *, dpi: float = 160) -> None:
    """Writes PNG, SVG or PDF as the suffix says; `dpi` is the resolution of PNG.

    Raises ValueError for another suffix, and OSError when the file cannot be written.
    """
    atomic_write(path, encoded(figure, check_format(path), dpi=dpi))


def check_format(path: str | Path) -> str:
    """The format that a file's name says. Raises ValueError when it says none that there is."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise ValueError(f"{path}: the name must end in one of {known}, to say which format")
    return suffix


def svg(figure: Figure) -> str:
    """The figure as SVG text, with glyphs as paths: it needs no font."""
    return encoded(figure, "svg").decode()


def encoded(figure: Figure, suffix: str, **options: Any) -> bytes:
    """The figure in a format of `FORMATS`.

    A copy is drawn, for drawing moves the axes a little each time and bytes would change with it.
    """
    buffer = io.BytesIO()
    with context():
        copy.deepcopy(figure).savefig(buffer, format=suffix, metadata=FORMATS[suffix], **options)
    return buffer.getvalue()
