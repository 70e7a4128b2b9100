"""Mean rates of classes with intervals, beside published or theoretical values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import style
from .inputs import Results, class_names, controllers, labels, replications, several

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

GROUP = 0.8
"""Width of a result's bars; results are 1 apart."""
MOST_NUMBERS = 14
"""With more bars there is no room for their values."""
MARKERS = ("D", "^", "o", "s")
PLACES = (-0.8, 0.8, -0.45, 0.45)
"""Where on a bar a reference has its marker; the interval is in the middle."""


@dataclass(frozen=True)
class Reference:
    """Values to compare with, such as published ones or a fixed point."""

    label: str
    """What the legend says."""
    rates_bps: Sequence[Mapping[str, float]]
    """Mean rate per user by class in bit/s: one mapping for each result, or one for all."""


@style.styled
def shares(
    results: Results,
    *,
    references: Sequence[Reference] = (),
    names: Sequence[str] | None = None,
    metric: str = "throughput_bps",
    setting: str = "",
) -> Figure:
    """Mean rate per user of each class in Mb/s, with 95 % intervals over replications.

    Several results, such as one for each controller, stand side by side, called `names` (by
    default what tells them apart). References are horizontal marks on the bars. `setting` is what
    all results have in common beside the scenario, such as "N1 = 10", for the title.

    Raises ValueError when `names` or a reference does not have one entry for each result.
    """
    given = several(results)
    texts = labels(given) if names is None else list(names)
    if len(texts) != len(given):
        raise ValueError(f"there are {len(given)} results but {len(texts)} names for them")
    scenarios = " and ".join(dict.fromkeys(result.plan.name for result in given))
    where = f"{scenarios}, {setting}" if setting else scenarios
    intervals = "" if all(len(r.runs) == 1 for r in given) else " with 95 % intervals"
    title = f"{where}: mean rate per user{intervals}, {replications(given)}"
    figure, (ax,) = style.panels(1, 3.8, title)
    classes = class_names(given)
    numbers = len(given) * len(classes) <= MOST_NUMBERS
    for place, result in enumerate(given):
        bars(ax, result, place, classes, metric, numbers)
    marks = [mark(ax, r, k, given, classes) for k, r in enumerate(references)]
    ax.set_xticks(range(len(given)), texts, fontsize=11)
    ax.tick_params(axis="x", length=0, pad=20 if numbers else 5)
    edge = 0.5 if len(given) > 1 else 1.0
    ax.set_xlim(-edge, len(given) - 1 + edge)
    ax.margins(y=0.08)
    ax.set_ylim(bottom=0)
    if [text.lower() for text in texts] == [controllers(r).lower() for r in given]:
        ax.set_xlabel("Controller")
    words = {"throughput_bps": "Throughput", "goodput_bps": "Goodput"}
    ax.set_ylabel(f"{words.get(metric, metric)} per user (Mb/s)")
    style.legend(figure, [*(swatch(i, name) for i, name in enumerate(classes)), *marks])
    return figure


def bars(
    ax: Axes, result: Result, place: int, classes: list[str], metric: str, numbers: bool
) -> None:
    """The bars of one result, on request with their values below them."""
    width = GROUP / len(classes)
    for name in result.classes:
        index = classes.index(name)
        x, value = position(place, index, len(classes)), result.mean(name, metric)
        colour = style.colour(index)
        ax.bar(x, value.mean * 1e-6, 0.94 * width, color=style.tint(colour), edgecolor=colour)
        if math.isfinite(value.half):
            look: dict[str, Any] = {"color": style.INK, "elinewidth": 1.4, "capsize": 4}
            ax.errorbar(x, value.mean * 1e-6, value.half * 1e-6, fmt="none", **look)
        if numbers:
            below: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "va": "top"}
            ax.text(x, -0.02, f"{value.mean * 1e-6:#.3g}", ha="center", fontsize=10, **below)


def position(place: int, index: int, classes: int) -> float:
    """The middle of a bar."""
    return place + GROUP * ((index + 0.5) / classes - 0.5)


def mark(
    ax: Axes, reference: Reference, number: int, given: Sequence[Result], classes: list[str]
) -> Artist:
    """Marks the values of a reference on all bars; its entry in the legend."""
    rates = list(reference.rates_bps)
    if len(rates) == 1:
        rates *= len(given)
    if len(rates) != len(given):
        raise ValueError(f"{reference.label}: {len(rates)} sets of rates for {len(given)} results")
    half = 0.47 * GROUP / len(classes)
    look: dict[str, Any] = {"color": style.INK, "linestyle": style.line(number), "linewidth": 1.4}
    shape = MARKERS[number % len(MARKERS)]
    fill: dict[str, Any] = {"marker": shape, "markersize": 6, "markerfacecolor": "white"}
    for place, values in enumerate(rates):
        for name, rate_bps in values.items():
            if name not in given[place].classes:
                known = ", ".join(given[place].classes)
                raise ValueError(f"{reference.label}: no class {name!r}; the classes are {known}")
            x = position(place, classes.index(name), len(classes))
            y = rate_bps * 1e-6
            ax.plot([x - half, x + half], [y, y], **look)
            at = x + half * PLACES[number % len(PLACES)]
            ax.plot([at], [y], color=style.INK, linestyle="none", **fill)
    return style.entry(reference.label, **look, **fill)


def swatch(index: int, name: str) -> Artist:
    """A class in the legend."""
    from matplotlib.patches import Patch

    colour = style.colour(index)
    return Patch(facecolor=style.tint(colour), edgecolor=colour, label=name)
