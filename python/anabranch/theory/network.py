"""A plan as theory sees it: classes of identical users, paths, and links that fill.

Only the forward direction matters here. Return links carry acknowledgements, which theory takes
as free; their delay is part of `base_rtt_s`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .. import _core, planned_network
from .. import plan as planned
from ..offers import Value, keyed
from .errors import TheoryError
from .queueing import Queue

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Link:
    """A link, or the private copies of one that the users of a class have.

    `capacity_bps` is the capacity that all its users share (`inf`: pure delay), `copies` the number
    of private copies that divide it, `loss` its random (Bernoulli) loss, `packet_bytes` the mean
    size of the packets of the users that cross it.
    """

    name: str
    capacity_bps: float
    loss: float = 0.0
    queue: Queue | None = None
    copies: int = 1
    packet_bytes: float = 1500.0

    def queue_delay_s(self, loss: float) -> float:
        """Queueing delay in seconds when the link drops with probability `loss`."""
        if self.queue is None or math.isinf(self.capacity_bps):
            return 0.0
        return self.queue.delay_s(loss, self.capacity_bps / self.copies, self.packet_bytes)


@dataclass(frozen=True, slots=True)
class Path:
    """The forward links of a path (indices into `Network.links`) and its RTT without queueing."""

    links: tuple[int, ...]
    base_rtt_s: float


@dataclass(frozen=True, slots=True)
class UserClass:
    """`count` identical users: one connection each, over the same kind of paths."""

    name: str
    count: int
    controller: str
    """Its name, or the text of a law."""
    packet_bytes: int
    paths: tuple[Path, ...]

    @property
    def label(self) -> str:
        """The controller as results call it."""
        return _core.controller_name(self.controller)


@dataclass(frozen=True)
class Network:
    """Classes and links. Paths are numbered class by class: P paths over L links."""

    name: str
    links: tuple[Link, ...]
    classes: tuple[UserClass, ...]

    def __post_init__(self) -> None:
        _check(self)

    @staticmethod
    def from_plan(plan: planned.Plan) -> Network:
        """The network of a plan.

        A `per_user` link becomes one link for each class that names it, with capacity
        `count * rate_bps` and that many `copies`: by symmetry each user has its own part of it.
        Raises ValueError when the plan has no class, an empty path, a medium, or a number out of
        range.
        """
        return _Expansion(plan).network()

    def with_controller(self, controller: str, classes: Iterable[str] | None = None) -> Network:
        """The same network with `controller` in the named classes (all multipath ones if None).

        Raises ValueError for a class or a controller that does not exist.
        """
        if classes is None:
            chosen = {c.name for c in self.classes if len(c.paths) > 1}
        else:
            chosen = set(self.by_class(dict.fromkeys(classes)))
        controller = _core.controller(controller)["source"]
        return replace(
            self,
            classes=tuple(
                replace(c, controller=controller) if c.name in chosen else c for c in self.classes
            ),
        )

    def by_class(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """Values given by class, keyed by the classes' names. Raises ValueError for an unknown
        class.
        """
        return keyed("class", given, (c.name for c in self.classes), "the classes are")

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The range of each class in the P paths."""
        edges = np.cumsum([0, *(len(c.paths) for c in self.classes)])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(edges))

    @cached_property
    def capacities_bps(self) -> Floats:
        """(L,) capacity shared by all users, bit/s; `inf` for a pure delay."""
        return np.array([link.capacity_bps for link in self.links], dtype=np.float64)

    @cached_property
    def incidence(self) -> Floats:
        """(L, P) 1 where the path crosses the link, else 0."""
        matrix = np.zeros((len(self.links), len(self.counts)))
        for column, path in enumerate(self._paths):
            matrix[list(path.links), column] = 1.0
        return matrix

    @cached_property
    def counts(self) -> Floats:
        """(P,) users on each path."""
        return np.array([float(c.count) for c in self.classes for _ in c.paths])

    @cached_property
    def packet_bits(self) -> Floats:
        """(P,) bits on the wire of one segment of each path."""
        return np.array([8.0 * c.packet_bytes for c in self.classes for _ in c.paths])

    @cached_property
    def base_rtts_s(self) -> Floats:
        """(P,) round-trip times without queueing, seconds."""
        return np.array([path.base_rtt_s for path in self._paths])

    @cached_property
    def random_losses(self) -> Floats:
        """(P,) loss that no queue causes: the sum of the Bernoulli losses along each path."""
        return np.array([sum(self.links[i].loss for i in path.links) for path in self._paths])

    @cached_property
    def _paths(self) -> tuple[Path, ...]:
        return tuple(path for c in self.classes for path in c.paths)


def left_out(plan: planned.Plan) -> list[str]:
    """Parts of a plan that theory ignores: it knows steady states of flows that always
    have data.
    """
    classes, links = plan.classes, plan.links
    parts = {
        "limits of applications (app_rate, transfer)": any(
            c.app_rate_bps or c.transfer_bytes for c in classes
        ),
        "paths that join or leave": any(p.join_s or p.leave_s for c in classes for p in c.paths),
        "striping: only the first way counts": any(p.turns for c in classes for p in c.paths),
        "network coding": any(p.coding for c in classes for p in c.paths),
        "changes of links": any(link.changes for link in links),
        "opportunities of links: their mean rate counts": any(link.opportunities for link in links),
        "random loss in the optima (equilibria have it)": any(link.loss for link in links),
        "that random losses come in bursts": any(link.loss_chain for link in links),
        "packets that are held back or copied": any(
            link.reorder or link.duplicate for link in links
        ),
        "random processing time (jitter)": any(link.jitter_s for link in links),
        "how CUBIC moves: its mean window at a loss counts (RFC 9438 §5.1)": any(
            _in_the_mean(c.law or c.controller) for c in classes
        ),
    }
    return [part for part, present in parts.items() if present]


