"""A network as pipes: links and media between users on the left and receivers on the right, and the
paths of each class through them.

A plan has no nodes for wires: a path is the list of links that its data crosses. So the longest
path in front of a link decides how far to the right it stands. Links that only delay are left out.
Heights are Mb/s times one scale, the same for links and for flows in them. Coordinates are those of
a picture: from 0 to 1 to the right, and down from 0 to `height`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..plan import Plan
from ..planned_network import DropTail, Link, Red
from .streams import Stream

FULL = 330.0
"""Height of the flows through the fullest column."""
LEAST = 40.0
"""Height of the flattest pipe: its queue has to be legible."""
LANE = 8.0
"""Height of a path in a column in which it crosses no link."""
GAP = 62.0
"""Distance between two pipes, for their names and for their losses."""
ENDS = 0.14
"""Width of the columns of users and of receivers."""
PIPE = 1.8
"""Width of a pipe, relative to the gap between two columns."""
HEADROOM = 1.15
"""A pipe that is never full is drawn so much higher than the most that flows in it."""
SWEEPS = 8
"""Times that columns are put in the order of their neighbours."""


@dataclass(frozen=True)
class Pipe:
    """A link with a rate or with losses, or a medium."""

    name: str
    link: int
    """Number of the link; -1 for a medium."""
    medium: int
    """Number of the medium; -1 for a link."""
    copies: int
    """Private copies of a link, drawn as one."""
    rate_bps: float | None
    """Rate of all copies together; None if the plan gives none."""
    room_packets: float | None
    """Capacity of the queues of all copies; None unless it is given in packets."""
    marks_packets: tuple[float, ...] = ()
    """RED's thresholds."""

    @property
    def rate_text(self) -> str:
        """Its rate for people."""
        if not self.rate_bps:
            return ""
        times = f"{self.copies} × " if self.copies > 1 else ""
        return f"{times}{self.rate_bps / self.copies / 1e6:g} Mb/s"


@dataclass
class Slot:
    """A place in a column: users, a pipe, a lane beside pipes, or receivers."""

    kind: str
    """"class", "pipe", "lane" or "end"."""
    number: int
    """Number of the class, of the pipe or, for a lane, of its course."""
    column: int
    height: float
    x: tuple[float, float] = (0.0, 0.0)
    """Left and right end."""
    y: float = 0.0
    """The middle."""
    courses: list[int] = field(default_factory=list)
    """The courses in it, from top to bottom."""


@dataclass(frozen=True)
class Course:
    """A way of a path: its slots from the users to the receivers."""

    stream: int
    part: float
    """The part of the path's packets that takes it: below 1 where packets take turns."""
    slots: list[int]


@dataclass(frozen=True)
class Pipes:
    """Positions of everything in the picture."""

    pipes: list[Pipe]
    slots: list[Slot]
    courses: list[Course]
    height: float
    per_mbps: float
    """Height of 1 Mb/s."""


def has_pipes(plan: Plan) -> bool:
    """Whether any path crosses a link that does more than delay and is not on a medium."""
    paths = [path for own in plan.classes for path in own.paths]
    return any(pipe.link >= 0 for path in paths for pipe in ways(plan, path.links))


def pipes(plan: Plan, known: Sequence[Stream], flows_bps: NDArray[np.float64]) -> Pipes:
    """The pipes of a plan, high enough for all that is to flow in them.

    `flows_bps` has the rates of all users of each stream, shape (moments, streams).
    """
    found: list[Pipe] = []
    routes: list[tuple[int, float, list[int]]] = []
    for number, stream in enumerate(known):
        path = plan.classes[stream.index].paths[stream.path]
        turns = [path.links, *(links for links, _ in path.turns)]
        for links in turns:
            crossed = ways(plan, links)
            found += [pipe for pipe in crossed if pipe not in found]
            order = list(dict.fromkeys(found.index(pipe) for pipe in crossed))
            routes.append((number, 1 / len(turns), order))
    columns = ranks(len(found), [order for _, _, order in routes])
    last = max(columns, default=0) + 1
    slots = [Slot("class", number, 0, 0.0) for number in range(len(plan.classes))]
    slots += [Slot("pipe", number, column, 0.0) for number, column in enumerate(columns)]
    slots += [Slot("end", number, last, 0.0) for number in range(len(plan.classes))]
    courses: list[Course] = []
    for sender, part, order in routes:
        at = {columns[pipe]: len(plan.classes) + pipe for pipe in order}
        own = known[sender].index
        way = [own]
        for column in range(1, last):
            if column not in at:
                at[column] = len(slots)
                slots.append(Slot("lane", len(courses), column, LANE))
            way.append(at[column])
        way.append(len(plan.classes) + len(found) + own)
        courses.append(Course(sender, part, way))
    return placed(Pipes(found, slots, courses, 0.0, 0.0), flows_bps, last)


def ways(plan: Plan, links: Sequence[int]) -> list[Pipe]:
    """The pipes that a list of links crosses, in order."""
    return [pipe for link in links if (pipe := pipe_of(plan, link)) is not None]


