"""Queues and drops over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plan import Link, Red
from ..runs import Run
from . import style
from .inputs import MOST_PANELS, Results, cut, panels_of, replication, single, span

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..result import Result

STRIP = 0.14
"""The part of a panel's height that is kept for ticks of drops."""


@style.styled
def queue(
    results: Results,
    *,
    links: Sequence[str] | None = None,
    seed: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
) -> Figure:
    """Waiting packets of each shared link that has a rate, a panel for each.

    Ticks at the top are drops and losses, as long as there were many since the sample before.
    Dotted lines are the thresholds of RED or the limit of drop-tail, where they are near the data.
    `links` chooses others; private copies of a link are shown as their sum.

    Raises ValueError without series, for an unknown link or seed, and when no link is shared.
    """
    result = single(results, "queue")
    run = replication(result, seed)
    chosen = columns_of(result, links)
    samples = span(run.series.t_s, start_s, end_s)
    part = cut(len(chosen), len(links or shared(result)), "links")
    title = f"{result.plan.name}: queues, seed {run.seed}{part}"
    figure, axes = style.panels(len(chosen), 2.5, title)
    for index, (ax, column) in enumerate(zip(axes, chosen, strict=True)):
        panel(ax, result, run, column, samples, index)
    axes[-1].set_xlabel("Time (s)")
    return figure


def columns_of(result: Result, links: Sequence[str] | None) -> list[int]:
    """Numbers of the links to draw."""
    names = [link.name for link in result.plan.links]
    drawn = shared(result) if links is None else links
    if not drawn:
        raise ValueError(f"no shared link has a rate; choose with links= from {', '.join(names)}")
    return panels_of(names, drawn if links else drawn[:MOST_PANELS], "link")


def shared(result: Result) -> list[str]:
    """The links with a rate of which users have no copies of their own."""
    links = result.plan.links
    return [link.name for link in links if link.rate_bps and not link.per_user]


def panel(ax: Axes, result: Result, run: Run, column: int, samples: slice, index: int) -> None:
    """One link."""
    link = result.plan.links[column]
    series = run.series
    t_s = series.t_s[samples]
    packets = series.links.queue_packets[samples, column]
    colour = style.INK
    ax.plot(t_s, packets, color=colour, linewidth=1.1)
    entries: list[Artist] = [style.entry("waiting packets", color=colour)]
    top = max(1.0, float(packets.max()))
    top = thresholds(ax, link, top)
    ax.set_ylim(0, top * 1.05 / (1 - STRIP))
    ax.set_xlim(t_s[0], t_s[-1])
    dropped = np.diff(series.links.dropped_packets[samples, column], prepend=np.nan)
    entries += drops(ax, t_s, np.nan_to_num(dropped))
    entries += style.warmup(ax, result.plan.warmup_s)
    ax.set_ylabel("Queue (packets)")
    private = ", sum of private copies" if link.per_user else ""
    style.heading(ax, f"{link.name} ({rate_text(link.rate_bps)}{private})", entries)


def thresholds(ax: Axes, link: Link, top: float) -> float:
    """Draws the queue's thresholds that lie near the data; the height that shows them."""
    rule = link.queue
    known: dict[str, float | None] = {"limit": rule.limit_packets if rule else None}
    if isinstance(rule, Red):
        known = {"RED min": rule.min_packets, "RED max": rule.max_packets, **known}
    near = {word: height for word, height in known.items() if height and height <= 1.5 * top}
    for word, packets in near.items():
        ax.axhline(packets, color=style.FAINT, linestyle=":", linewidth=1)
        where = ax.get_yaxis_transform()
        ax.text(1.005, packets, word, transform=where, va="center", fontsize=9, color=style.INK)
    return max(top, *near.values()) if near else top


def drops(
    ax: Axes, t_s: Any, dropped: Any, what: str = "drops and losses", strip: float = STRIP
) -> list[Artist]:
    """Ticks hanging from the top, the longest for the most drops between two samples."""
    some = dropped > 0
    most = dropped.max()
    if not some.any():
        return []
    length = strip * 0.9 * (0.3 + 0.7 * dropped[some] / most)
    look: dict[str, Any] = {"color": style.PALETTE[1], "linewidth": 0.8}
    ax.vlines(t_s[some], 1 - length, 1, transform=ax.get_xaxis_transform(), **look)
    count = f"{most:.0f} packet{'' if most == 1 else 's'}"
    return [style.entry(f"{what} (longest tick: {count})", **look)]


def rate_text(rate_bps: float | None) -> str:
    """A link's rate for people."""
    return "no rate" if not rate_bps else f"{rate_bps / 1e6:g} Mb/s"
