"""`anabranch plot`."""

from __future__ import annotations

from pathlib import Path

from .. import plot
from ..files import check_writable
from ..result import Result
from .terminal import writing


def plot_command(files: list[Path], kind: str, output: Path | None) -> None:
    """Draws results into a file."""
    target = output or Path(f"{kind}.png")
    check_writable(target)
    results = [Result.load(file) for file in files]
    check_kind(kind, files, results)
    figure = plot.draw(kind, results)
    with writing(target):
        plot.save(figure, target)


def check_kind(kind: str, files: list[Path], results: list[Result]) -> None:
    """Raises ValueError when a result of theory is to be drawn over time."""
    if kind not in plot.KINDS or not plot.KINDS[kind].series:
        return
    for file, result in zip(files, results, strict=True):
        if result.world == "theory":
            steady = ", ".join(name for name, facts in plot.KINDS.items() if not facts.series)
            raise ValueError(
                f"{file} is a result of theory, which knows steady states only; the plot {kind} "
                f"shows samples over time; draw {steady}"
            )
