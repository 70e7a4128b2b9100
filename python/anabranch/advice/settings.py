"""What is left to choose with a controller: the packet scheduler and the receive buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .. import _core
from ..statistics import Interval
from .candidates import SCHEDULER, Situation

NEEDS_MORE = "weighted"
"""The scheduler that is nothing without weights, and round-robin with equal ones."""

ALIKE = 0.1
"""Receive buffers that differ by less than this part are one."""


@dataclass(frozen=True)
class Setting:
    """What the connection comes to with a scheduler and a receive buffer."""

    scheduler: str
    buffer_bytes: int
    goodput_bps: Interval
    """Of the connection: each byte once."""
    kept: Interval
    """As a case has it."""
    held_bytes: float
    """The most that the receiver held at once; mean over replications."""

    def to_json(self) -> dict[str, object]:
        """The numbers."""
        return {
            "scheduler": self.scheduler,
            "buffer_bytes": self.buffer_bytes,
            "goodput_bps": self.goodput_bps.to_json(),
            "kept": self.kept.to_json(),
            "held_bytes": round(self.held_bytes),
        }


def variants(middle: Situation) -> Iterator[tuple[str, int]]:
    """Schedulers and receive buffers that are tried: first what was given, then each scheduler with
    the given buffer, then the buffer that these links need.
    """
    given = middle.buffer_bytes
    yield SCHEDULER, given
    for scheduler in _core.schedulers():
        if scheduler["name"] not in (SCHEDULER, NEEDS_MORE):
            yield scheduler["name"], given
    if abs(middle.needed_bytes - given) > ALIKE * given:
        yield SCHEDULER, middle.needed_bytes
