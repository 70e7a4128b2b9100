"""A network as pipes, drawn: users, links with their queues, and flows as wide as their rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..runs import Run
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
CROWD, ROW = 50, 10
"""Users that are drawn one by one, and how many of them in a row."""
WEIGHTS = ("bold", "normal")
"""Of the two lines in a box of users."""
LEAST_SMALLER = 1.4
"""Words that are so many times as long as their box is wide stand elsewhere."""
QUEUE, LOST = "#c9a227", "#b00020"
"""Colours of packets that wait, and of the words on those that are lost."""


@dataclass(frozen=True)
class Flowing:
    """What flows: means of a span, or of the last second before a time."""

    rates_bps: NDArray[np.float64]
    """Of all users of each stream."""
    queues_packets: NDArray[np.float64]
    """Of each link of the plan, all copies together."""
    lost: list[str]
    """What each link of the plan loses, in words; empty for nothing."""


def measured(result: Result, runs: Sequence[Run], known: Sequence[Stream]) -> Flowing:
    """Means over runs of what was measured after the warm-up."""
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
    words = [f"{100 * part:.2g} % lost" if part > 0 else "" for part in loss]
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
    words = [f"{rate:.3g} drops/s" if rate > 0 else "" for rate in dropped]
    return Flowing(np.array(rates), series.links.queue_packets[sample], words)


def draw_flows(
    ax: Axes, result: Result, known: Sequence[Stream], now: Flowing, tones: Sequence[str]
) -> None:
    """Fills axes with the network of a result."""
    of = pipes(result.plan, known, now.rates_bps[None, :])
    ax.set(xlim=(-0.005, 1.005), ylim=(of.height, 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    small = style.pt(8.0 if crowded(of) else 9.5)
    for slot in (one for one in of.slots if one.kind == "pipe"):
        draw_pipe(ax, of, slot)
    draw_ribbons(ax, of, now, tones)
    for slot in of.slots:
        if slot.kind == "pipe":
            name_pipe(ax, of.pipes[slot.number], slot, carried(of, slot, now), now, small)
        elif slot.kind != "lane":
            own = [n for n, one in enumerate(known) if one.index == slot.number]
            draw_end(ax, result, slot, float(now.rates_bps[own].sum()), tones[own[0]], small)


def queue_key() -> list[Artist]:
    """The legend's entry of queues."""
    look: dict[str, Any] = {
        "marker": "s",
        "markersize": style.pt(8),
        "linestyle": "none",
        "color": QUEUE,
    }
    return [style.entry("packets that wait; dashes: RED's thresholds", **look)]


def inches(result: Result, known: Sequence[Stream], now: Flowing) -> float:
    """How high the picture of a network is."""
    on_a_page = pipes(result.plan, known, now.rates_bps[None, :]).height / HIGH_PER_INCH
    return on_a_page * style.pt(1.0)  # as high as its words


def crowded(of: Pipes) -> bool:
    """Whether there are so many pipes or classes that type has to be small."""
    columns = [slot.column for slot in of.slots if slot.kind != "lane"]
    return max(columns.count(column) for column in set(columns)) > 6


def carried(of: Pipes, slot: Slot, now: Flowing) -> float:
    """What flows through a slot in all, in bit/s."""
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


