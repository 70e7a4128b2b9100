"""Queues and transmissions of the stations of media over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..planned_network import Medium, Station
from ..records import Numbers
from ..runs import Run
from . import style
from .inputs import MOST_PANELS, Results, cut, panels_of, replication, single, span
from .labels import name_of, over_time
from .queue import drops, name_level
from .size import Width
from .throughput import bin_edges

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

HEIGHTS_INCHES = (1.7, 1.5)
"""Heights of the upper panel (queue) and of the lower one."""
MOST_STATIONS = 4
"""Drawn unless others are chosen, each in two panels."""
STRIP = 0.25
"""The part of the lower panel's height that is kept for ticks of packets given up."""


@style.styled
def stations(
    results: Results,
    *,
    stations: Sequence[str] | None = None,
    bin_s: float | None = None,
    seed: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Stations of media: packets in the queue, and below it unanswered transmissions per second.

    The queue is that of the host with its driver's ring. A dotted line is the limit of both
    together, where it is near the data. Rates are means over bins of `bin_s` seconds, by default 1
    s, longer in long runs. Ticks are packets given up; the length of a tick is their number since
    the previous sample. Counts in the titles are of the time after the warm-up. `stations`, such as
    ["wlan/client"], chooses the stations; by default the four that send most. `names` has a name
    for the result.

    Raises ValueError without series, when there is no medium, for an unknown station or seed, and
    for bins that are not longer than the samples' spacing.
    """
    result = single(results, "stations")
    run = replication(result, seed)
    known, sent = names_of(result, run), of(run, "attempts")[-1]
    sending = [n for n in np.argsort(-sent, kind="stable") if sent[n]]
    if not (stations or sending):
        raise ValueError(f"no station sends anything; choose with stations= from {listed(known)}")
    busiest = [known[n] for n in sorted(sending[:MOST_STATIONS])]
    chosen = panels_of(known, stations or busiest, "station")
    samples = span(run.series.t_s, start_s, end_s)
    figure, axes = style.panels(2 * len(chosen), sum(HEIGHTS_INCHES) / 2, title, HEIGHTS_INCHES)
    edges = samples.start + bin_edges(run.series.t_s[samples], bin_s)
    entries: dict[str, Artist] = {}
    for place, column in enumerate(chosen):
        upper, lower = axes[2 * place : 2 * place + 2]
        found = waiting(upper, result, run, column, samples)
        found += unanswered(lower, run, column, samples, edges)
        for ax in (upper, lower):
            found += style.warmup(ax, result.plan.warmup_s)
        entries |= {str(one.get_label()): one for one in found}
        style.heading(upper, f"{known[column]}{counts(run, column)}", [])
    figure.align_ylabels(axes)
    axes[-1].set_xlabel("Time (s)")
    part = cut(len(chosen), len(stations or sending), "stations, those that send most")
    note = over_time([result], f"seed {run.seed}{part}", name_of(result, names))
    style.legend(figure, list(entries.values()), note=note)
    return figure


def planned_stations(result: Result) -> list[tuple[Medium, Station]]:
    """Every station after its medium, in the order of the columns."""
    return [(medium, station) for medium in result.plan.media for station in medium.stations]


def names_of(result: Result, run: Run) -> list[str]:
    """Names as "medium/station". Raises ValueError when there is no station."""
    names = [f"{medium.name}/{station.name}" for medium, station in planned_stations(result)]
    if not names:
        raise ValueError(
            f"{result.plan.name} has no medium and so no stations; the plot queue shows links"
        )
    if not run.series.has("stations"):
        raise ValueError("the result has no samples of stations; run it again")
    return names


def listed(names: Sequence[str]) -> str:
    """The first few names."""
    more = f" and {len(names) - MOST_PANELS} more" if len(names) > MOST_PANELS else ""
    return ", ".join(names[:MOST_PANELS]) + more


def of(run: Run, metric: str) -> Numbers:
    """A series of stations, shape (samples, stations)."""
    return run.series.stations.column(metric)


def waiting(ax: Axes, result: Result, run: Run, column: int, samples: slice) -> list[Artist]:
    """Packets in the queue; entries for the legend."""
    _, station = planned_stations(result)[column]
    t_s = run.series.t_s[samples]
    packets = of(run, "queue_packets")[samples, column]
    ax.plot(t_s, packets, color=style.INK, linewidth=style.pt(1.1))
    top = max(1.0, float(packets.max()))
    limit = station.queue and station.queue.limit_packets
    room = limit + station.ring_packets if limit else None
    if room and room <= 1.5 * top:
        ax.axhline(room, color=style.FAINT, linestyle=":", linewidth=style.pt(1))
        name_level(ax, room, "limit")
        top = max(top, room)
    ax.set_ylim(0, 1.05 * top)
    ax.set_xlim(t_s[0], t_s[-1])
    ax.locator_params(axis="y", integer=True)
    ax.set_ylabel("Queue (packets)")
    return [style.entry("queue", color=style.INK, linewidth=style.pt(1.1))]


def unanswered(ax: Axes, run: Run, column: int, samples: slice, edges: Any) -> list[Artist]:
    """Transmissions without an answer per second, and ticks; entries for the legend."""
    t_s = run.series.t_s
    per_s = np.diff(of(run, "unanswered")[edges, column]) / np.diff(t_s[edges])
    look: dict[str, Any] = {"color": style.PALETTE[0], "linewidth": style.pt(1.4)}
    ax.stairs(per_s, t_s[edges], baseline=None, **look)
    given_up = np.diff(of(run, "failed_packets")[samples, column], prepend=np.nan)
    ticks = drops(ax, t_s[samples], np.nan_to_num(given_up), "given up", STRIP)
    top = max(1.0, float(per_s.max()))
    ax.set_ylim(0, top * 1.05 / (1 - STRIP if ticks else 1))
    ax.set_ylabel("Unanswered (1/s)")
    for tick in ticks:
        tick.set_label("packets given up")
    return [style.entry("unanswered", **look), *ticks]


def counts(run: Run, column: int) -> str:
    """Counts of the station after the warm-up, for its title."""
    if not run.has("stations"):
        return ""
    table = run.stations
    attempts, lost, failed = (
        int(each[column]) for each in (table.attempts, table.unanswered, table.failed_packets)
    )
    if not attempts:
        return ": no transmission after the warm-up"
    share = f"{100 * lost / attempts:.3g} % of {attempts:,} transmissions unanswered"
    return f": {share}, {failed:,} packet{'' if failed == 1 else 's'} given up"
