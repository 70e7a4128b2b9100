"""Queues and drops over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..planned_network import Link, Red
from ..runs import Run
from ..statistics import significant
from . import style
from .inputs import MOST_PANELS, Results, cut, panels_of, replication, single, span
from .labels import name_of, over_time
from .size import Width

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
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """Waiting packets of each shared link that has a rate, a panel for each.

    Ticks at the top are drops and losses, as long as there were many since the sample before.
    Dotted lines are the thresholds of RED or the limit of drop-tail, where they are near the data.
    `links` chooses others; private copies of a link are shown as their sum. `names` has a name for
    the result.

    Raises ValueError without series, for an unknown link or seed, and when no link is shared.
    """
    result = single(results, "queue")
    run = replication(result, seed)
    chosen = columns_of(result, links)
    samples = span(run.series.t_s, start_s, end_s)
    figure, axes = style.panels(len(chosen), 3.6 if len(chosen) == 1 else 2.5, title)
    for ax, column in zip(axes, chosen, strict=True):
        panel(ax, result, run, column, samples)
    axes[-1].set_xlabel("Time (s)")
    part = f"seed {run.seed}{cut(len(chosen), len(links or shared(result)), 'links')}"
    style.legend(figure, [], note=over_time([result], part, name_of(result, names)))
    return figure


def columns_of(result: Result, links: Sequence[str] | None) -> list[int]:
    """Numbers of the links to draw."""
    names = [link.name for link in result.plan.links]
    drawn = shared(result) if links is None else links
    if not drawn:
        raise ValueError(f"no shared link has a rate; choose with links= from {', '.join(names)}")
    return panels_of(names, drawn if links else drawn[:MOST_PANELS], "link")


def shared(result: Result) -> list[str]:
    """Links with a rate that users share, rather than having a copy each."""
    links = result.plan.links
    return [link.name for link in links if link.rate_bps and not link.per_user]


def panel(ax: Axes, result: Result, run: Run, column: int, samples: slice) -> None:
    """One link."""
    link = result.plan.links[column]
    series = run.series
    t_s = series.t_s[samples]
    packets = series.links.queue_packets[samples, column]
    colour = style.INK
    ax.plot(t_s, packets, color=colour, linewidth=style.pt(1.1))
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
    queued = f", {link.queue.kind}" if link.queue else ""
    rate = rate_text(link, result.plan.duration_s)
    style.heading(ax, f"{link.name} ({rate}{queued}{private})", entries)


def thresholds(ax: Axes, link: Link, top: float) -> float:
    """Draws the queue's thresholds that lie near the data; the height that shows them."""
    rule = link.queue
    known: dict[str, float | None] = {"limit": rule.limit_packets if rule else None}
    if isinstance(rule, Red):
        known = {"RED min": rule.min_packets, "RED max": rule.max_packets, **known}
    near = {word: height for word, height in known.items() if height and height <= 1.5 * top}
    for word, packets in near.items():
        ax.axhline(packets, color=style.FAINT, linestyle=":", linewidth=style.pt(1))
        name_level(ax, packets, word)
    return max(top, *near.values()) if near else top


def name_level(ax: Axes, level: float, word: str) -> None:
    """Writes what a level is at its right end, above its line."""
    look: dict[str, Any] = {"ha": "right", "va": "bottom", "color": style.INK}
    where = ax.get_yaxis_transform()
    font = style.size("legend.title_fontsize")
    pale = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": style.pt(1)}
    ax.text(0.995, level, word, transform=where, fontsize=font, bbox=pale, zorder=5, **look)


def drops(
    ax: Axes, t_s: Any, dropped: Any, what: str = "drops and losses", strip: float = STRIP
) -> list[Artist]:
    """Ticks hanging from the top, the longest for the most drops between two samples."""
    some = dropped > 0
    most = dropped.max()
    if not some.any():
        return []
    length = strip * 0.9 * (0.3 + 0.7 * dropped[some] / most)
    look: dict[str, Any] = {"color": style.PALETTE[1], "linewidth": style.pt(0.8)}
    ax.vlines(t_s[some], 1 - length, 1, transform=ax.get_xaxis_transform(), **look)
    count = f"{most:.0f} packet{'' if most == 1 else 's'}"
    return [style.entry(f"{what} (longest tick: {count})", **look)]


def rate_text(link: Link, duration_s: float) -> str:
    """A link's rate for people: from the lowest to the highest where it changes during the run."""
    if not link.rate_bps:
        return "no rate"
    changes = [c for c in link.changes if c.at_s < duration_s]
    rates = [c.rate_bps for c in changes if c.rate_bps is not None]
    if not any(c.at_s == 0 and c.rate_bps is not None for c in changes):
        rates.append(link.rate_bps)
    if any(c.up is False for c in changes):
        rates.append(0)
    low, high = (significant(bps / 1e6) if bps > 1 else "0" for bps in (min(rates), max(rates)))
    if link.opportunities:
        return f"{high} Mb/s on average"
    return f"{high} Mb/s" if low == high else f"{low} to {high} Mb/s"