def pipe_of(plan: Plan, number: int) -> Pipe | None:
    """The pipe that a link is, or the medium that it is a part of; None for a delay alone."""
    link = plan.links[number]
    if link.attachments:
        medium = link.attachments[0].medium
        return Pipe(plan.media[medium].name, -1, medium, 1, None, None)
    if not link.rate_bps and not link.loss:
        return None
    users = [own.count for own in plan.classes if any(number in one.links for one in own.paths)]
    copies = max(sum(users), 1) if link.per_user else 1
    rate = copies * link.rate_bps if link.rate_bps else None
    return Pipe(link.name, number, -1, copies, rate, room(link, copies), marks(link, copies))


def room(link: Link, copies: int) -> float | None:
    """The packets that a link's queue holds."""
    limit = link.queue.limit_packets if link.queue else None
    if limit is None and isinstance(link.queue, DropTail) and link.queue.limit_bytes:
        limit = link.queue.limit_bytes // 1500
    return limit * copies if limit else None


def marks(link: Link, copies: int) -> tuple[float, ...]:
    """RED's thresholds in packets."""
    if not isinstance(link.queue, Red):
        return ()
    return link.queue.min_packets * copies, link.queue.max_packets * copies


def ranks(count: int, orders: Sequence[Sequence[int]]) -> list[int]:
    """The column of each pipe, from 1: behind all pipes that any path crosses before it.

    Of paths that cross the same pipes in opposite orders the first one says the order.
    """
    before: dict[int, set[int]] = {pipe: set() for pipe in range(count)}
    for order in orders:
        for one, other in pairwise(order):
            if one not in before[other] and not reaches(before, one, other):
                before[other].add(one)
    columns = [1] * count
    for pipe in TopologicalSorter(before).static_order():
        columns[pipe] = 1 + max((columns[one] for one in before[pipe]), default=0)
    return columns


def reaches(before: Mapping[int, Iterable[int]], start: int, end: int) -> bool:
    """Whether `end` is `start` or precedes it, directly or not."""
    seen = {start}
    ahead = [start]
    while ahead:
        new = set(before[ahead.pop()]) - seen
        seen |= new
        ahead += new
    return end in seen


def placed(of: Pipes, flows_bps: NDArray[np.float64], last: int) -> Pipes:
    """The same with heights, columns in order, and places."""
    inside: list[list[int]] = [[] for _ in of.slots]
    for number, course in enumerate(of.courses):
        for crossed in course.slots:
            inside[crossed].append(number)
    whole_mbps = float(flows_bps.sum(axis=1).max()) / 1e6
    per_mbps = FULL / max(whole_mbps, 1e-9)
    for slot, own in zip(of.slots, inside, strict=True):
        parts = [flows_bps[:, of.courses[n].stream] * of.courses[n].part for n in own]
        most = float(np.max(sum(parts))) if parts else 0.0
        slot.courses = own
        slot.height = max(per_mbps * most / 1e6, slot.height)
        if slot.kind == "pipe":
            rate = of.pipes[slot.number].rate_bps or most
            high = min(rate, HEADROOM * most) if rate > most else most
            slot.height = max(per_mbps * high / 1e6, LEAST)
        elif slot.kind != "lane":
            slot.height = max(slot.height, LEAST)
        slot.x = across(slot, last)
    columns = [[s for s in of.slots if s.column == column] for column in range(last + 1)]
    height = max(sum(s.height + GAP for s in column) for column in columns)
    for sweep in range(SWEEPS):
        for column in columns:
            if sweep:
                column.sort(key=lambda slot: neighbours(of, slot))
            spread(column, height)
    for slot in of.slots:
        slot.courses.sort(key=lambda course: beside(of, course, slot))
    return Pipes(of.pipes, of.slots, of.courses, height, per_mbps)


def across(slot: Slot, last: int) -> tuple[float, float]:
    """The left and the right end of a slot."""
    if slot.column == 0:
        return 0.0, ENDS
    if slot.column == last:
        return 1 - ENDS, 1.0
    gap = (1 - 2 * ENDS) / (PIPE * (last - 1) + last)
    left = ENDS + gap + (slot.column - 1) * (1 + PIPE) * gap
    return left, left + PIPE * gap


def spread(column: Sequence[Slot], height: float) -> None:
    """Puts slots one below the other, with equal gaps."""
    gap = (height - sum(slot.height for slot in column)) / max(len(column), 1)
    y = 0.0
    for slot in column:
        slot.y = y + (gap + slot.height) / 2
        y += gap + slot.height


def neighbours(of: Pipes, slot: Slot) -> float:
    """Mean position of the slots before and behind a slot, over its courses."""
    near = []
    for number in slot.courses:
        way = of.courses[number].slots
        at = slot.column
        near += [of.slots[way[n]].y for n in (at - 1, at + 1) if 0 <= n < len(way)]
    return float(np.mean(near)) if near else slot.y


def beside(of: Pipes, number: int, slot: Slot) -> tuple[float, ...]:
    """Sort key of courses in a slot: where they come from; among users, where they go."""
    way = of.courses[number].slots
    ys = [of.slots[one].y for one in way]
    at = slot.column
    return (*ys[at + 1 :], number) if at == 0 else (*reversed(ys[:at]), *ys[at + 1 :], number)
