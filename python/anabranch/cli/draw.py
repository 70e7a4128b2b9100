"""`anabranch plot`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import plot
from ..files import check_writable
from ..offers import find
from ..plot.labels import labels
from ..result import Result
from .terminal import writing


@dataclass(frozen=True)
class Looks:
    """Requested looks of a figure that a command saves."""

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
    check_writable(target)
    plot.check_format(target)
    loaded = [Result.load_all(file) for file in files]
    results = [result for each in loaded for result in each]
    if asked.names and len(asked.names) != len(results):
        some = "files" if len(results) == len(files) else "results in these files"
        raise ValueError(
            f"there are {len(asked.names)} --name for {len(results)} {some}; give one for each"
        )
    for file, each in zip(files, loaded, strict=True):
        check_kind(kind, file, each)
    if asked.at_s is not None:
        if kind in plot.KINDS and "at_s" not in plot.KINDS[kind].options:
            raise ValueError(
                f"--at sets the time of a map; {kind} is not a map: use --kind topology"
            )
        options["at_s"] = asked.at_s
    figure = plot.draw(kind, results, names=asked.names or None, **options)
    with writing(target):
        plot.save(figure, target)


def check_kind(kind: str, file: Path, results: list[Result]) -> None:
    """Raises ValueError when theory or a comparison is to be drawn over time, or a comparison by a
    plot of one result.
    """
    if kind not in plot.KINDS:
        return
    facts = plot.KINDS[kind]
    if len(results) > 1 and (facts.series or not facts.several):
        what = (
            "which keeps no samples over time, and the plot {} shows those"
            if facts.series
            else "and the plot {} shows one result"
        )
        means = [name for name, one in plot.KINDS.items() if one.several and not one.series]
        runs = [result.command() for result in results if result.world != "theory"] or [[]]
        command = shlex.join([*runs[0], *["--series"] * facts.series, "--json", "FILE"])
        raise ValueError(
            f"{file} is a comparison of {', '.join(labels(results))}, made by `anabranch compare`, "
            f"{what.format(kind)}; draw {' or '.join(means)}, or what `{command}` writes"
        )
    if facts.series and results[0].world == "theory":
        steady = ", ".join(name for name, one in plot.KINDS.items() if not one.series)
        raise ValueError(
            f"{file} is a result of theory, which knows steady states only; the plot {kind} "
            f"shows samples over time; draw {steady}"
        )
