"""A network as pipes, drawn: users, links with their queues, and flows as wide as their rates.

Their words follow when the figure has its size: `pipewords`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..plan import Plan
from ..planned_network import Red
from ..runs import Run
from ..statistics import significant
from . import style
from .inputs import path_columns
from .pipes import Pipe, Pipes, Slot, pipes
from .streams import LATELY_S, Stream

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ..result import Result

HIGH_PER_INCH = 105.0
"""Height of the picture in units of `Pipes.height` for an inch."""
TANK = 0.018
"""Width of a queue, as a part of the picture's."""
QUEUE = "#c9a227"
"""Colour of packets that wait."""


@dataclass(frozen=True)
class Flowing:
    """Rates, queues and losses: means over the measured time, or over the last second before a
    time.
    """

    rates_bps: NDArray[np.float64]
    """Rate of each stream, summed over its users."""
    queues_packets: NDArray[np.float64]
    """Queue of each link of the plan, summed over its copies."""
    lost: list[str]
    """Losses of each link of the plan in words; empty for a link without losses."""


def measured(result: Result, runs: Sequence[Run], known: Sequence[Stream]) -> Flowing:
    """Means over runs, for the time after the warm-up."""
    rates = [
        sum(
            float(run.paths.throughput_bps[path_columns(result, run, one.name)[:, one.path]].sum())
            for run in runs
        )
        / len(runs)
        for one in known
    ]
    if not all(run.has("links") for run in runs):  # theory has rates alone
        count = len(result.plan.links)
        return Flowing(np.array(rates), np.zeros(count), [""] * count)
    links = [run.links for run in runs]
    queues = np.mean([table.queue_packets for table in links], axis=0)
    arrived, gone = (
        np.sum([table.column(name) for table in links for name in names], axis=0)
        for names in (("arrived_packets",), ("dropped_packets", "lost_packets"))
    )
    loss = np.divide(gone, arrived, out=np.zeros(len(gone)), where=arrived > 0)
    words = [f"{significant(100 * part, 2)} % lost" if part > 0 else "" for part in loss]
    return Flowing(np.array(rates), queues, words)


def sampled(result: Result, run: Run, known: Sequence[Stream], sample: int) -> Flowing:
    """Rates and drops of the second before a sample, and queues at it."""
    series, t_s = run.series, run.series.t_s
    first = int(np.searchsorted(t_s, t_s[sample] - 1.001 * LATELY_S))
    first = max(min(first, sample - 1), 0)
    since_s = max(float(t_s[sample] - t_s[first]), 1e-9)
    rates = [
        8
        * float(np.ptp(series.paths.arrived_bytes[[first, sample]][:, columns].sum(axis=1)))
        / since_s
        for one in known
        for columns in [path_columns(result, run, one.name)[:, one.path]]
    ]
    dropped = (series.links.dropped_packets[sample] - series.links.dropped_packets[first]) / since_s
    words = [f"{significant(rate)} drops/s" if rate > 0 else "" for rate in dropped]
    return Flowing(np.array(rates), series.links.queue_packets[sample], words)


