"""Tables of `anabranch linux status`: controllers, and connections with their subflows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Group

from .. import _core
from ..linux.observe import ConnectionStatus, ControllerStatus, Status, SubflowStatus
from ..linux.summary import Sum
from ..linux.summary import sums as summed
from .lines import Lines
from .tables import Table, without
from .terminal import named

MOST_CONNECTIONS = 20
"""Largest number of connections in the table without `--wide`; more are summed up."""

HELD = ("sockets", "listening", "earlier")
COUNTERS = ("acks", "coupled", "losses", "missed", "repairs", "crowded")
USUALLY_ZERO = (*HELD[1:], *COUNTERS[3:])
"""Columns of controllers that are left out where they are 0 for all."""

NOTHING = "no connection uses a controller of anabranch"

Cell = Callable[[SubflowStatus], str]


def shown(value: float | None, digits: str = ".2f") -> str:
    """A number, `–` for none and ∞ for no threshold."""
    return "–" if value is None else "∞" if value == float("inf") else f"{value:{digits}}"


def mbps(rate_bps: float) -> str:
    """A rate in Mb/s; `–` for none."""
    return shown(rate_bps * 1e-6 or None)


GROWTH, RATE = "growth\n/ Reno", "Mb/s"

NARROW: dict[str, Cell] = {
    "cwnd": lambda one: shown(one.cwnd_segments),
    "srtt\nms": lambda one: shown(1e3 * one.srtt_s, ".1f"),
    GROWTH: lambda one: shown(one.of_reno),
    "losses": lambda one: f"{one.losses:,}",
    RATE: lambda one: mbps(one.rate_bps),
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
"""Columns that are left out where they say the same of every subflow, and where a terminal is too
narrow, the last one first.
"""


def tables(status: Status, wide: bool, room: int | None = None, nothing: str = NOTHING) -> Group:
    """The status as tables, with a note on omitted columns and a hint on anomalies. Connections are
    summed up if they are many or would take more than `room` lines; without any stands `nothing`.
    """
    found = status.connections
    if not found:
        return Group(*controllers(status.controllers), nothing)
    lines = sum(1 + len(one.subflows) for one in found)
    many = len(found) > MOST_CONNECTIONS or (room is not None and lines > room)
    below = summary(summed(found)) if many and not wide else connections(found, wide)
    return Group(*controllers(status.controllers), *below)


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
    names = [flat(name) for name in cells]
    head = ["connection", "controller", "taken out", "protocol", "local", "remote", *names]
    counted = [[ungrouped(cell) for cell in row] for row in map(of_controller, status.controllers)]
    return Group(
        Table("Controllers", ["name", "law", *HELD, *COUNTERS], counted, 2),
        Table("Connections", head, rows, 6),
    )


def flat(heading: str) -> str:
    """A heading on one line."""
    return heading.replace("\n", " ")


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
    notes += [
        f"{one.name} is assigned to {named(cgroup)}; `anabranch linux unassign {one.law} --cgroup "
        f"{named(cgroup)}` ends that"
        for one in found
        for cgroup in one.cgroups
    ]
    shown = Table("Controllers", head, rows, 2, spare=("law", "coupled", "losses"))
    return [without(shown, zero), *notes]


def connections(found: Sequence[ConnectionStatus], wide: bool) -> list[Any]:
    """The table of connections: a line for each, a line for each subflow, and the totals of
    several.
    """
    cells = WIDE if wide else NARROW
    rows: list[list[str]] = []
    bold: set[int] = set()
    for number, one in enumerate(found, 1):
        bold.add(len(rows))
        rows += lines(number, one, cells)
    subflows = [row for one in found for row in one.subflows]
    own = [row for number, row in enumerate(rows) if number not in bold]
    same = constants(["local", "remote", *cells], own, SPARE)
    if len(found) > 1:
        bold.add(len(rows))
        sums = totals(subflows, cells)
        rows.append([counted(len(found), "connection"), counted(len(subflows), "subflow"), *sums])
    head = ["local", "remote", *cells]
    kept = [index for index, name in enumerate(head) if name not in same]
    told = ", ".join(f"{name} {value}" for name, value in same.items() if value)
    drawn = Lines(
        "Connections",
        [head[index] for index in kept],
        [[row[index] for index in kept] for row in rows],
        2,
        spare=tuple(name for name in (*SPARE[::-1], RATE) if name not in same and name in cells),
        bold=bold,
    )
    return [lettered(drawn), *([f"[dim]the same in every row: {told}[/]"] if told else [])]


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def lines(number: int, one: ConnectionStatus, cells: dict[str, Cell]) -> list[list[str]]:
    """A connection's line, with its sums, and the lines of its subflows."""
    what = counted(len(one.subflows), "subflow") if one.protocol == "MPTCP" else one.protocol
    head = [f"{number} {one.controller}", what + ", taken out" * one.departed]
    return [
        head + totals(one.subflows, cells),
        *([row.local, row.remote, *(cell(row) for cell in cells.values())] for row in one.subflows),
    ]


