"""Distribution of throughput over users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import style
from .inputs import Results, class_names, labels, replications, several

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from ..result import Result

METRICS = {"throughput_bps": "Throughput", "goodput_bps": "Goodput"}


@style.styled
def cdf(
    results: Results, *, metric: Literal["throughput_bps", "goodput_bps"] = "throughput_bps"
) -> Figure:
    """The fraction of a class's users with at most so many Mb/s, all replications together.

    A class has its colour, a result its line style. Raises ValueError for an unknown metric.
    """
    given = several(results)
    if metric not in METRICS:
        raise ValueError(f"there is no metric {metric!r}; choose from {', '.join(METRICS)}")
    names = class_names(given)
    scenarios = " and ".join(dict.fromkeys(result.plan["name"] for result in given))
    what = METRICS[metric].lower()
    title = f"{scenarios}: {what} of users, {replications(given)}"
    figure, (ax,) = style.panels(1, 3.6, title)
    top = 0.0
    for number, result in enumerate(given):
        for name in result.classes:
            rates = np.sort(result.users(name, metric).ravel()) * 1e-6
            colour = style.colour(names.index(name))
            look: dict[str, Any] = {"color": colour, "linestyle": style.line(number)}
            ax.ecdf(rates, **look)
            top = max(top, float(rates[-1]))
    ax.set_xlim(0, 1.05 * top or 1.0)
    ax.set_ylim(0, 1.02)
    ax.grid(axis="x")
    ax.set_xlabel(f"{METRICS[metric]} per user (Mb/s)")
    ax.set_ylabel("Fraction of users")
    style.legend(figure, legend_entries(given, names))
    return figure


def legend_entries(given: list[Result], names: list[str]) -> list[Artist]:
    """Colours of the classes, and line styles of the results where there are several."""
    entries = [style.entry(name, color=style.colour(index)) for index, name in enumerate(names)]
    if len(given) > 1:
        for number, label in enumerate(labels(given)):
            entries.append(style.entry(label, color=style.INK, linestyle=style.line(number)))
    return entries
