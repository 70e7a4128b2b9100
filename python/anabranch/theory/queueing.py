"""Queueing delay in theory: how long a packet waits when a link drops with probability `p`.

A fixed point has no queue process, only a loss probability. RED connects the two: its queue is the
point of the drop curve with the loss of the equilibrium. Drop-tail has no such curve; its
assumption is stated at `DropTail`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from .. import _core
from .. import planned_network as planned

BUSY_LOSS = 1e-7
"""A loss below this counts as a link that is not congested, whose queue is empty in the limit.

The queue of a link that fills is a jump (RED starts to drop at `min_packets`, not at zero). It is
replaced by a ramp over losses from 0 to `BUSY_LOSS`, so that the equilibrium stays continuous.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(ABC):
    """A link's queue. All sizes are in packets unless the name says bytes."""

    kind: ClassVar[str]
    """Its name in a scenario."""

    limit_packets: float | None = None

    @staticmethod
    def from_plan(queue: planned.Queue | None) -> Queue | None:
        """The queue of a plan's link, or None if the link has no queue.

        Raises ValueError for a kind that theory does not know.
        """
        if queue is None:
            return None
        if isinstance(queue, planned.DropTail):
            return DropTail(limit_packets=queue.limit_packets, limit_bytes=queue.limit_bytes)
        if isinstance(queue, planned.Red):
            return Red(
                limit_packets=queue.limit_packets,
                min_packets=queue.min_packets,
                max_packets=queue.max_packets,
                max_p=queue.max_p,
                gentle=queue.gentle,
                spacing=queue.spacing,
                weight=queue.weight,
            )
        raise ValueError(f"theory knows queues of kind 'red' and 'droptail', not {queue.kind!r}")

    def length_packets(self, loss: float, packet_bytes: float) -> float:
        """The queue in packets of `packet_bytes` at drop probability `loss`."""
        if loss <= 0.0:
            return 0.0
        loss = min(loss, 1.0)
        length = self.dropping_packets(loss, packet_bytes)
        if self.limit_packets is not None:
            length = min(length, float(self.limit_packets))
        return length * min(1.0, loss / BUSY_LOSS)

    @abstractmethod
    def dropping_packets(self, loss: float, packet_bytes: float) -> float:
        """The queue at which it drops with probability `loss`, above 0 and at most 1."""

    @abstractmethod
    def loss_at(self, average_packets: float) -> float:
        """The drop probability at an average queue: the inverse of `length_packets`."""

    def most_packets(self, packet_bytes: float) -> float:
        """Capacity in packets of `packet_bytes`; `inf` without a limit."""
        return math.inf if self.limit_packets is None else float(self.limit_packets)

    def delay_s(self, loss: float, rate_bps: float, packet_bytes: float) -> float:
        """Queueing delay in seconds behind `rate_bps`; serialisation of the own packet excluded."""
        return self.length_packets(loss, packet_bytes) * packet_bytes * 8.0 / rate_bps


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTail(Queue):
    """Drop-tail, which has no curve.

    Assumption: a drop-tail queue that drops at all is full. That is an upper bound on its mean: the
    true queue oscillates between full and its length after the flows have halved. An unlimited
    queue never drops and is taken as empty.
    """

    kind: ClassVar[str] = "droptail"

    limit_bytes: float | None = None

    def dropping_packets(self, loss: float, packet_bytes: float) -> float:
        """All that fits."""
        most = self.most_packets(packet_bytes)
        return 0.0 if math.isinf(most) else most

    def loss_at(self, average_packets: float) -> float:
        """Zero: the loss of packets that do not fit is not a function of the queue."""
        return 0.0

    def most_packets(self, packet_bytes: float) -> float:
        """By either limit."""
        by_bytes = math.inf if self.limit_bytes is None else self.limit_bytes / packet_bytes
        by_packets = math.inf if self.limit_packets is None else float(self.limit_packets)
        return min(by_bytes, by_packets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Red(Queue):
    """RED. Its curve (Floyd and Jacobson 1993) rises from 0 at `min_packets` to `max_p` at
    `max_packets`; with `gentle` it goes on to 1 at `2 * max_packets`.
    """

    kind: ClassVar[str] = "red"

    min_packets: float
    max_packets: float
    max_p: float
    gentle: bool
    spacing: planned.Spacing
    weight: float
    """Weight of a new sample in the average (w_q), in (0, 1]; 1 uses the current queue."""

    def dropping_packets(self, loss: float, packet_bytes: float) -> float:
        """The inverse of the drop curve."""
        # Count spacing drops 2 p_b / (1 + p_b) in the long run, so p_b = p / (2 - p).
        marked = loss / (2.0 - loss) if self.spacing == "count" else loss
        if marked <= self.max_p:
            return self.min_packets + (self.max_packets - self.min_packets) * marked / self.max_p
        if not self.gentle or self.max_p >= 1.0:
            return self.max_packets
        beyond = (marked - self.max_p) / (1.0 - self.max_p)
        return self.max_packets * (1.0 + min(beyond, 1.0))

    def loss_at(self, average_packets: float) -> float:
        """The drop curve, which is the simulator's own."""
        marked: float = _core.red_drop_probability(
            average_packets,
            min_th=self.min_packets,
            max_th=self.max_packets,
            max_p=self.max_p,
            gentle=self.gentle,
        )
        return 2.0 * marked / (1.0 + marked) if self.spacing == "count" else marked