def name_pipe(
    ax: Axes, pipe: Pipe, slot: Slot, carried_bps: float, now: Flowing, small: float
) -> None:
    """A pipe's name, what it carries, its queue, and what it loses."""
    top, base = slot.y - slot.height / 2, slot.y + slot.height / 2
    rate = f"{carried_bps / 1e6:#.3g}" + (f" of {pipe.rate_text}" if pipe.rate_bps else " Mb/s")
    text: dict[str, Any] = {"color": style.INK, "fontsize": small, "zorder": 6, "ha": "left"}
    lift: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False}
    bold = {**text, "fontweight": "bold", "fontsize": small + 1}
    behind = 72 * style.inches(pipe.name, size=small + 1, weight="bold") + 6
    ax.annotate(pipe.name, (slot.x[0], top), xytext=(0, 3), va="bottom", **lift, **bold)
    wide = behind + 72 * style.inches(rate, size=small)
    if wide < LEAST_SMALLER * 72 * (slot.x[1] - slot.x[0]) * style.width():
        ax.annotate(rate, (slot.x[0], top), xytext=(behind, 3), va="bottom", **lift, **text)
    else:  # in the pipe, beside its queue
        from matplotlib.patheffects import withStroke

        pale = [withStroke(linewidth=style.pt(2.5), foreground="white", alpha=0.85)]
        within = {**text, "path_effects": pale}
        place = (slot.x[0] + 1.4 * TANK, top)
        ax.annotate(rate, place, xytext=(0, -3), va="top", **lift, **within)
    if pipe.link < 0:
        return
    packets = float(now.queues_packets[pipe.link])
    draw_queue(ax, pipe, slot, packets)
    below = f"{packets:.0f} packets wait" if packets >= 1.5 else ""
    for line, (words, tone) in enumerate([(below, style.INK), (now.lost[pipe.link], LOST)]):
        down = -3 - (line if below else 0) * (small + 3)
        look = {**text, "color": tone}
        ax.annotate(words, (slot.x[0], base), xytext=(0, down), va="top", **lift, **look)


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


def draw_end(
    ax: Axes, result: Result, slot: Slot, rate_bps: float, tone: str, small: float
) -> None:
    """A class of users, or what its receivers get."""
    from matplotlib.patches import Rectangle

    planned = result.plan.classes[slot.number]
    left, right = slot.x
    corner, size = (left, slot.y - slot.height / 2), (right - left, slot.height)
    look: dict[str, Any] = {
        "facecolor": "white",
        "edgecolor": tone,
        "linewidth": style.pt(1.8),
        "zorder": 3,
    }
    ax.add_patch(Rectangle(corner, *size, **look))
    several = planned.count > 1
    if slot.kind == "class":
        law = "UDP" if planned.protocol == "udp" else planned.controller
        texts = planned.name, f"{planned.count} user{'s' * several}, {law}"
    else:
        per_user = rate_bps / planned.count / 1e6
        texts = f"{per_user:#.3g} Mb/s", planned.name + ", per user" * several
    middle = ((left + right) / 2, slot.y)
    lift: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "center"}
    ink: dict[str, Any] = {"color": style.INK, "zorder": 6}
    width = 72 * (right - left) * style.width() * 0.9
    sizes = (small + 1, small)
    wide = [
        72 * style.inches(text, size=size_pt, weight=weight)
        for text, size_pt, weight in zip(texts, sizes, WEIGHTS, strict=True)
    ]
    upright = max(wide) > LEAST_SMALLER * width
    if upright:
        width = 72 * slot.height / HIGH_PER_INCH * style.pt(1.0) * 0.95
    for number, (text, weight) in enumerate(zip(texts, WEIGHTS, strict=True)):
        aside = (0.65, -0.65)[number] * (small + 3)
        where = (-aside, 0.0) if upright else (0.0, aside)
        font: dict[str, Any] = {"fontsize": sizes[number] * min(1.0, width / wide[number])}
        font |= {"fontweight": weight, "rotation": 90 * upright}
        ax.annotate(text, middle, xytext=where, **lift, **ink, **font)
    if slot.kind == "class" and several and not upright:
        crowd(ax, planned.count, middle, small, tone)


def crowd(ax: Axes, users: int, middle: tuple[float, float], small: float, tone: str) -> None:
    """A dot for each user, below the texts."""
    shown = min(users, CROWD)
    step = 0.62 * small
    for number in range(shown):
        row, place = divmod(number, ROW)
        across = (place - (min(shown, ROW) - 1) / 2) * step
        down = -(1.9 * small + 3 + row * step)
        dot: dict[str, Any] = {"fontsize": 0.5 * small, "color": tone, "zorder": 6}
        where: dict[str, Any] = {"xytext": (across, down), "textcoords": "offset points"}
        ax.annotate("●", middle, ha="center", va="center", **where, **dot)
