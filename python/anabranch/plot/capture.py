"""Throughput of a capture over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..capture import Capture

MOST_LINES = 8
"""Subflows that are drawn one by one; of more, those that carried most."""


@style.styled
def capture(read: Capture) -> Figure:
    """Throughput of each subflow in Mb/s, IP bytes of data packets, in the bins of the capture.

    Subflows of a connection share a colour. Of more than eight, those are drawn that carried most.
    """
    figure, (ax,) = style.panels(1, 3.6, "Throughput of subflows where they were captured")
    paths, series = read.paths, read.series
    order = np.argsort(-np.asarray(paths["data_ip_bytes"], dtype=float), kind="stable")
    chosen = sorted(order[:MOST_LINES])
    flows = list(dict.fromkeys(int(paths["flow"][number]) for number in chosen))
    edges = np.append(series["t_s"], series["t_s"][-1:] + series["bin_s"])
    entries = []
    for number in chosen:
        flow = int(paths["flow"][number])
        before = [other for other in chosen if other < number and paths["flow"][other] == flow]
        looks: dict[str, Any] = {
            "color": style.colour(flows.index(flow)),
            "linestyle": style.LINES[len(before) % len(style.LINES)],
        }
        mbps = 8e-6 * series["data_ip_bytes"][:, number] / series["bin_s"]
        ax.stairs(mbps, edges, baseline=None, linewidth=1.4, **looks)
        ends = f"{paths['initiator'][number]} → {paths['responder'][number]}"
        entries.append(style.entry(ends, **looks))
    ax.set_xlim(0, edges[-1])
    ax.set_ylim(0, None)
    ax.set_xlabel("Time since the first packet (s)")
    ax.set_ylabel("Throughput (Mb/s)")
    style.legend(figure, entries)
    return figure
