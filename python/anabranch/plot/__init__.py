"""Pictures of results, whichever world made them.

    >>> figure = anabranch.plot.windows(result)
    >>> anabranch.plot.save(figure, "windows.png")

A plot function takes one result or several, aggregates for drawing and nothing else, and returns a
`matplotlib.figure.Figure`. It raises ValueError when the results lack the data that it needs.
Matplotlib is imported when something is drawn. `KINDS` lists the functions, `draw` calls one by its
name.

Every kind has `names=`, labels of the results; `width=`, inches or text such as "3.5in" or "88mm",
with letters and legends that follow; and `title=`; by default a figure has no title. A line below
the data names scenario, controller, span, warm-up and replications.

`phase_portrait`, `heat_map`, `curves`, `swept`, `swept_map` and `tradeoff` draw numbers that do not
come from a result, such as those of theory or of a sweep. `capture` draws a packet capture, and
`verdicts` the verdicts of a fairness audit. `cases` draws a criterion of an evaluation: a measure
in several cases, against a goal. `animation` makes an HTML page that plays a run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..offers import UnknownName, lookup, offering
from .animation import animation
from .capture import capture
from .cases import Dots, cases
from .cdf import cdf
from .curves import Band, Curve, Line, Panel, curves
from .inflation import inflation
from .inputs import Results
from .law import law
from .map import heat_map
from .phase import phase_portrait
from .queue import queue
from .rtt import rtt
from .saving import FORMATS, check_format, save, svg
from .shares import Reference, shares
from .size import Width, inches_of
from .stations import stations
from .subflows import subflows
from .swept import swept
from .sweptmap import swept_map
from .throughput import throughput
from .topology import topology
from .tradeoff import Cloud, tradeoff
from .verdicts import verdicts
from .windows import windows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "KINDS",
    "Band",
    "Cloud",
    "Curve",
    "Dots",
    "Kind",
    "Line",
    "Panel",
    "Reference",
    "Results",
    "Width",
    "animation",
    "capture",
    "cases",
    "cdf",
    "check_format",
    "curves",
    "draw",
    "heat_map",
    "inches_of",
    "inflation",
    "law",
    "phase_portrait",
    "queue",
    "rtt",
    "save",
    "shares",
    "stations",
    "subflows",
    "svg",
    "swept",
    "swept_map",
    "throughput",
    "topology",
    "tradeoff",
    "verdicts",
    "windows",
]


@dataclass(frozen=True)
class Kind:
    """A kind of plot."""

    function: Callable[..., Figure]
    """Takes results and the options."""
    series: bool
    """Whether the results must have series."""
    several: bool
    """Whether it draws several results together."""
    summary: str
    """One line for people."""

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that `function` takes."""
        return tuple(inspect.signature(self.function).parameters)[1:]


KINDS: dict[str, Kind] = {
    "windows": Kind(
        windows, True, False, "congestion window and slow-start threshold of one user per class"
    ),
    "inflation": Kind(
        inflation, True, False, "congestion window against the bandwidth-delay product of each path"
    ),
    "law": Kind(
        law, True, False, "RTT and window of each path of one user, and what its law works with"
    ),
    "throughput": Kind(throughput, True, True, "mean throughput per user of each class over time"),
    "queue": Kind(queue, True, False, "waiting packets and drops of each shared link over time"),
    "stations": Kind(
        stations, True, False, "queue, unanswered transmissions and losses of stations of media"
    ),
    "topology": Kind(
        topology,
        False,
        False,
        "links as pipes with flows and queues; with --series a map of nodes, trails and routes",
    ),
    "subflows": Kind(
        subflows, True, True, "windows, packets sent, RTTs and RTOs of each path of one user"
    ),
    "rtt": Kind(rtt, True, False, "smoothed round-trip time of each path over time"),
    "cdf": Kind(
        cdf, False, True, "distribution of throughput over users, or over time, and replications"
    ),
    "shares": Kind(shares, False, True, "mean throughput of each class with 95 % intervals"),
}
"""Every kind of plot by its name."""


def draw(kind: str, results: Results, **options: Any) -> Figure:
    """A figure of the named kind.

    Raises ValueError for an unknown kind or option, and the errors of the kind's function.
    """
    name = lookup("plot", kind, KINDS, "the kinds are")
    chosen = KINDS[name]
    for option in options:
        if option not in chosen.options:
            fault = f"the plot {name} has no option {option!r}"
            raise UnknownName(offering(fault, option, chosen.options, "its options are"))
    return chosen.function(results, **options)
