"""Connections summed up by controller and network namespace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import quantiles

from .. import _core
from ..records import Record
from .observe import ConnectionStatus
from .selection import named_namespaces


@dataclass(frozen=True, kw_only=True)
class Sum(Record):
    """The connections of a controller in a network namespace."""

    controller: str
    departed: bool
    """Whether it was removed from the kernel since."""
    namespace: int
    name: str
    """Of the namespace; empty if it has none."""
    connections: int
    subflows: int
    backup: int
    """How many of the subflows are."""
    rate_bps: float
    """The sum of the delivery rates of all subflows, by the kernel's last sample of each."""
    cwnd_segments: float
    losses: int
    missed: int
    crowded: int
    """Connections with more subflows than are coupled; they run Reno on each."""
    growth: tuple[float, float, float] | None
    """Growth of coupled subflows relative to that of one TCP: the first decile, the median and the
    last decile. None if no subflow is coupled.
    """


def sums(connections: Iterable[ConnectionStatus]) -> list[Sum]:
    """The sums for each controller in each namespace."""
    groups: dict[tuple[str, bool, int], list[ConnectionStatus]] = {}
    for one in connections:
        groups.setdefault((one.controller, one.departed, one.namespace), []).append(one)
    named = named_namespaces()
    return [
        summed(members, named.get(namespace, ""))
        for (_, _, namespace), members in sorted(groups.items())
    ]


def summed(members: list[ConnectionStatus], name: str) -> Sum:
    """The sums of connections that have controller and namespace in common."""
    rows = [row for one in members for row in one.subflows]
    return Sum(
        controller=members[0].controller,
        departed=members[0].departed,
        namespace=members[0].namespace,
        name=name,
        connections=len(members),
        subflows=len(rows),
        backup=sum(row.backup for row in rows),
        rate_bps=sum(row.rate_bps for row in rows),
        cwnd_segments=sum(row.cwnd_segments for row in rows),
        losses=sum(row.losses for row in rows),
        missed=sum(row.missed for row in rows),
        crowded=sum(len(one.subflows) > _core.COUPLED_PATHS for one in members),
        growth=deciles([row.of_reno for row in rows if row.of_reno is not None]),
    )


def deciles(values: list[float]) -> tuple[float, float, float] | None:
    """The first, the fifth and the ninth, between the two nearest values; None of no values."""
    if len(values) < 2:
        return (values[0],) * 3 if values else None
    tenths = quantiles(values, n=10, method="inclusive")
    return tenths[0], tenths[4], tenths[8]
