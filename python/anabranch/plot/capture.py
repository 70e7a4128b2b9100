"""Throughput of a capture over time, and the windows of a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import style
from .labels import joined
from .size import Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..capture import Capture

MOST_PANELS = 6
"""Largest number of connections drawn: those that carried most."""

MOST_LINES = 8
"""Largest number of subflows drawn per connection: those that carried most."""

MOST_STEPS = 60
"""Steps of a line; of more bins, several are drawn as one."""


@style.styled
def capture(
    read: Capture,
    *,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Throughput of each subflow in Mb/s, IP bytes of data packets, over the span of the capture: a
    panel for each connection, in the order of `Capture.order`.

    At most six connections and eight subflows of each are drawn: those that carried most. Beyond 60
    bins, several bins are merged into one step. A log has windows too: below each panel another one
    has them in kB, the latest value in each step. `names` has a name for each subflow of the
    capture, by default the names that the file has for its ends, or their addresses.

    Raises ValueError when `names` does not have one for each subflow.
    """
    every_label = map(read.label, range(len(read.paths.flow)))
    called = list(every_label if names is None else names)
    if len(called) != len(read.paths.flow):
        raise ValueError(
            f"there are {len(read.paths.flow)} subflows but {len(called)} names for them"
        )
    edges, mbps = steps(read)
    flow_of = np.asarray(read.paths.flow)
    total = np.bincount(flow_of, weights=mbps.sum(axis=0))
    order = np.array(read.order)
    every = list(dict.fromkeys(flow_of[order].tolist()))
    most = sorted(every, key=lambda flow: (-total[flow], flow))[:MOST_PANELS]
    shown = [flow for flow in every if flow in most]
    windows = windows_kb(read)
    each = 1 if windows is None else 2
    count = each * len(shown)
    figure, axes = style.panels(count, 3.6 if count == 1 else 1.8, title)
    rates = axes[::each]
    for number, flow in enumerate(shown):
        own = order[flow_of[order] == flow]
        panel(rates[number], read, (edges, mbps), own, called)
        if windows is not None:
            below = axes[each * number + 1]
            lines(below, (edges, windows), mbps, own)
            below.set_ylabel("Window (kB)")
            below.set_ylim(bottom=0)
    top = 1.06 * float(mbps[:, np.isin(flow_of, shown)].max())
    for ax in rates:
        ax.set_ylim(0, top or 1.0)
        ax.set_ylabel("Throughput (Mb/s)")
    axes[-1].set_xlabel("Time since the first packet (s)")
    part = f"the {len(shown)} of {len(every)} connections that carried most"
    width_s = float(np.diff(edges)[0])
    note = joined(f"means of {width_s:.3g} s", part if len(shown) < len(every) else "")
    style.legend(figure, [], note=note)
    return figure


def panel(
    ax: Axes,
    read: Capture,
    drawn: tuple[NDArray[np.float64], NDArray[np.float64]],
    own: NDArray[np.intp],
    called: Sequence[str],
) -> None:
    """The subflows of one connection."""
    edges, mbps = drawn
    paths = read.paths
    most = np.argsort(-mbps[:, own].sum(axis=0), kind="stable")[:MOST_LINES]
    entries = []
    for place, number in enumerate(own[np.sort(most)]):
        look: dict[str, Any] = {
            "color": style.colour(place),
            "linestyle": style.line(place),
            "linewidth": style.pt(1.4),
        }
        there = (edges[1:] > paths.start_s[number]) & (edges[:-1] <= paths.end_s[number])
        ax.stairs(np.where(there, mbps[:, number], np.nan), edges, baseline=None, **look)
        entries.append(style.entry(called[number], **look))
    ax.set_xlim(edges[0], edges[-1])
    flow = int(paths.flow[own[0]])
    token = read.flows.token[flow]
    part = f", {len(entries)} of {len(own)} subflows" if len(entries) < len(own) else ""
    style.heading(ax, f"connection {flow}" + (f" (token {token})" if token else "") + part, entries)


def lines(
    ax: Axes,
    drawn: tuple[NDArray[np.float64], NDArray[np.float64]],
    mbps: NDArray[np.float64],
    own: NDArray[np.intp],
) -> None:
    """The windows of one connection, in the looks that its subflows have above."""
    edges, windows = drawn
    most = np.argsort(-mbps[:, own].sum(axis=0), kind="stable")[:MOST_LINES]
    for place, number in enumerate(own[np.sort(most)]):
        look = {"color": style.colour(place), "linestyle": style.line(place)}
        ax.stairs(windows[:, number], edges, baseline=None, linewidth=style.pt(1.4), **look)


def windows_kb(read: Capture) -> NDArray[np.float64] | None:
    """The window at the end of each step in kB, shape (steps, subflows); None if there is none."""
    if read.windows is None or np.isnan(read.windows.cwnd_bytes).all():
        return None
    inside = inside_span(read)
    held = 1e-3 * read.windows.cwnd_bytes[inside]
    together = max(1, -(-len(held) // MOST_STEPS))
    if not len(held):
        return np.full((1, len(read.paths.flow)), np.nan)
    last = np.append(np.arange(together, len(held), together), len(held)) - 1
    return np.asarray(held[last])


def inside_span(read: Capture) -> NDArray[np.bool_]:
    """Which bins are in the span; one at least, if the capture has any there."""
    first_s, last_s = read.span_s
    times = read.series.t_s
    end_s = max(last_s, first_s + read.series.bin_s)
    return np.asarray((times >= first_s - 1e-9) & (times < end_s - 1e-9))


def steps(read: Capture) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Edges of the steps in seconds, and Mb/s in each of them, shape (steps, subflows)."""
    series, first_s = read.series, read.span_s[0]
    bin_s, sums = series.bin_s, series.data_ip_bytes[inside_span(read)]
    together = max(1, -(-len(sums) // MOST_STEPS))
    starts = np.arange(0, len(sums), together)
    if not len(starts):
        return np.array([first_s, first_s + bin_s]), np.zeros((1, len(read.paths.flow)))
    counts = np.append(starts[1:], len(sums)) - starts
    edges = first_s + bin_s * np.append(starts, len(sums))
    return edges, 8e-6 * np.add.reduceat(sums, starts) / (bin_s * counts[:, None])
