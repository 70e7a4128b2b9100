"""The kinds of queues that a link may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """A kind of queue."""

    rendered: Callable[[int], dict[str, Any]]
    """The queue of so many packets, as a scenario has it."""
    filled: float = 0.25
    """How much of it fills before it drops what makes every TCP slow down."""
    fewest: int = 4
    """Packets of the smallest one."""


def _droptail(packets: int) -> dict[str, Any]:
    return {"droptail": {"packets": f"{packets} packets"}}


def _red(packets: int) -> dict[str, Any]:
    """RED drops everything at the size, with a curve whose lower half ends at 10 %, as the one of
    draft-khalili-mptcp-performance-issues-04 does.
    """
    curve = {"min": f"{packets / 4:g} packets", "max": f"{packets / 2:g} packets", "max_p": 0.1}
    averaging = {"weight": 0.0625, "spacing": "independent"}
    return {"red": {**curve, **averaging, "limit": f"{2 * packets} packets"}}


def _limited(kind: str) -> Callable[[int], dict[str, Any]]:
    return lambda packets: {kind: {"limit": f"{packets} packets"}}


QUEUES = {
    "droptail": Kind(_droptail, filled=1.0),
    "red": Kind(_red, filled=0.5, fewest=8),  # it begins to drop at a quarter of its size
    "codel": Kind(_limited("codel")),
    "pie": Kind(_limited("pie")),
    "fq-codel": Kind(_limited("fq-codel")),
}
"""By name; the first is the plainest."""

SHARED = tuple(queue for queue in QUEUES if queue != "fq-codel")
"""Queues that treat all packets alike. A fair queue gives every subflow a share, whatever its
controller: two subflows beside a TCP have two thirds."""
