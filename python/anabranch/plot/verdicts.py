"""Plot of the verdicts of an audit: which controllers are TCP-fair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import style
from .size import Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..fairness import Audit

FILLS = {"stringent": "full", "lenient": "left", "neither": "none"}
"""Fill of a marker for the strictest definition that holds."""
SPREAD = 0.56
"""Height that the markers of a controller take; controllers are 1 apart."""
ROW_INCHES = 0.34


@style.styled
def verdicts(audit: Audit, *, width: Width | None = None, title: str | None = None) -> Figure:
    """The rate of each controller relative to the stringent bound, with a marker for each network.

    Raises ValueError when nothing has been judged.
    """
    if not audit.entries:
        raise ValueError("there is nothing to draw: no controller was judged in any network")
    margin = audit.entries[0].fairness.margin
    rows = 0.5 + ROW_INCHES * len(audit.controllers)
    figure, (ax,) = style.panels(1, rows / style.AXES_PART, title)
    ax.axvspan(0, 1 + margin, color="#ededed", zorder=0, linewidth=0)
    ax.axvline(1, color=style.INK, linewidth=style.pt(1.2), linestyle="--")
    last = max(len(audit.networks) - 1, 1)
    looks = {
        network.name: {
            "color": style.colour(index),
            "marker": style.marker(index),
            "markersize": style.pt(7),
            "linestyle": "none",
            "markerfacecoloralt": "white",
        }
        for index, network in enumerate(audit.networks)
    }
    for row, controller in enumerate(audit.controllers):
        for index, network in enumerate(audit.networks):
            if one := audit.of(controller).get(network.name):
                place = row + SPREAD * (index / last - 0.5)
                look: dict[str, Any] = looks[network.name]
                ax.plot([one.of_bound], [place], fillstyle=FILLS[one.word], **look)
    ax.set_yticks(range(len(audit.controllers)), audit.controllers)
    ax.set_ylim(len(audit.controllers) - 0.5, -0.5)
    ax.margins(x=0.03)
    ax.set_xlim(left=0)
    ax.set_xlabel("Total over the bound of the stringent definition")
    ax.grid(axis="x")
    neutral: dict[str, Any] = {
        **{"color": style.INK, "marker": "o", "linestyle": "none"},
        "markerfacecoloralt": "white",
    }
    kept = {"stringent": "stringent", "lenient": "only lenient", "neither": "neither definition"}
    entries = [style.entry(name, **look) for name, look in looks.items()]
    entries += [style.entry(text, fillstyle=FILLS[word], **neutral) for word, text in kept.items()]
    style.legend(figure, entries, note=f"{len(audit.seed_list)} seeds, margin {100 * margin:.3g} %")
    return figure