def totals(subflows: Sequence[SubflowStatus], cells: dict[str, Cell]) -> list[str]:
    """The sums of windows, losses and rates, in their columns."""
    found = {
        "cwnd": shown(sum(row.cwnd_segments for row in subflows)),
        "losses": f"{sum(row.losses for row in subflows):,}",
        RATE: mbps(sum(row.rate_bps for row in subflows)),
    }
    return [found.get(name, "") for name in cells]


def lettered(table: Lines) -> Lines:
    """The table with another form for narrow terminals, where letters stand for addresses: two of
    IPv6 take more than a line.
    """
    letters: dict[str, str] = {}

    def short(end: str) -> str:
        address, colon, port = end.rpartition(":")
        if not colon:  # the line of a connection
            return end
        return f"{letters.setdefault(address, letter(len(letters)))}:{port}"

    rows = [[short(row[0]), short(row[1]), *row[2:]] for row in table.rows]
    legend = ", ".join(f"{name}={address.strip('[]')}" for address, name in letters.items())
    shorter = Lines(
        table.title, table.head, rows, 2, table.spare, table.bold, note=f"addresses: {legend}"
    )
    return Lines(table.title, table.head, table.rows, 2, table.spare, table.bold, shorter)


def letter(number: int) -> str:
    """a to z, aa, ab and so on."""
    tens, ones = divmod(number, 26)
    return (letter(tens - 1) if tens else "") + chr(ord("a") + ones)


def summary(found: Sequence[Sum]) -> list[Any]:
    """The table of sums by controller and namespace, and how to see each connection."""
    cells: dict[str, Callable[[Sum], str]] = {
        "name\nspace": lambda one: one.name or str(one.namespace),
        "connec-\ntions": lambda one: f"{one.connections:,}",
        "sub-\nflows": lambda one: f"{one.subflows:,}",
        "Mb/s\nsum": lambda one: mbps(one.rate_bps),
        "growth / Reno\n10, 50, 90 %": lambda one: (
            " ".join(map(shown, one.growth)) if one.growth else "–"
        ),
        "backup\n%": lambda one: shown(100 * one.backup / one.subflows, ".0f"),
        "losses": lambda one: f"{one.losses:,}",
        "missed": lambda one: f"{one.missed:,}",
        "crowded": lambda one: f"{one.crowded:,}",
    }
    rows = [
        [one.controller + ", taken out" * one.departed, *(cell(one) for cell in cells.values())]
        for one in found
    ]
    head = ["controller", *cells]
    same = constants(head, rows, ["name\nspace", "backup\n%", "missed", "crowded"])
    kept = [index for index, name in enumerate(head) if name not in same]
    rows = [[row[index] for index in kept] for row in rows]
    told = ", ".join(f"{flat(name)} {value}" for name, value in same.items())
    told = told.replace("name space", "namespace")
    count = sum(one.connections for one in found)
    return [
        Lines(
            "Connections by controller and network namespace",
            [head[index] for index in kept],
            rows,
            sum(index < 2 for index in kept),
            spare=("losses", "crowded", "missed", "backup\n%"),
        ),
        *([f"[dim]the same in every row: {told}[/]"] if told else []),
        f"{count:,} connections; --wide and --json show each, --controller, --address, --port and "
        "--namespace some of them",
    ]


def constants(
    head: Sequence[str], rows: Sequence[Sequence[str]], names: Sequence[str]
) -> dict[str, str]:
    """Columns in `names` that have the same value in all rows, with that value."""
    values = dict(zip(head, zip(*rows, strict=True), strict=True))
    return {name: values[name][0] for name in names if len(set(values.get(name, ()))) == 1}