def draw_flows(
    ax: Axes, result: Result, known: Sequence[Stream], now: Flowing, tones: Sequence[str]
) -> None:
    """Fills axes with the network of a result, without words."""
    of = pipes(result.plan, known, now.rates_bps[None, :])
    ax.set(xlim=(-0.005, 1.005), ylim=(of.height, 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    for slot in (one for one in of.slots if one.kind == "pipe"):
        draw_pipe(ax, of, slot)
    draw_ribbons(ax, of, now, tones)
    for slot in of.slots:
        if slot.kind == "pipe" and of.pipes[slot.number].link >= 0:
            pipe = of.pipes[slot.number]
            draw_queue(ax, pipe, slot, float(now.queues_packets[pipe.link]))
        elif slot.kind in ("class", "end"):
            own = [n for n, one in enumerate(known) if one.index == slot.number]
            draw_end(ax, slot, tones[own[0]])


def queue_key(plan: Plan) -> list[Artist]:
    """The legend's entry of queues, with RED's thresholds where a queue has them."""
    red = any(isinstance(link.queue, Red) for link in plan.links)
    look: dict[str, Any] = {
        "marker": "s",
        "markersize": style.pt(8),
        "linestyle": "none",
        "color": QUEUE,
    }
    return [style.entry("packets that wait" + red * "; dashes: RED's thresholds", **look)]


def inches(result: Result, known: Sequence[Stream], now: Flowing) -> float:
    """Height of the picture of a network in inches."""
    on_a_page = pipes(result.plan, known, now.rates_bps[None, :]).height / HIGH_PER_INCH
    return on_a_page * style.pt(1.0)  # as high as its words


def crowded(of: Pipes) -> bool:
    """Whether there are so many pipes or classes that text must be small."""
    columns = [slot.column for slot in of.slots if slot.kind != "lane"]
    return max(columns.count(column) for column in set(columns)) > 6


def carried(of: Pipes, slot: Slot, now: Flowing) -> float:
    """Total rate through a slot in bit/s."""
    own = [of.courses[number] for number in slot.courses]
    return float(sum(now.rates_bps[one.stream] * one.part for one in own))


def draw_pipe(ax: Axes, of: Pipes, slot: Slot) -> None:
    """A pipe; dashed where its rate is higher than it is drawn."""
    from matplotlib.patches import FancyBboxPatch

    rate_bps = of.pipes[slot.number].rate_bps or 0.0
    cut = rate_bps / 1e6 * of.per_mbps > 1.05 * slot.height
    look: dict[str, Any] = {
        "facecolor": "#f1f4f7",
        "edgecolor": style.FAINT,
        "linewidth": style.pt(1.1),
    }
    corner = (slot.x[0], slot.y - slot.height / 2)
    size = (slot.x[1] - slot.x[0], slot.height)
    rounded = "round,pad=0,rounding_size=0.006"
    aspect = of.height  # corners are round although the axes are not square
    look |= {"linestyle": "--" if cut else "-", "mutation_aspect": aspect, "zorder": 1}
    ax.add_patch(FancyBboxPatch(corner, *size, boxstyle=rounded, **look))


def draw_ribbons(ax: Axes, of: Pipes, now: Flowing, tones: Sequence[str]) -> None:
    """Every course as a ribbon of constant height."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    wide = [now.rates_bps[c.stream] * c.part * of.per_mbps / 1e6 for c in of.courses]
    middle: dict[tuple[int, int], float] = {}
    for place, slot in enumerate(of.slots):
        above = slot.y - sum(wide[own] for own in slot.courses) / 2
        for own in slot.courses:
            middle[own, place] = above + wide[own] / 2
            above += wide[own]
    for number, course in enumerate(of.courses):
        crossed = [(of.slots[place].x, middle[number, place]) for place in course.slots]
        ends = [(x, y) for (left, right), y in crossed for x in (left, right)][1:-1]
        half = max(wide[number], 0.6) / 2
        upper, lower = (edge(ends, aside) for aside in (-half, half))
        points = [upper[0], *upper[1], lower[1][-1], *reversed(lower[1][:-1]), lower[0]]
        codes: list[Any] = [Path.MOVETO, *upper[2], Path.LINETO, *upper[2]]
        tone = tones[course.stream]
        look: dict[str, Any] = {"facecolor": tone, "edgecolor": "none", "alpha": 0.85, "zorder": 2}
        ax.add_patch(PathPatch(Path(points, codes), **look))


def edge(
    ends: Sequence[tuple[float, float]], aside: float
) -> tuple[tuple[float, float], list[tuple[float, float]], list[int]]:
    """The first point of an edge, its further points and their codes: curves between slots, lines
    within them.
    """
    from matplotlib.path import Path

    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for place, ((x0, y0), (x1, y1)) in enumerate(pairwise(ends)):
        if place % 2:
            points.append((x1, y1 + aside))
            codes.append(int(Path.LINETO))
        else:
            half = (x0 + x1) / 2
            points += [(half, y0 + aside), (half, y1 + aside), (x1, y1 + aside)]
            codes += [int(Path.CURVE4)] * 3
    return (ends[0][0], ends[0][1] + aside), points, codes


def draw_queue(ax: Axes, pipe: Pipe, slot: Slot, packets: float) -> None:
    """A queue as a level, with RED's thresholds dashed; up to its limit where that is near."""
    from matplotlib.patches import Rectangle

    most = 1.1 * max(packets, *pipe.marks_packets, 1.0)
    if pipe.room_packets and pipe.room_packets < 1.6 * most:
        most = pipe.room_packets
    left, base = slot.x[0], slot.y + slot.height / 2
    box: dict[str, Any] = {"edgecolor": style.FAINT, "linewidth": style.pt(1.1), "zorder": 4}
    ax.add_patch(Rectangle((left, base), TANK, -slot.height, facecolor="white", **box))
    level = slot.height * min(packets / most, 1.0)
    ax.add_patch(Rectangle((left, base), TANK, -level, facecolor=QUEUE, linewidth=0, zorder=4.5))
    for mark in (one for one in pipe.marks_packets if one < most):
        y = base - slot.height * mark / most
        ax.plot(
            (left, left + TANK),
            (y, y),
            color=style.INK,
            lw=style.pt(0.9),
            ls=(0, (2, 1.5)),
            zorder=5,
        )


def draw_end(ax: Axes, slot: Slot, tone: str) -> None:
    """The box of a class of users, or of its receivers."""
    from matplotlib.patches import Rectangle

    left, right = slot.x
    corner, size = (left, slot.y - slot.height / 2), (right - left, slot.height)
    look: dict[str, Any] = {
        "facecolor": "white",
        "edgecolor": tone,
        "linewidth": style.pt(1.8),
        "zorder": 3,
    }
    ax.add_patch(Rectangle(corner, *size, **look))
