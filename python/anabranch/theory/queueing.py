"""Queues as theory sees them: how long a packet waits when a link drops with probability `p`.

A fixed point has no queue process, only a loss probability. RED ties the two together: the queue
is the place on the drop curve where the loss is what the equilibrium asks for. Drop-tail has no
such curve; its assumption is stated at `_droptail_packets`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import _core
from .. import plan as planned

BUSY_LOSS = 1e-7
"""A loss below this counts as a link that is not congested, whose queue is empty in the limit.

The queue of a link that fills is a jump (RED starts to drop at `min_packets`, not at zero). It is
replaced by a ramp over losses from 0 to `BUSY_LOSS`, so that the equilibrium stays continuous.
"""


@dataclass(frozen=True, slots=True)
class Queue:
    """A link's queue. All sizes are in packets unless the name says bytes.

    `kind` is "red" or "droptail". RED's curve (Floyd and Jacobson 1993) rises from 0 at
    `min_packets` to `max_p` at `max_packets`; with `gentle` it goes on to 1 at `2 * max_packets`.
    """

    kind: str
    limit_packets: float | None = None
    limit_bytes: float | None = None
    min_packets: float = 0.0
    max_packets: float = 0.0
    max_p: float = 1.0
    gentle: bool = False
    spacing: str = "independent"
    weight: float = 1.0
    """Of a new sample in RED's average (w_q), in (0, 1]; 1 takes the queue of the moment."""

    @staticmethod
    def from_plan(queue: planned.Queue | None) -> Queue | None:
        """The queue of a plan's link, or None where the plan has none.

        Raises ValueError for a kind that theory does not know.
        """
        if queue is None:
            return None
        if isinstance(queue, planned.DropTail):
            return Queue(queue.kind, queue.limit_packets, queue.limit_bytes)
        if isinstance(queue, planned.Red):
            return Queue(
                queue.kind,
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
        length = (
            self._red_packets(loss) if self.kind == "red" else self._droptail_packets(packet_bytes)
        )
        if self.limit_packets is not None:
            length = min(length, float(self.limit_packets))
        return length * min(1.0, loss / BUSY_LOSS)

    def loss_at(self, average_packets: float) -> float:
        """The drop probability at an average queue: what `length_packets` inverts.

        RED's curve is the simulator's own. Drop-tail has none: 0 here, for what does not fit is no
        function of the queue.
        """
        if self.kind != "red":
            return 0.0
        marked: float = _core.red_drop_probability(
            average_packets,
            min_th=self.min_packets,
            max_th=self.max_packets,
            max_p=self.max_p,
            gentle=self.gentle,
        )
        return 2.0 * marked / (1.0 + marked) if self.spacing == "count" else marked

    def most_packets(self, packet_bytes: float) -> float:
        """How many packets of `packet_bytes` fit at all; `inf` without a limit."""
        limits = [math.inf]
        if self.limit_packets is not None:
            limits.append(float(self.limit_packets))
        if self.limit_bytes is not None:
            limits.append(float(self.limit_bytes) / packet_bytes)
        return min(limits)

    def delay_s(self, loss: float, rate_bps: float, packet_bytes: float) -> float:
        """Queueing delay in seconds behind `rate_bps`; serialisation of the own packet excluded."""
        return self.length_packets(loss, packet_bytes) * packet_bytes * 8.0 / rate_bps

    def _red_packets(self, loss: float) -> float:
        """The inverse of RED's drop curve."""
        # Count spacing drops 2 p_b / (1 + p_b) in the long run, so p_b = p / (2 - p).
        marked = loss / (2.0 - loss) if self.spacing == "count" else loss
        if marked <= self.max_p:
            return self.min_packets + (self.max_packets - self.min_packets) * marked / self.max_p
        if not self.gentle or self.max_p >= 1.0:
            return self.max_packets
        beyond = (marked - self.max_p) / (1.0 - self.max_p)
        return self.max_packets * (1.0 + min(beyond, 1.0))

    def _droptail_packets(self, packet_bytes: float) -> float:
        """Assumption: a drop-tail queue that drops at all is full.

        That is an upper bound on its mean: the true queue swings between full and what is left
        after the flows have halved. An unlimited queue never drops and is taken as empty.
        """
        most = self.most_packets(packet_bytes)
        return 0.0 if math.isinf(most) else most
