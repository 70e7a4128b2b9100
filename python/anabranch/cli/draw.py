"""`anabranch plot`."""

from __future__ import annotations

from pathlib import Path

from .. import plot
from ..files import check_writable
from ..result import Result
from .terminal import writing


def plot_command(
    files: list[Path], kind: str, output: Path | None, at_s: float | None = None
) -> None:
    """Draws results into a file; `at_s` is the time of a map in seconds."""
    target = output or Path(f"{kind}.png")
    check_writable(target)
    results = [Result.load(file) for file in files]
    check_kind(kind, files, results)
    if at_s is not None and kind in plot.KINDS and "at_s" not in plot.KINDS[kind].options:
        raise ValueError(f"--at is the time of a map, and the plot {kind} is none; draw topology")
    figure = plot.draw(kind, results, **({} if at_s is None else {"at_s": at_s}))
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
