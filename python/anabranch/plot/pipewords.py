"""The words of a network of pipes, written where they cover no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from ..statistics import significant
from . import style
from .flows import TANK, Flowing, carried, crowded
from .pipes import Pipe, Slot, pipes
from .room import Box, Room, Words, cuts, put
from .streams import Stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..result import Result

CROWD, ROW = 50, 10
"""Users that are drawn one by one, and how many of them in a row."""
LEAST_PT = 6.0
"""Size of letters that can be read in print."""
LEGIBLE_PART = 0.9
"""Letters of that size, as a part of those outside, are large enough to try no other place."""
LEAST_PART = 0.7
"""Letters in a box of users are not smaller than so, as a part of those outside."""
OVERHANG = 1.4
"""A name and a rate above a pipe are together at most so many times as long as the pipe."""
INSIDE = 0.9
"""The part of a box's edge that a line of text may take."""
LINE = 1.3
"""Distance of two lines, in sizes of letters."""
LOST = "#b00020"
"""Colour of words on packets that are lost."""
ABOVE, BELOW = 3.0, -3.0
"""Distance of words from the edge of a pipe, in points."""


@dataclass(frozen=True)
class End:
    """Text in a box of users or of receivers."""

    slot: Slot
    first: str
    second: str
    users: int
    """Users drawn as dots."""
    tone: str


def write_flows(
    ax: Axes, result: Result, known: Sequence[Stream], now: Flowing, tones: Sequence[str]
) -> None:
    """Writes into axes what `flows.draw_flows` has drawn in them, at their final size.

    Users and names come first, then rates, losses and waiting packets: of words that would
    cover others the later ones move, or are left out.
    """
    of = pipes(result.plan, known, now.rates_bps[None, :])
    small = style.pt(8.0 if crowded(of) else 9.5)
    drawn = [slot for slot in of.slots if slot.kind == "pipe"]
    boxes = [slot for slot in of.slots if slot.kind in ("class", "end")]
    tanks = [
        box_of(ax, (slot.x[0], slot.x[0] + TANK), slot)
        for slot in drawn
        if of.pipes[slot.number].link >= 0
    ]
    hard = [*tanks, *(box_of(ax, slot.x, slot) for slot in boxes)]
    room = Room(ax, hard, [box_of(ax, slot.x, slot) for slot in drawn])
    for slot in boxes:
        own = [n for n, one in enumerate(known) if one.index == slot.number]
        rate_bps = float(now.rates_bps[own].sum())
        write_end(room, end_of(result, slot, rate_bps, tones[own[0]]), small)
    named = [name_pipe(room, of.pipes[slot.number], slot, small) for slot in drawn]
    for slot, above in zip(drawn, named, strict=True):
        write_rate(room, of.pipes[slot.number], slot, carried(of, slot, now), above, small)
    for slot in drawn:
        if of.pipes[slot.number].link >= 0:
            write_queue(room, of.pipes[slot.number], slot, now, small)


def box_of(ax: Axes, x: tuple[float, float], slot: Slot) -> Box:
    """A part of a slot in pixels."""
    half = slot.height / 2
    (left, lower), (right, upper) = ax.transData.transform(
        [(x[0], slot.y + half), (x[1], slot.y - half)]
    )
    return float(left), float(lower), float(right), float(upper)


def size_pt(ax: Axes, slot: Slot) -> tuple[float, float]:
    """Width and height of a slot in points."""
    left, lower, right, upper = box_of(ax, slot.x, slot)
    per_pt = ax.figure.dpi / 72
    return (right - left) / per_pt, (upper - lower) / per_pt


def long_pt(text: str, size: float, weight: str = "normal") -> float:
    """The length of the longest line of a text in points."""
    return max(72 * style.inches(line, size=size, weight=weight) for line in text.split("\n"))


def name_pipe(room: Room, pipe: Pipe, slot: Slot, small: float) -> bool:
    """Writes a pipe's name above it, or cut, or in it. Whether it stands above, at its left end."""
    look: dict[str, Any] = {"fontsize": small + 1, "fontweight": "bold"}
    top, base = slot.y - slot.height / 2, slot.y + slot.height / 2
    above = [
        Words(name, (slot.x[0], top), (0, ABOVE), ("left", "bottom"), look)
        for name in cuts(pipe.name)
    ]
    inner = slot.x[0] + 1.4 * TANK
    within = [
        Words(name, (inner, base), (0, -BELOW), ("left", "bottom"), look)
        for name in cuts(pipe.name)
    ]
    if room.write(above[:1]):
        return True
    own = box_of(room.ax, slot.x, slot)
    if not room.write(within[:1], own):  # rather elsewhere than cut
        room.write([*above[1:], *within[1:]], own)
    return False


def write_rate(
    room: Room, pipe: Pipe, slot: Slot, carried_bps: float, above: bool, small: float
) -> None:
    """Writes the rate of a pipe: behind its name, or in the pipe beside its queue, in one or two
    lines.
    """
    top = slot.y - slot.height / 2
    look: dict[str, Any] = {"fontsize": small}
    carries = significant(carried_bps / 1e6, zeros=True)
    rate = f"{carries} of {pipe.rate_text}" if pipe.rate_bps else f"{carries} Mb/s"
    behind = long_pt(pipe.name, small + 1, "bold") + 6
    wide, _ = size_pt(room.ax, slot)
    places = []
    if above and behind + long_pt(rate, small) < OVERHANG * wide:
        places.append(Words(rate, (slot.x[0], top), (behind, ABOVE), ("left", "bottom"), look))
    inner = (slot.x[0] + 1.4 * TANK, top)
    free = wide * (1 - 1.4 * TANK / (slot.x[1] - slot.x[0]))
    lines = [rate.replace(" of ", " of\n"), f"{carries} Mb/s", f"{carries}\nMb/s"]
    lines.insert(0 if long_pt(rate, small) < free else 1, rate)
    places += [Words(text, inner, (0, BELOW), ("left", "top"), look) for text in lines]
    room.write(places, box_of(room.ax, slot.x, slot))


