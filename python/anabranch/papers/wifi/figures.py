"""The chapter's figures again, those that are no curves: distributions of throughput, flows and
windows over time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import plot
from ...plot import style
from ..laboratory import Laboratory
from ..library import Cell, Metric, Users, measure
from .flows import pieces, samples
from .growth import PACKET_BYTES
from .logs import send_queues

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Values = NDArray[np.floating[Any]]

FLOWS = {
    "subflow 1": (Users("multipath"), 0),
    "subflow 2": (Users("multipath"), 1),
    "parallel flow 1": (Users("parallel-1"), 0),
    "parallel flow 2": (Users("parallel-2"), 0),
}
"""Class and path of the four flows: one of each kind in each network."""
SUM = "MPTCP sum"
LOOKS = {SUM: (0, 0), "subflow 1": (0, 1), "subflow 2": (0, 2)}
LOOKS |= {"parallel flow 1": (1, 0), "parallel flow 2": (2, 0)}
"""Colour and line style by name: one colour for the multipath client, one for each
parallel flow.
"""


Line = tuple[Values | None, Values, dict[str, Any]]
"""A line of a panel: values over x, or their distribution; and how it looks."""
Panels = Mapping[str, Mapping[str, Line]]
"""Lines by name in panels by heading."""


def _flow(name: str) -> dict[str, Any]:
    return _look(*LOOKS[name]) | {"linewidth": 2.2 if name == SUM else 1.4}


def _look(colour: int, line: int) -> dict[str, Any]:
    return {"color": style.colour(colour), "linestyle": style.line(line)}


@style.styled
def _drawn(
    title: str,
    height: float,
    panels: Panels,
    labels: tuple[str, str],
    shaded: Sequence[Sequence[float]] = (),
    shade: str = "",
) -> Drawing:
    """Panels of lines one above the other, with times shaded."""
    figure, axes = style.panels(len(panels), height, title)
    for ax, (heading, lines) in zip(axes, panels.items(), strict=True):
        for x, y, look in lines.values():
            if x is None:
                ax.ecdf(y, **look)
                ax.grid(axis="x")
            else:
                ax.plot(x, y, **look)
        for start, end in shaded:
            ax.axvspan(start, end, color="#eeeeee", zorder=0, linewidth=0)
        ax.set_title(heading)
        ax.set_ylim(bottom=0)
        ax.set_ylabel(labels[1])
    if all(x is None for lines in panels.values() for x, _, _ in lines.values()):
        for ax in axes:
            ax.set_ylim(0, 1.02)
        axes[-1].set_xlim(left=0)
    axes[-1].set_xlabel(labels[0])
    looks = {name: line[2] for lines in panels.values() for name, line in lines.items()}
    order = sorted(looks, key=lambda name: list(LOOKS).index(name) if name in LOOKS else 0)
    entries = [style.entry(name, **looks[name]) for name in order]
    if shade:
        entries.append(style.entry(shade, color="#e3e3e3", linewidth=8))
    style.legend(figure, entries)
    return figure


@measure
def distributions(
    lab: Laboratory, cells: Sequence[Cell], headings: Sequence[str], title: str
) -> Drawing | None:
    """Distributions of all flows and of the multipath sum in pieces of 1 s, all replications
    together: a panel for each cell that has been run.
    """
    panels = {}
    for cell, heading in zip(cells, headings, strict=True):
        if cell in lab.results:
            found = {name: pieces(lab, cell, *flow, 1.0) for name, flow in FLOWS.items()}
            found = {SUM: found["subflow 1"] + found["subflow 2"], **found}
            panels[heading] = {
                name: (None, values.ravel(), _flow(name)) for name, values in found.items()
            }
    labels = ("Throughput in pieces of 1 s (Mb/s)", "Fraction of time")
    return _drawn(title, 2.7, panels, labels) if panels else None


@measure
def rates_over_time(lab: Laboratory, cell: Cell, shaded: Sequence[Sequence[float]]) -> Drawing:
    """Mean throughput of all flows over time at 2.4 and 5 GHz, times with other clients shaded."""
    panels: dict[str, dict[str, Line]] = {"2.4 GHz": {}, "5 GHz": {}}
    for (name, flow), band in zip(FLOWS.items(), 2 * list(panels), strict=True):
        rates = pieces(lab, cell, *flow, 1.0).mean(axis=0)
        t_s = lab[cell].plan.warmup_s + np.arange(len(rates)) + 0.5
        panels[band][name] = (t_s, rates, _flow(name))
    title = f"Cross-band downlink with Coupled, mean of {len(lab[cell].runs)} replications"
    labels = ("Time (s)", "Throughput (Mb/s)")
    return _drawn(title, 2.4, panels, labels, shaded, "others use 5 GHz")


@measure
def against_product(lab: Laboratory, cell: Cell, product_kb: float) -> Drawing:
    """Windows of all flows over time, and a bandwidth-delay product."""
    plan = lab[cell].plan
    panels = {}
    for name, flow in FLOWS.items():
        windows = samples(lab, cell, *flow, Metric("cwnd_segments"))[0] * PACKET_BYTES / 1e3
        t_s = plan.warmup_s + np.arange(len(windows)) * plan.sample_s
        words = f"bandwidth-delay product: 120 ms at 10 Mb/s = {product_kb:g} kB"
        line = {"color": style.INK, "linestyle": style.line(1)}
        panels[name] = {
            "congestion window": (t_s, windows, _look(0, 0)),
            words: (t_s, np.full(len(windows), product_kb), line),
        }
    seed = lab[cell].seeds[0]
    title = f"Windows with 100 ms added to the round trip, Coupled, seed {seed}"
    return _drawn(title, 1.7, panels, ("Time (s)", "Window (kB)"))


@measure
def unacknowledged(lab: Laboratory, cell: Cell) -> Drawing:
    """Window and send queue of both subflows in a short run of a cell that has been run."""
    seed = lab[cell].seeds[0]
    panels = {}
    for name, queue in zip(FLOWS, send_queues(lab.configurations[cell], seed), strict=False):
        panels[f"{name}: median difference {100 * queue.difference:.1f} %"] = {
            "congestion window": (queue.t_s, queue.window_bytes / 1e3, _look(0, 0)),
            "send queue (unacknowledged)": (queue.t_s, queue.sent_bytes / 1e3, _look(1, 1)),
        }
    title = f"Window and unacknowledged data on the downlink with Coupled, seed {seed}"
    return _drawn(title, 2.2, panels, ("Time (s)", "kB of payload"))


@measure
def inflation(
    lab: Laboratory, cell: Cell, classes: Sequence[str], rtt_s: float, seconds: float
) -> Drawing:
    """Windows over time for some seconds, and the product of throughput and a round trip."""
    start_s = lab[cell].plan.warmup_s
    times: dict[str, Any] = {"start_s": start_s, "end_s": start_s + seconds, "log": False}
    return plot.inflation(lab[cell], classes=classes, rtt_s=rtt_s, **times)


@measure
def interfaces(lab: Laboratory, cell: Cell, names: Sequence[str]) -> Drawing:
    """Queue, retries and failures of some interfaces."""
    start_s = lab[cell].plan.warmup_s
    return plot.stations(lab[cell], stations=names, start_s=start_s)
