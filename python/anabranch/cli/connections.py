"""Tables of `anabranch linux status`: controllers, and connections with their subflows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Group

from .. import _core
from ..linux.observe import ConnectionStatus, ControllerStatus, Status, SubflowStatus
from .tables import Table, without
from .terminal import named

MOST_CONNECTIONS = 100
"""Largest number of connections in the narrow table; drawing more would take seconds."""

HELD = ("sockets", "listening", "earlier")
COUNTERS = ("acks", "coupled", "losses", "missed", "repairs", "crowded")
USUALLY_ZERO = (*HELD[1:], *COUNTERS[3:])
"""Columns of controllers that are left out where they are 0 for all."""

TOTALS = "[bold]"
"""Markup at the start of each cell in a connection's own line."""

Cell = Callable[[SubflowStatus], str]


def shown(value: float | None, digits: str = ".2f") -> str:
    """A number, `–` for none and ∞ for no threshold."""
    return "–" if value is None else "∞" if value == float("inf") else f"{value:{digits}}"


NARROW: dict[str, Cell] = {
    "cwnd": lambda one: shown(one.cwnd_segments),
    "srtt ms": lambda one: shown(1e3 * one.srtt_s, ".1f"),
    "growth / Reno": lambda one: shown(one.of_reno),
    "losses": lambda one: f"{one.losses:,}",
}
"""Columns of every subflow, behind its addresses."""

WIDE: dict[str, Cell] = NARROW | {
    "group": lambda one: str(one.group),
    "ssthresh": lambda one: shown(one.ssthresh_segments, ".0f"),
    "state": lambda one: one.ca_state + ", backup" * one.backup,
    "alpha": lambda one: shown(one.alpha),
    "sets": lambda one: one.sets,
    "l": lambda one: f"{max(one.since_loss, one.between_losses):,}",
    "missed": lambda one: f"{one.missed:,}",
    "repairs": lambda one: f"{one.repairs:,}",
}
"""Columns of `--wide`."""

SPARE = ("group", "ssthresh", "state", "alpha", "sets", "l", "missed", "repairs")
"""Columns that are left out where they say the same of every subflow."""


def tables(status: Status, wide: bool) -> Group:
    """The status as tables, with a note on omitted columns and a hint on anomalies."""
    return Group(*controllers(status.controllers), *connections(status.connections, wide))


def whole_tables(status: Status, wide: bool) -> Group:
    """The status for a program: every connection, a row for each subflow, and a fixed set of
    columns; all columns if `wide`.
    """
    cells = WIDE if wide else NARROW
    rows = [
        [str(number), one.controller, "yes" if one.departed else "no", one.protocol]
        + [named(row.local), named(row.remote)]
        + [ungrouped(cell(row)) for cell in cells.values()]
        for number, one in enumerate(status.connections, 1)
        for row in one.subflows
    ]
    head = ["connection", "controller", "taken out", "protocol", "local", "remote", *cells]
    counted = [[ungrouped(cell) for cell in row] for row in map(of_controller, status.controllers)]
    return Group(
        Table("Controllers", ["name", "law", *HELD, *COUNTERS], counted, 2),
        Table("Connections", head, rows, 6),
    )


def ungrouped(cell: str) -> str:
    """A number without thousands separators; other text unchanged."""
    digits = cell.replace(",", "")
    return digits if digits.isdecimal() else cell


def of_controller(one: ControllerStatus) -> list[str]:
    """The row of a controller."""
    held = [one.sockets, one.listening, one.earlier]
    numbers = held + [one.counters[key] for key in COUNTERS]
    return [one.name, one.law, *(f"{number:,}" for number in numbers)]


def controllers(found: Sequence[ControllerStatus]) -> list[Any]:
    """The table of controllers that are loaded for good."""
    if not found:
        return ["no controller is loaded for good"]
    head = ["name", "law", *HELD, *COUNTERS]
    rows = [of_controller(one) for one in found]
    zero = [name for name, value in constants(head, rows, USUALLY_ZERO).items() if value == "0"]
    notes = [f"[dim]0 for all: {', '.join(zero)}[/]"] if zero else []
    if "earlier" not in zero:
        notes.append(
            "[dim]earlier: sockets whose controller of the same name was taken out; they keep it until "
            "they close[/]"
        )
    notes += [
        f"[yellow]{one.name}: {one.counters['crowded']:,} ACKs came on connections with more than "
        f"{_core.COUPLED_PATHS} subflows, which run Reno on each subflow. Allow fewer subflows.[/]"
        for one in found
        if one.counters["crowded"]
    ]
    shown = Table("Controllers", head, rows, 2, spare=("law", "coupled", "losses"))
    return [without(shown, zero), *notes]


def connections(found: Sequence[ConnectionStatus], wide: bool) -> list[Any]:
    """The table of connections: a line of totals for each, and a line for each subflow."""
    if not found:
        return ["no connection uses a controller of anabranch"]
    cells = WIDE if wide else NARROW
    head = ["local", "remote", *cells]
    most = len(found) if wide else MOST_CONNECTIONS
    rows = [row for number, one in enumerate(found[:most], 1) for row in lines(number, one, cells)]
    same = constants(head, [row for row in rows if not row[0].startswith(TOTALS)], SPARE)
    told = ", ".join(f"{name} {value}" for name, value in same.items() if value)
    shown = Table("Connections", head, rows, 2, spare=SPARE[::-1])
    result: list[Any] = [
        without(shown, list(same)),
        *([f"[dim]the same in every row: {told}[/]"] if told else []),
    ]
    if len(found) > most:
        result.append(f"{len(found) - most:,} more connections; --wide and --json show all")
    return result


def lines(number: int, one: ConnectionStatus, cells: dict[str, Cell]) -> list[list[str]]:
    """A connection's line, with the sums of windows and losses, and the lines of its subflows."""
    subflows = one.subflows
    sums = {
        "cwnd": shown(sum(row.cwnd_segments for row in subflows)),
        "losses": f"{sum(row.losses for row in subflows):,}",
    }
    count = f"{len(subflows)} subflow{'s' * (len(subflows) > 1)}"
    head = [
        f"{number} {one.controller}{', taken out' * one.departed}",
        count if one.protocol == "MPTCP" else one.protocol,
    ]
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


def constants(
    head: Sequence[str], rows: Sequence[list[str]], names: Sequence[str]
) -> dict[str, str]:
    """Columns in `names` that have the same value in all rows, with that value."""
    values = dict(zip(head, zip(*rows, strict=True), strict=True))
    return {name: values[name][0] for name in names if len(set(values.get(name, ()))) == 1}
