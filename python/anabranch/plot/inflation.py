"""Windows against the bandwidth-delay product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..offers import lookup
from ..runs import Run
from ..statistics import significant
from . import style
from .inputs import (
    MOST_PANELS,
    Results,
    cut,
    panels_of,
    path_columns,
    path_label,
    present,
    replication,
    single,
    span,
    user_of,
    with_window,
)
from .labels import name_of, over_time
from .size import Width
from .streams import look_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

UNITS = ("kB", "segments")

FAR = 20
"""From this multiple of the BDP on, axes of windows are logarithmic, to show both."""


@style.styled
def inflation(
    results: Results,
    *,
    classes: Sequence[str] | None = None,
    user: int = 0,
    rtt_s: float | Sequence[float] | None = None,
    unit: str = "kB",
    log: bool | None = None,
    seed: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """The window of one user of each class, and the bandwidth-delay product, a panel for each path.

    The product (BDP) is the path's throughput after the warm-up times its round-trip time without
    queues: the propagation delays of the plan, or `rtt_s`, such as the measured RTT of an idle
    path: one number, or one for each panel. A title gives the mean window after the warm-up over
    the BDP. If a path is in use for only a part of that time, both values are means over that part.
    The `unit` of windows is kB, which counts IP bytes as throughput does, or segments. `log` makes
    the axes of windows logarithmic, by default where some window goes far above its BDP. `classes`
    chooses the classes; datagrams (UDP) have no window. `names` has a name for the result.

    Raises ValueError without series, for an unknown class, user, unit or seed, when no class has a
    window, and for a path that has no round-trip time.
    """
    result = single(results, "inflation")
    run = replication(result, seed)
    unit = lookup("unit", unit, UNITS, "the units are")
    every = paths_of(result, classes)
    shown = every if classes else every[:MOST_PANELS]
    rtts_s = round_trips(result, shown, rtt_s)
    samples = span(run.series.t_s, start_s, end_s)
    user_of(result, user)
    figure, axes = style.panels(len(shown), 2.5, title)
    drawn = [
        Window(result, run, index, path, user, rtt)
        for (index, path), rtt in zip(shown, rtts_s, strict=True)
    ]
    if log is None:
        log = any(window.highest(samples) > FAR for window in drawn)
    for window, ax in zip(drawn, axes, strict=True):
        panel(ax, result, run, window, unit, samples)
        scale(ax, log)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel("Time (s)")
    part = f"seed {run.seed}{cut(len(shown), len(every), 'paths')}"
    style.legend(figure, [], note=over_time([result], part, name_of(result, names)))
    return figure


def paths_of(result: Result, classes: Sequence[str] | None) -> list[tuple[int, int]]:
    """Class and path of every panel."""
    planned = result.plan.classes
    chosen = panels_of(result.classes, with_window(result, classes), "class")
    return [(index, path) for index in chosen for path in range(len(planned[index].paths))]


def round_trips(
    result: Result, shown: Sequence[tuple[int, int]], rtt_s: float | Sequence[float] | None
) -> list[float]:
    """The round-trip time of every panel in seconds."""
    if rtt_s is None:
        planned = result.plan.classes
        rtts_s = [planned[index].paths[path].base_rtt_s for index, path in shown]
    elif isinstance(rtt_s, Sequence):
        rtts_s = list(rtt_s)
    else:
        rtts_s = [rtt_s] * len(shown)
    if len(rtts_s) != len(shown):
        raise ValueError(f"there are {len(shown)} panels but {len(rtts_s)} round-trip times")
    for (index, path), rtt in zip(shown, rtts_s, strict=True):
        if not 0 < rtt < math.inf:
            name = result.classes[index]
            raise ValueError(
                f"path {path} of {name} has a round-trip time of {rtt:g} s without queues; give "
                "what it is with rtt_s= of plot.inflation in Python"
            )
    return [float(rtt) for rtt in rtts_s]


class Window:
    """The window of a path over time, and the window that the path needs."""

    def __init__(
        self, result: Result, run: Run, index: int, path: int, user: int, rtt_s: float
    ) -> None:
        """Takes them out of a run; a class with fewer users has its last one taken."""
        self.index, self.path, self.rtt_s = index, path, rtt_s
        self.planned = result.plan.classes[index]
        self.user = min(user, self.planned.count - 1)
        name = self.planned.name
        column = path_columns(result, run, name)[self.user, path]
        in_use = present(result, run, name)[:, self.user, path]
        t_s = run.series.t_s
        self.segments = np.where(in_use, run.series.paths.cwnd_segments[:, column], np.nan)
        """At every sample; NaN while the path is not in use."""
        measured = in_use & (t_s >= result.plan.warmup_s)
        self.mean_segments = float(self.segments[measured].mean()) if measured.any() else math.nan
        first, last = self._part(result, run)
        arrived = np.interp([first, last], t_s, run.series.paths.arrived_bytes[:, column])
        self.rate_bps = 8 * float(arrived[1] - arrived[0]) / (last - first) if last > first else 0.0
        """While the path is in use after the warm-up."""
        self.bdp_bytes = self.rate_bps * rtt_s / 8

    def _part(self, result: Result, run: Run) -> tuple[float, float]:
        """From when to when the path is in use after the warm-up."""
        flows = np.flatnonzero(np.asarray(run.flows.class_) == self.planned.name)
        flow, facts = flows[self.user], self.planned.paths[self.path]
        begins = [result.plan.warmup_s, float(run.flows.start_s[flow]), facts.join_s]
        completed_s = float(run.flows.completed_s[flow])
        ends = [float(run.series.t_s[-1]), completed_s, facts.leave_s]
        return max(begins), min(end for end in ends if end is not None and not math.isnan(end))

    def highest(self, samples: slice) -> float:
        """The largest window in these samples over the BDP; 0 without windows or a BDP."""
        segments = self.segments[samples]
        if not self.bdp_bytes or np.isnan(segments).all():
            return 0.0
        return float(np.nanmax(segments)) * float(self.planned.packet_bytes) / self.bdp_bytes

    @property
    def ratio(self) -> float:
        """The mean window over the BDP; NaN if nothing arrived."""
        if not self.bdp_bytes:
            return math.nan
        return self.mean_segments * float(self.planned.packet_bytes) / self.bdp_bytes


def panel(ax: Axes, result: Result, run: Run, window: Window, unit: str, samples: slice) -> None:
    """The window of one path and its BDP."""
    planned, packet_bytes = window.planned, window.planned.packet_bytes
    factor = packet_bytes / 1e3 if unit == "kB" else 1.0
    bdp = window.bdp_bytes / packet_bytes * factor
    colour = look_of(window.path, 0, 1, 1)["color"]
    t_s = run.series.t_s[samples]
    drawn = factor * window.segments[samples]
    ax.plot(t_s, drawn, color=colour, linewidth=style.pt(1.4))
    look: dict[str, Any] = {"color": style.INK, "linestyle": "--", "linewidth": style.pt(1.3)}
    ax.axhline(bdp, **look)
    ax.set_xlim(t_s[0], t_s[-1])
    product = f"{significant(window.rate_bps / 1e6)} Mb/s × {significant(1e3 * window.rtt_s)} ms"
    entries: list[Artist] = [
        style.entry("congestion window", color=colour, linewidth=style.pt(1.4)),
        style.entry(f"BDP: {product} = {significant(bdp)} {unit}", **look),
    ]
    entries += style.warmup(ax, result.plan.warmup_s)
    ax.set_ylabel(f"Window ({unit})")
    many = f", user {window.user} of {planned.count}" if planned.count > 1 else ""
    via = path_label(result, planned, window.path)
    ratio = (
        "no BDP" if math.isnan(window.ratio) else f"mean window {significant(window.ratio)} × BDP"
    )
    style.heading(ax, f"{planned.name} ({planned.controller}){many}, {via}: {ratio}", entries)


def scale(ax: Axes, log: bool) -> None:
    """The axis of windows: from zero, or logarithmic around the data."""
    drawn = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    some = drawn[drawn > 0]
    if not log or not some.size:
        ax.set_ylim(0, 1.06 * float(some.max(initial=0)) or 1.0)
        return
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = float(some.min()) / 1.3, 1.3 * float(some.max())
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    powers = math.floor(math.log10(high)) - math.ceil(math.log10(low)) + 1
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if powers < 3 else (1,)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter("{x:g}")
