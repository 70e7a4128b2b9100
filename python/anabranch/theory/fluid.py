"""The fluid model of a network: differential equations of mean windows and queues.

    dw_r/dt = x_r (growth_r - p_r (w_r - backoff_r)),   x_r = w_r / rtt_r       windows (segments)
    dq_l/dt = y_l - C_l,  0 <= q_l <= limit,            y_l = sum of x_r over l     queues (packets)
    da_l/dt = -ln(1 - w_q) C_l (q_l - a_l)                                averages of RED (packets)
    p_r = random loss + sum of RED's curve at a_l,      rtt_r = base + sum of q_l / C_l

The form is that of Misra, Gong & Towsley (SIGCOMM 2000), with the drift of the shipped laws in the
place of Reno's `1/w - p w/2`. Losses are small (1 - p is taken as 1) and add along a path. Users of
a class are identical, the copies of a private link are one queue, and a rate reacts to its loss at
once: `anabranch.theory.stability` adds the delays of the feedback.

At rest the inflow of every non-empty queue equals its outflow, and every window is balanced or at
its floor: the fixed point of `equilibrium(rtt="queueing")`.

**Drop-tail.** A full queue loses the fraction `1 - C/y`, but no curve maps the queue to the loss.
So a full drop-tail queue has no rest point here, and a network with a congested one is refused.

**Set-valued laws** (OLIA) are interpolated as `anabranch.theory.balance` says, on a coarser mesh.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .balance import Law, check_law
from .equilibrium import Equilibrium, equilibrium
from .errors import TheoryError
from .network import Floats, Link, Network
from .queueing import BUSY_LOSS, Red

FLUID_MESH = 0.05
"""Lattice spacing for set-valued laws: states within 5 % are averaged over. The steps between the
sides of a jump are as steep as the mesh is fine, and integration as slow."""

LEAST_WINDOW = 1e-3
"""Segments. Where no floor is given, a window that falls below counts as zero and is held here."""

BRINK_PACKETS = 0.5
BRINK_WINDOW = 0.1
"""Packets from an empty or a full queue, and part of a window from its least, over which motion
towards that end fades out: a bound that were hit at full speed would be a jump to the integrator."""

LEAST_LOSS = 1e-9
"""Laws that ask for the time between losses are not asked at a loss of zero."""


@dataclass(frozen=True, slots=True)
class State:
    """A point of the model: log windows (P,) of segments, queues and their averages (K,) in
    packets.
    """

    log_windows: Floats
    queues: Floats
    averages: Floats

    @property
    def vector(self) -> Floats:
        """(P + 2K,) all of it."""
        return np.concatenate([self.log_windows, self.queues, self.averages])


class Fluid:
    """The differential equations of a network, and its rest point.

    P paths in the order of `Network.slices`, K links of finite rate that a path crosses, numbered
    by `links`. `floor` is the least window in segments, as in `equilibrium`.
    """

    def __init__(self, network: Network, *, floor: float = 0.0, mesh: float = FLUID_MESH) -> None:
        """Raises TheoryError when a controller has no law, when there is no equilibrium, and when a
        drop-tail queue is congested in it; ValueError for arguments out of range."""
        for c in network.classes:
            check_law(c.name, c.controller, moving=True)
        self.network = network
        self.equilibrium: Equilibrium = equilibrium(network, rtt="queueing", floor=floor, mesh=mesh)
        self.mesh = self.equilibrium.mesh
        used = network.incidence.any(axis=1)
        self.links: NDArray[np.intp] = np.flatnonzero(np.isfinite(network.capacities_bps) & used)
        self.least_windows = max(floor, LEAST_WINDOW)
        self.floored = floor > 0.0
        self.laws = [
            Law(c.controller, len(c.paths), self.mesh or mesh, True) for c in network.classes
        ]
        self._check_curves()

    @cached_property
    def capacities(self) -> Floats:
        """(K,) packets per second that each copy of a link puts out."""
        return np.array(
            [link.capacity_bps / link.copies / (8.0 * link.packet_bytes) for link in self._links]
        )

    @cached_property
    def limits(self) -> Floats:
        """(K,) packets that fit into each queue."""
        return np.array(
            [
                link.queue.most_packets(link.packet_bytes) if link.queue else math.inf
                for link in self._links
            ]
        )

    @cached_property
    def averaging(self) -> Floats:
        """(K,) rate at which averages follow queues, 1/s; `inf` where the queue of the moment
        counts.
        """
        rates = np.full(len(self.links), math.inf)
        for k, link in enumerate(self._links):
            if isinstance(link.queue, Red) and link.queue.weight < 1.0:
                rates[k] = -math.log1p(-link.queue.weight) * self.capacities[k]
        return rates

    @cached_property
    def incidence(self) -> Floats:
        """(K, P) 1 where the path crosses the link."""
        return self.network.incidence[self.links]

    @cached_property
    def packets_per_segment(self) -> Floats:
        """(K, P) packets per second on a copy of the link for one segment per second of
        each user.
        """
        net = self.network
        per_packet = np.array([link.copies * 8.0 * link.packet_bytes for link in self._links])
        share: Floats = self.incidence * net.counts * net.packet_bits / per_packet[:, None]
        return share

    @cached_property
    def rest(self) -> State:
        """The fixed point. Windows of zero are at the least window that the model has."""
        found, net = self.equilibrium, self.network
        windows = np.concatenate([found.windows[c.name] for c in net.classes])
        windows = np.maximum(windows, self.least_windows)
        queues = np.array(
            [
                link.queue.length_packets(found.link_losses[link.name], link.packet_bytes)
                if link.queue
                else 0.0
                for link in self._links
            ]
        )
        return State(np.log(windows), queues, queues.copy())

    @cached_property
    def moving(self) -> NDArray[np.bool_]:
        """(P + 2K,) which unknowns can move at rest: not windows at their least, not empty queues,
        and no average that is the queue itself."""
        rest = self.rest
        windows = rest.log_windows > self._least + 1e-9
        queues = rest.queues > 0.0
        return np.concatenate([windows, queues, queues & np.isfinite(self.averaging)])

    def state(self, vector: Floats) -> State:
        """The point that `State.vector` gives."""
        paths, links = len(self.network.counts), len(self.links)
        return State(vector[:paths], vector[paths : paths + links], vector[paths + links :])

    def rtts_s(self, queues: Floats) -> Floats:
        """(P,) round-trip times at queues (K,) in packets."""
        rtts: Floats = self.network.base_rtts_s + (queues / self.capacities) @ self.incidence
        return rtts

    def loads(self, windows: Floats, queues: Floats) -> Floats:
        """(K,) packets per second that arrive at each copy of a link."""
        loads: Floats = self.packets_per_segment @ (windows / self.rtts_s(queues))
        return loads

    def link_losses(self, averages: Floats) -> Floats:
        """(K,) drop probabilities by the curves alone."""
        pairs = zip(self._links, averages, strict=True)
        return np.array([link.queue.loss_at(float(a)) if link.queue else 0.0 for link, a in pairs])

    def path_losses(self, link_losses: Floats) -> Floats:
        """(P,) losses along each path, at least `LEAST_LOSS`."""
        losses = self.network.random_losses + link_losses @ self.incidence
        return np.maximum(losses, LEAST_LOSS)

    def drift(self, windows: Floats, rtts_s: Floats, losses: Floats) -> Floats:
        """(P,) segments gained per segment sent, by the law of each class."""
        out = np.empty(len(windows))
        for law, part in zip(self.laws, self.network.slices, strict=True):
            out[part] = law.drift(windows[part], rtts_s[part], losses[part])
        return out

    def derivative(self, vector: Floats) -> Floats:
        """(P + 2K,) change per second of `State.vector`; log windows change by drift / rtt."""
        at = self.state(vector)
        queues = np.minimum(np.maximum(at.queues, 0.0), self.limits)
        windows, rtts_s = np.exp(at.log_windows), self.rtts_s(queues)
        loads = self.packets_per_segment @ (windows / rtts_s)
        averages = np.where(self._direct, queues, np.maximum(at.averages, 0.0))
        losses = self.link_losses(averages)
        filling = loads - self.capacities
        overflow = (
            np.clip(at.queues - self.limits + BRINK_PACKETS, 0.0, BRINK_PACKETS) / BRINK_PACKETS
        )
        losses = np.maximum(losses, overflow * filling / loads)
        filling = np.where(
            filling > 0.0,
            filling * (1.0 - overflow),
            filling * np.clip(at.queues / BRINK_PACKETS, 0.0, 1.0),
        )
        growing = self.drift(windows, rtts_s, self.path_losses(losses)) / rtts_s
        room = np.clip((at.log_windows - self._least) / BRINK_WINDOW, 0.0, 1.0)
        growing = np.where(growing < 0.0, growing * room, growing)
        following = self._following * (queues - at.averages)
        return np.concatenate([growing, filling, following])

    def class_rates_bps(self, windows: Floats, queues: Floats) -> Floats:
        """(C,) bit/s on the wire of one user of each class."""
        rates = windows / self.rtts_s(queues) * self.network.packet_bits
        return np.array([rates[part].sum() for part in self.network.slices])

    def names(self) -> list[str]:
        """Names of the unknowns in words, shape (P + 2K,)."""
        words = [
            f"window of {c.name}" + (f", path {i}" if len(c.paths) > 1 else "")
            for c in self.network.classes
            for i in range(len(c.paths))
        ]
        words += [f"queue of {link.name}" for link in self._links]
        return words + [f"RED's average of {link.name}" for link in self._links]

    @cached_property
    def _direct(self) -> NDArray[np.bool_]:
        return np.isinf(self.averaging)

    @cached_property
    def _following(self) -> Floats:
        return np.where(self._direct, 0.0, self.averaging)

    @cached_property
    def _least(self) -> float:
        return math.log(self.least_windows)

    @cached_property
    def _links(self) -> list[Link]:
        return [self.network.links[index] for index in self.links]

    def _check_curves(self) -> None:
        for link in self._links:
            loss = self.equilibrium.link_losses[link.name]
            if loss > BUSY_LOSS and not isinstance(link.queue, Red):
                kind = link.queue.kind if link.queue else "none"
                raise TheoryError(
                    f"link {link.name!r} is congested and its queue is {kind}: the fluid model needs a curve "
                    "from queue to loss; give the link queue = { red = … }, or more rate"
                )
