"""Tables of `anabranch linux status`: controllers, and connections with their subflows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Group

from .. import _core
from ..linux.observe import ConnectionStatus, ControllerStatus, Status, SubflowStatus
from .tables import Table
from .terminal import named

MOST_CONNECTIONS = 100
"""Connections of the narrow table: more of them nobody reads, and they take seconds to draw."""

HELD = ("sockets", "listening", "earlier")
COUNTERS = ("acks", "coupled", "losses", "missed", "repairs", "crowded")

TOTALS = "[bold]"
"""How each cell of a connection's own line begins."""

Cell = Callable[[SubflowStatus], str]


def shown(value: float | None, digits: str = ".2f") -> str:
    """A number, `–` for none and ∞ for no threshold."""
    return "–" if value is None else "∞" if value == float("inf") else f"{value:{digits}}"


NARROW: dict[str, Cell] = {
    "cwnd": lambda one: shown(one.cwnd_segments),
    "srtt ms": lambda one: shown(1e3 * one.srtt_s, ".1f"),
    "growth of Reno's": lambda one: shown(one.of_reno),
    "losses": lambda one: f"{one.losses:,}",
}
"""Columns of every subflow, behind its addresses."""

WIDE: dict[str, Cell] = NARROW | {
    "ssthresh": lambda one: shown(one.ssthresh_segments, ".0f"),
    "state": lambda one: one.ca_state + ", backup" * one.backup,
    "alpha": lambda one: shown(one.alpha),
    "sets": lambda one: one.sets,
    "l": lambda one: f"{max(one.since_loss, one.between_losses):,}",
    "missed": lambda one: f"{one.missed:,}",
    "repairs": lambda one: f"{one.repairs:,}",
}
"""Those of `--wide`."""

SPARE = ("ssthresh", "state", "alpha", "sets", "l", "missed", "repairs")
"""Columns that are left out where they say the same of every subflow."""


def tables(status: Status, wide: bool) -> Group:
    """The status as tables, with a note on what is left out and a hint at what should not be."""
    return Group(*controllers(status.controllers), *connections(status.connections, wide))


def controllers(found: Sequence[ControllerStatus]) -> list[Any]:
    """The table of controllers that are loaded for good."""
    if not found:
        return ["no controller is loaded for good"]
    head = ["name", "law", *HELD, *COUNTERS]
    rows = [
        [one.name, one.law, f"{one.sockets:,}", f"{one.listening:,}", f"{one.earlier:,}"]
        + [f"{one.counters[key]:,}" for key in COUNTERS]
        for one in found
    ]
    hints = [
        f"[yellow]{one.name}: {one.counters['crowded']:,} ACKs came on connections of more than "
        f"{_core.COUPLED_PATHS} subflows; those are Reno on each. Allow fewer subflows.[/]"
        for one in found
        if one.counters["crowded"]
    ]
    return [*without_constants("Controllers", head, rows, 2, (*HELD[1:], *COUNTERS[3:])), *hints]


def connections(found: Sequence[ConnectionStatus], wide: bool) -> list[Any]:
    """The table of connections: a line of totals for each, and a line for each subflow."""
    if not found:
        return ["no connection is under a controller of ours"]
    cells = WIDE if wide else NARROW
    most = len(found) if wide else MOST_CONNECTIONS
    rows = [row for number, one in enumerate(found[:most], 1) for row in lines(number, one, cells)]
    result = without_constants("Connections", ["local", "remote", *cells], rows, 2, SPARE)
    if len(found) > most:
        result.append(f"{len(found) - most:,} connections more; --wide and --json have all")
    return result


def lines(number: int, one: ConnectionStatus, cells: dict[str, Cell]) -> list[list[str]]:
    """A connection's line, with the sums of windows and losses, and those of its subflows."""
    subflows = one.subflows
    sums = {
        "cwnd": shown(sum(row.cwnd_segments for row in subflows)),
        "losses": f"{sum(row.losses for row in subflows):,}",
    }
    count = f"{len(subflows)} subflow{'s' * (len(subflows) > 1)}"
    what = (count if one.protocol == "MPTCP" else one.protocol) + ", taken out" * one.departed
    head = [f"{number} {one.controller}", what]
    return [
        [
            f"{TOTALS}{cell}[/]" if cell else ""
            for cell in [*head, *(sums.get(c, "") for c in cells)]
        ],
        *(
            [named(row.local), named(row.remote), *(cell(row) for cell in cells.values())]
            for row in subflows
        ),
    ]


def without_constants(
    title: str, head: Sequence[str], rows: Sequence[list[str]], left: int, spare: Sequence[str]
) -> list[Any]:
    """A table without those columns of `spare` that have one value in all rows but those of totals,
    and that value."""
    single = [row for row in rows if not row[0].startswith(TOTALS)]
    values = dict(zip(head, zip(*single, strict=True), strict=True))
    same = {name: set(values[name]) for name in spare if name in values}
    told = {name: found.pop() for name, found in same.items() if len(found) == 1}
    kept = [index for index, name in enumerate(head) if name not in told]
    body = [[row[index] for index in kept] for row in rows]
    note = ", ".join(f"{name} {value}" for name, value in told.items() if value)
    table = Table(title, [head[index] for index in kept], body, left)
    return [table, f"[dim]of all: {note}[/]"] if note else [table]
