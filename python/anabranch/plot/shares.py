"""Mean rates of classes with intervals, next to published or theoretical values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..offers import keyed, lookup
from ..statistics import significant
from . import style
from .inputs import RATES, Results, apart, class_names, controller_of, several
from .labels import controllers, named, sums_up
from .size import Width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

GROUP = 0.8
"""Width of a result's bars; results are 1 apart."""
MARKERS = ("D", "^", "o", "s")
PLACES = (-0.8, 0.8, -0.45, 0.45)
"""Positions of the markers of references on a bar; the interval is in the middle."""


@dataclass(frozen=True)
class Reference:
    """Values to compare with, such as published ones or a fixed point."""

    label: str
    """Entry in the legend."""
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
    groups: str | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Mean rate per user of each class in Mb/s, with 95 % intervals over replications. `metric` is
    throughput_bps or goodput_bps.

    Several results, such as one for each controller, stand side by side, labelled by `names` (by
    default the settings that differ). `groups` labels the axis; by default it says "controllers" or
    "worlds" where the names are such. References are horizontal marks on the bars. `setting` is a
    further setting that all results share, such as "N1 = 10". Classes whose rates are more than ten
    times apart have panels of their own.

    Raises ValueError when `names` or a reference does not have one entry for each result, for an
    unknown metric and for a class of a reference that its result does not have.
    """
    given = several(results)
    metric = lookup("metric", metric, RATES, "the metrics are")
    texts = named(given, names)
    classes = class_names(given)
    rates = [max(_mean(result, name, metric) for result in given) for name in classes]
    parts = apart(rates)
    alone = len(given) == 1 and names is None
    places = Places(len(given), list(classes), alone)
    figure, axes = style.panels(len(parts), 3.6 if len(parts) == 1 else 2.6, title)
    marks: list[Artist] = []
    for ax, part in zip(axes, parts, strict=True):
        here = places if alone else Places(len(given), [classes[n] for n in part], False)
        shown = [classes[index] for index in part]
        panel(ax, given, (classes, shown), here, metric)
        marks = [mark(ax, r, (k, shown), given, here) for k, r in enumerate(references)]
        ax.margins(y=0.08)
        ax.set_ylim(bottom=0)
        ax.set_ylabel(f"{RATES[metric]} per user (Mb/s)")
    called(axes[-1], [whose(given, name) for name in classes] if alone else texts)
    if [text.lower() for text in texts] == [controllers(r).lower() for r in given]:
        groups = groups or "Controller"
    elif texts == [result.world for result in given]:
        groups = groups or "World"
    axes[-1].set_xlabel("Class (controller)" if alone else groups or "")
    swatches = [style.swatch(n, name, whose(given, name)) for n, name in enumerate(classes)]
    note = sums_up(given, names, setting=setting)
    style.legend(figure, [*([] if alone else swatches), *marks], note=note)
    return figure


@dataclass(frozen=True)
class Places:
    """Positions of bars: results are 1 apart; for a single result (`alone`), classes are."""

    results: int
    classes: list[str]
    alone: bool

    @property
    def width(self) -> float:
        """Width of the room for a bar."""
        return GROUP if self.alone else GROUP / len(self.classes)

    @property
    def slots(self) -> int:
        """Number of positions on the axis."""
        return len(self.classes) if self.alone else self.results

    def of(self, place: int, name: str) -> float:
        """The middle of the bar of a class of a result."""
        index = self.classes.index(name)
        if self.alone:
            return float(index)
        return place + GROUP * ((index + 0.5) / len(self.classes) - 0.5)


def whose(given: Sequence[Result], name: str) -> str:
    """A class, with its controller if that is the same in all results."""
    found = {controller_of(c) for result in given for c in result.plan.classes if c.name == name}
    return f"{name} ({found.pop()})" if len(found) == 1 else name


def _mean(result: Result, name: str, metric: str) -> float:
    return result.mean(name, metric).mean if name in result.classes else 0.0


def called(ax: Axes, texts: Sequence[str]) -> None:
    """Names below bars or groups of bars, over several lines where they are long."""
    edge = 0.5 if len(texts) > 1 else 1.0
    ax.set_xlim(-edge, len(texts) - 1 + edge)
    slot = 0.94 * style.across_panel() / max(len(texts), 2)
    font = style.size("axes.labelsize")
    whole = [text.replace(" = ", "\u00a0=\u00a0") for text in texts]  # not broken there
    words = [word for text in whole for word in text.split(" ")]
    turned = max(style.inches(word, size=font) for word in words) > slot
    if turned:
        ax.set_xticks(range(len(texts)), texts, fontsize=font, rotation=30, ha="right")
    else:
        lines = [style.wrapped(text, slot, size=font) for text in whole]
        ax.set_xticks(range(len(texts)), lines, fontsize=font)


def panel(
    ax: Axes,
    given: Sequence[Result],
    classes: tuple[list[str], list[str]],
    places: Places,
    metric: str,
) -> None:
    """Draws the bars of the shown classes for all results, with their values below if there is
    room.
    """
    every, shown = classes
    values = [
        (place, name, result.mean(name, metric))
        for place, result in enumerate(given)
        for name in shown
        if name in result.classes
    ]
    room = 0.95 * places.width * style.across_panel() / max(places.slots, 2)
    font = 0.95 * style.size("legend.fontsize")
    texts = [significant(1e-6 * value.mean, zeros=True) for _, _, value in values]
    numbers = max(style.inches(text, size=font) for text in texts) < room
    for (place, name, value), text in zip(values, texts, strict=True):
        x, mbps, half = places.of(place, name), value.mean * 1e-6, value.half * 1e-6
        ax.bar(x, mbps, 0.94 * places.width, **style.bar(every.index(name), name))
        if math.isfinite(half):
            look: dict[str, Any] = {"color": style.INK, "elinewidth": style.pt(1.4)}
            ax.errorbar(x, mbps, half, fmt="none", capsize=style.pt(4), **look)
        if numbers:
            below: dict[str, Any] = {"xytext": (0, -style.pt(3)), "va": "top", "ha": "center"}
            where: Any = ax.get_xaxis_transform()
            at: dict[str, Any] = {"xycoords": where, "textcoords": "offset points"}
            ax.annotate(text, (x, 0), fontsize=font, **at, **below)
    ax.tick_params(axis="x", length=0, pad=style.pt(4) + numbers * 1.5 * font)


def mark(
    ax: Axes,
    reference: Reference,
    what: tuple[int, list[str]],
    given: Sequence[Result],
    places: Places,
) -> Artist:
    """Marks the values of a reference on the bars of the shown classes; `what` includes its number.
    Returns its entry in the legend.
    """
    number, shown = what
    rates = list(reference.rates_bps)
    if len(rates) == 1:
        rates *= len(given)
    if len(rates) != len(given):
        raise ValueError(f"{reference.label}: {len(rates)} sets of rates for {len(given)} results")
    half = 0.47 * places.width
    look: dict[str, Any] = {
        "color": style.INK,
        "linestyle": style.line(number),
        "linewidth": style.pt(1.4),
    }
    shape = MARKERS[number % len(MARKERS)]
    fill: dict[str, Any] = {"marker": shape, "markersize": style.pt(6), "markerfacecolor": "white"}
    for place, values in enumerate(rates):
        for name, rate_bps in by_class(reference.label, values, given[place]).items():
            if name not in shown:
                continue
            x = places.of(place, name)
            y = rate_bps * 1e-6
            ax.plot([x - half, x + half], [y, y], **look)
            at = x + half * PLACES[number % len(PLACES)]
            ax.plot([at], [y], color=style.INK, linestyle="none", **fill)
    return style.entry(reference.label, **look, **fill)


def by_class(label: str, values: Mapping[str, float], result: Result) -> dict[str, float]:
    """The values of a reference by the classes of a result. Raises ValueError for others."""
    try:
        return keyed("class", values, result.classes, "the classes are")
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
