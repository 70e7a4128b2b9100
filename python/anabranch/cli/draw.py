"""`anabranch plot`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import plot
from ..files import check_writable
from ..offers import find
from ..result import Result
from .terminal import writing


@dataclass(frozen=True)
class Looks:
    """How a figure that a command saves is to look, as it was asked for."""

    width: str | None = None
    title: str | None = None

    def options(self) -> dict[str, Any]:
        """For a plot function. Raises ValueError for a width that is not one."""
        try:
            plot.inches_of(self.width)
        except ValueError as error:
            raise ValueError(f"--width: {error}") from None
        return {"width": self.width, "title": self.title}


PLAIN = Looks()
"""Neither a width nor a title was given."""


@dataclass(frozen=True)
class PlotOptions:
    """The options of `anabranch plot`, as they were given."""

    kind: str = "shares"
    output: Path | None = None
    names: Sequence[str] = ()
    at_s: float | None = None
    """The time of a map in seconds."""
    looks: Looks = PLAIN


def plot_command(files: list[Path], asked: PlotOptions) -> None:
    """Draws results into a file."""
    kind = find(asked.kind, plot.KINDS) or asked.kind
    target = asked.output or Path(f"{kind}.png")
    options = asked.looks.options()
    if asked.names and len(asked.names) != len(files):
        raise ValueError(
            f"there are {len(asked.names)} --name for {len(files)} files; give one for each"
        )
    check_writable(target)
    plot.check_format(target)
    results = [Result.load(file) for file in files]
    check_kind(kind, files, results)
    if asked.at_s is not None:
        if kind in plot.KINDS and "at_s" not in plot.KINDS[kind].options:
            raise ValueError(
                f"--at sets the time of a map; {kind} is not a map: use --kind topology"
            )
        options["at_s"] = asked.at_s
    figure = plot.draw(kind, results, names=asked.names or None, **options)
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
