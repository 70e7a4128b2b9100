"""Throughput of a capture over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..capture import Capture

MOST_LINES = 8
"""Subflows that are drawn one by one; of more, those that carried most."""

MOST_STEPS = 150
"""Steps of a line; of more, several are drawn as one."""


@style.styled
def capture(read: Capture) -> Figure:
    """Throughput of each subflow in Mb/s, IP bytes of data packets, over the span of the capture.

    Subflows of a connection share a colour. Of more than eight, those are drawn that carried most;
    of many bins, several are one step.
    """
    paths = read.paths
    flow_of = [int(flow) for flow in paths.flow]
    edges, mbps = steps(read)
    most = np.argsort(-mbps.sum(axis=0), kind="stable")[:MOST_LINES]
    chosen = sorted(most, key=lambda number: (flow_of[number], number))
    title = "Throughput of subflows where they were captured"
    if len(flow_of) > MOST_LINES:
        title += f": the {MOST_LINES} of {len(flow_of)} that carried most"
    figure, (ax,) = style.panels(1, 3.6, title)
    flows = list(dict.fromkeys(flow_of[number] for number in chosen))
    entries = []
    for number in chosen:
        flow = flow_of[number]
        before = [other for other in chosen if other < number and flow_of[other] == flow]
        place = flows.index(flow)
        looks: dict[str, Any] = {
            "color": style.colour(place),
            "linestyle": style.line(len(before) + place // len(style.PALETTE)),
        }
        there = (edges[1:] > paths.start_s[number]) & (edges[:-1] <= paths.end_s[number])
        drawn = np.where(there, mbps[:, number], np.nan)
        ax.stairs(drawn, edges, baseline=None, linewidth=1.4, **looks)
        ends = f"{paths.initiator[number]} → {paths.responder[number]}"
        entries.append(style.entry(ends, **looks))
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, None)
    ax.set_xlabel("Time since the first packet (s)")
    ax.set_ylabel("Throughput (Mb/s)")
    style.legend(figure, entries)
    return figure


def steps(read: Capture) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edges of the steps in seconds, and Mb/s in each of them, shape (steps, subflows)."""
    series, (first_s, last_s) = read.series, read.span_s
    bin_s, times = series.bin_s, series.t_s
    inside = (times >= first_s - 1e-9) & (times < max(last_s, first_s + bin_s) - 1e-9)
    sums = series.data_ip_bytes[inside]
    together = max(1, -(-len(sums) // MOST_STEPS))
    starts = np.arange(0, len(sums), together)
    if not len(starts):
        return np.array([first_s, first_s + bin_s]), np.zeros((1, len(read.paths.flow)))
    counts = np.append(starts[1:], len(sums)) - starts
    edges = first_s + bin_s * np.append(starts, len(sums))
    return edges, 8e-6 * np.add.reduceat(sums, starts) / (bin_s * counts[:, None])
