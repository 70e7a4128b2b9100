"""`anabranch plot`."""

from __future__ import annotations

from pathlib import Path

from .. import plot
from ..files import check_writable
from ..result import Result
from .terminal import console


def plot_command(files: list[Path], kind: str, output: Path | None) -> None:
    """Draws results into a file."""
    target = output or Path(f"{kind}.png")
    check_writable(target)
    figure = plot.draw(kind, [Result.load(file) for file in files])
    plot.save(figure, target)
    console().print(f"written to {target}", highlight=False)