def _in_the_mean(controller: str) -> bool:
    """Whether theory knows a controller's mean window, and no more of it."""
    if controller.startswith("py:"):
        return False
    named = _core.controller(controller)
    return named["steady"] and not named["law"]


def refusal(plan: planned.Plan) -> str | None:
    """Why theory cannot answer a plan; None where it can."""
    for link in plan.links:
        if link.attachments:
            medium = plan.media[link.attachments[0].medium].name
            return (
                f"link {link.name!r} is a part of medium {medium!r}: what is left for it depends on what its "
                "other stations do, and theory of networks has links with a rate of their own; saturated "
                "stations have anabranch.theory.dcf"
            )
    return None


def single_user(
    controller: str,
    losses: Sequence[float] | Floats,
    rtts_s: Sequence[float] | Floats,
    packet_bytes: int = 1500,
) -> Network:
    """One user over endless links with random loss: the harness for a law's drift alone.

    `losses` and `rtts_s` have shape (n,). Raises ValueError when they differ in length.
    """
    if len(losses) != len(rtts_s):
        raise ValueError(f"{len(losses)} losses for {len(rtts_s)} round-trip times")
    links = tuple(Link(f"path{i}", math.inf, float(p)) for i, p in enumerate(losses))
    paths = tuple(Path((i,), float(rtt)) for i, rtt in enumerate(rtts_s))
    return Network("single user", links, (UserClass("user", 1, controller, packet_bytes, paths),))


class _Expansion:
    """Turns a plan's links and classes into a network, copying the links that are per user."""

    def __init__(self, plan: planned.Plan) -> None:
        self.plan = plan
        self.links: list[Link] = []
        self.place: dict[tuple[int, str | None], int] = {}

    def network(self) -> Network:
        if why := refusal(self.plan):
            raise TheoryError(why)
        for index, link in enumerate(self.plan.links):
            if not link.per_user:
                self._add(index, None, 1)
        classes = tuple(self._user_class(c) for c in self.plan.classes)
        links = tuple(
            replace(link, packet_bytes=_mean_packet_bytes(i, classes))
            for i, link in enumerate(self.links)
        )
        return Network(self.plan.name, links, classes)

    def _user_class(self, entry: planned.Class) -> UserClass:
        count = entry.count
        paths = tuple(
            Path(
                tuple(self._link(i, entry.name, count) for i in path.links),
                path.base_rtt_s,
            )
            for path in entry.paths
        )
        controller = entry.law or entry.controller
        return UserClass(entry.name, count, controller, entry.packet_bytes, paths)

    def _link(self, index: int, class_name: str, count: int) -> int:
        if not self.plan.links[index].per_user:
            return self.place[index, None]
        if (index, class_name) not in self.place:
            self._add(index, class_name, count)
        return self.place[index, class_name]

    def _add(self, index: int, class_name: str | None, copies: int) -> None:
        link = self.plan.links[index]
        rate_bps = link.rate_bps
        name = link.name if class_name is None else f"{link.name}[{class_name}]"
        self.place[index, class_name] = len(self.links)
        self.links.append(
            Link(
                name=name,
                capacity_bps=math.inf if rate_bps is None else float(rate_bps) * copies,
                loss=link.loss,
                queue=_queue(link),
                copies=copies,
            )
        )


def _queue(link: planned_network.Link) -> Queue | None:
    try:
        return Queue.from_plan(link.queue)
    except ValueError as error:
        raise ValueError(f"link {link.name!r}: {error}") from None


def _mean_packet_bytes(link: int, classes: Sequence[UserClass]) -> float:
    users = [(c.count, c.packet_bytes) for c in classes for p in c.paths if link in p.links]
    total = sum(count for count, _ in users)
    return sum(count * size for count, size in users) / total if total else 1500.0


def _check(network: Network) -> None:
    if not network.classes:
        raise ValueError("a network needs at least one class of users")
    for link in network.links:
        if not link.capacity_bps > 0.0:
            raise ValueError(f"link {link.name!r}: capacity {link.capacity_bps} is not positive")
        if not 0.0 <= link.loss < 1.0:
            raise ValueError(f"link {link.name!r}: loss {link.loss} is not in [0, 1)")
    for c in network.classes:
        if c.count < 1 or c.packet_bytes < 1 or not c.paths:
            raise ValueError(f"class {c.name!r} needs users, a packet size and a path")
        for path in c.paths:
            if not path.base_rtt_s > 0.0:
                raise ValueError(f"class {c.name!r}: base RTT {path.base_rtt_s} is not positive")
            if not all(0 <= i < len(network.links) for i in path.links):
                raise ValueError(f"class {c.name!r}: a path over links that do not exist")
