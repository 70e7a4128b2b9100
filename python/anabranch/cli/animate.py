"""`anabranch animate`."""

from __future__ import annotations

from pathlib import Path

from .. import plot
from ..files import atomic_write, check_writable
from ..result import Result
from .terminal import writing


def animate_command(file: Path, output: Path | None, seed: int | None) -> None:
    """Writes a result as a page that plays it."""
    target = output or Path("animation.html")
    check_writable(target)
    result = Result.load(file)
    if result.world == "theory":
        raise ValueError(f"{file} is a result of theory, in which nothing moves; take one of `run`")
    page = plot.animation(result, seed=seed)
    with writing(target):
        atomic_write(target, page)