def write_queue(room: Room, pipe: Pipe, slot: Slot, now: Flowing, small: float) -> None:
    """Writes queue length and losses of a pipe, below it or, if there is no room, in it."""
    base = (slot.x[0], slot.y + slot.height / 2)
    inner = (slot.x[0] + 1.4 * TANK, base[1])
    packets = float(now.queues_packets[pipe.link])
    waiting = f"{packets:.0f} packets wait" if packets >= 1.5 else ""
    lost = now.lost[pipe.link]
    look: dict[str, Any] = {"fontsize": small}
    red = {**look, "color": LOST}
    own = box_of(room.ax, slot.x, slot)
    second = BELOW - (small + 3)
    if lost:
        downs = (second, BELOW) if waiting else (BELOW,)
        places = [Words(lost, base, (0, down), ("left", "top"), red) for down in downs]
        places.append(Words(lost, inner, (0, -BELOW), ("left", "bottom"), red))
        room.write(places, own)
    if waiting:
        texts = (waiting, waiting.removesuffix(" wait"))
        below = [Words(text, base, (0, BELOW), ("left", "top"), look) for text in texts]
        within = [Words(text, inner, (0, -BELOW), ("left", "bottom"), look) for text in texts]
        room.write([below[0], within[0], below[1], within[1]], own)


def end_of(result: Result, slot: Slot, rate_bps: float, tone: str) -> End:
    """Text for a class of users, or for the rate of its receivers."""
    planned = result.plan.classes[slot.number]
    several = planned.count > 1
    if slot.kind == "class":
        law = "UDP" if planned.protocol == "udp" else planned.controller
        users = f"{planned.count} user{'s' * several}, {law}"
        return End(slot, planned.name, users, planned.count * several, tone)
    per_user = f"{significant(rate_bps / planned.count / 1e6, zeros=True)} Mb/s"
    return End(slot, per_user, planned.name + ", per user" * several, 0, tone)


def write_end(room: Room, end: End, small: float) -> None:
    """Writes two texts into a box, along its short or its long edge, in letters that can be read;
    or else above the box and below it.
    """
    wide, high = size_pt(room.ax, end.slot)
    broken = end.second.replace(", ", ",\n", 1)
    best, part = (end.second, False), 0.0
    for upright, second in product((False, True), (end.second, broken)):
        along, beside = (high, wide) if upright else (wide, high)
        needed = max(long_pt(end.first, small + 1, "bold"), long_pt(second, small))
        deep = LINE * ((2 + second.count("\n")) * small + 1)
        fits = min(1.0, INSIDE * along / needed, beside / deep)
        if part < LEGIBLE_PART and fits > part:
            best, part = (second, upright), fits
    if part < max(LEAST_PART, LEAST_PT / small):
        write_around(room, end, small)
        return
    write_within(room, end, best[0], part * small, part, upright=best[1])
    if end.users and not best[1]:
        crowd(room.ax, end, small, high)


def write_within(
    room: Room, end: End, second: str, size: float, part: float, *, upright: bool
) -> None:
    """Writes two texts into the middle of a box, the first in letters larger by `part` points."""
    middle = (sum(end.slot.x) / 2, end.slot.y)
    upper = LINE * (size + part)
    lower = LINE * size * (1 + second.count("\n"))
    for text, letters, weight, aside in (
        (end.first, size + part, "bold", lower / 2),
        (second, size, "normal", -upper / 2),
    ):
        where = (-aside, 0.0) if upright else (0.0, aside)
        look: dict[str, Any] = {"fontsize": letters, "fontweight": weight}
        look |= {"rotation": 90 * upright, "multialignment": "center", "path_effects": []}
        put(room.ax, Words(text, middle, where, ("center", "center"), look))


def write_around(room: Room, end: End, small: float) -> None:
    """Writes one text above a box and one below it."""
    slot = end.slot
    side, x = ("left", slot.x[0]) if slot.kind == "class" else ("right", slot.x[1])
    half = slot.height / 2
    texts = (
        (end.first, -half, ABOVE, "bottom", "bold"),
        (end.second, half, BELOW, "top", "normal"),
    )
    for text, down, aside, edge, weight in texts:
        look: dict[str, Any] = {"fontsize": small, "fontweight": weight}
        place = (x, slot.y + down)
        room.write(Words(cut, place, (0, aside), (side, edge), look) for cut in cuts(text))


def crowd(ax: Axes, end: End, small: float, high: float) -> None:
    """A dot for each user, below the texts, if the box of users is high enough."""
    shown = min(end.users, CROWD)
    step = 0.62 * small
    first = 1.9 * small + 3
    if first + ((shown - 1) // ROW + 1) * step > high / 2:
        return
    middle = (sum(end.slot.x) / 2, end.slot.y)
    for number in range(shown):
        row, place = divmod(number, ROW)
        across = (place - (min(shown, ROW) - 1) / 2) * step
        look: dict[str, Any] = {"fontsize": 0.5 * small, "color": end.tone, "path_effects": []}
        put(ax, Words("●", middle, (across, -first - row * step), ("center", "center"), look))
