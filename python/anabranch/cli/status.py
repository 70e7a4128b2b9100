"""`anabranch linux status`: controllers and connections, as tables, as JSON and as metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.live import Live

from ..files import atomic_write
from ..linux.exposition import exposition
from ..linux.observe import Status
from ..linux.observe import status as observed
from ..linux.selection import EVERYTHING, Selection, selection
from ..sharing.live import Verdict, Watched, said
from ..sharing.live import watch as watched
from .connections import NOTHING, counted, lettered, tables, whole_tables
from .formats import TEXT
from .lines import Lines
from .streams import deserted
from .tables import Table
from .terminal import console, named, output, progress

WATCH_S = 0.1, 3600.0
"""Seconds between two looks, from and to."""

SHARED_S = 5.0, 600.0
"""Seconds of `--shared`, from and to: after less than four a detector says nothing."""

CONTROLLERS_LINES = 12
"""Lines of a terminal that are kept for the controllers and notes."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options of the command."""

    json: Path | None = None
    metrics: Path | None = None
    shared: float | None = None
    watch: float | None = None
    wide: bool = False
    controllers: Sequence[str] = ()
    address: str | None = None
    port: int | None = None
    namespace: str | None = None

    def check(self) -> Selection:
        """Which connections are wanted. Raises ValueError for options that are out of range or
        exclude each other.
        """
        in_range("--watch", self.watch, WATCH_S)
        in_range("--shared", self.shared, SHARED_S)
        if self.metrics and self.json:
            raise ValueError("--metrics and --json are two forms of the output; leave one out")
        if self.metrics and output.format != TEXT:
            raise ValueError(f"--metrics has a form of its own; leave --format {output.format} out")
        if self.shared is not None:
            for option, given in (("--metrics", self.metrics), ("--watch", self.watch)):
                if given is not None:
                    raise ValueError(f"--shared looks for some seconds, once; leave {option} out")
        return selection(self.controllers, self.address, self.port, self.namespace)


def in_range(option: str, value: float | None, ends: tuple[float, float]) -> None:
    """Raises ValueError for a number of seconds out of range."""
    least, most = ends
    if value is not None and not least <= value <= most:
        raise ValueError(f"{option} is {value:g}; it is from {least:g} to {most:g} seconds")


def status_command(asked: Asked) -> None:
    """Prints controllers and connections, or writes them into a file, again and again if that is
    asked for.

    Raises ValueError for wrong options, and LinuxError as `observe.status` does.
    """
    only = asked.check()
    if asked.shared is not None:
        shared_command(asked.shared, only, asked.json)
    elif asked.json:
        for content in looks(asked.watch, only):
            atomic_write(asked.json, document(content, on_one_line=asked.watch is not None))
    elif asked.metrics:
        for content in looks(asked.watch, only):
            atomic_write(asked.metrics, exposition(content))
    elif output.format != TEXT:
        for content in looks(asked.watch, only):
            console().print(whole_tables(content, asked.wide))
    elif asked.watch is None:
        console().print(tables(observed(only), asked.wide, nothing=nothing(only)))
    else:
        watch(asked.watch, only, asked.wide)


def watch(every_s: float, only: Selection, wide: bool) -> None:
    """Draws the tables again and again in one place; connections that do not fit it are summed
    up.
    """
    out = console()
    room = max(0, out.height - CONTROLLERS_LINES) if out.is_terminal else None
    found = (tables(content, wide, room, nothing(only)) for content in looks(every_s, only))
    with Live(next(found), console=out, auto_refresh=False) as live:
        for drawn in found:
            live.update(drawn, refresh=True)


def nothing(only: Selection) -> str:
    """What is said in place of connections."""
    return NOTHING if only == EVERYTHING else "no connection that was selected is there"


def looks(every_s: float | None, only: Selection) -> Iterator[Status]:
    """The status once, or every so many seconds."""
    yield observed(only)
    while every_s is not None and not deserted():
        time.sleep(every_s)
        yield observed(only)


def document(status: Status, on_one_line: bool) -> str:
    """JSON for people and programs: each controller and each connection has a line, or all is on
    one.
    """
    gap = " " if on_one_line else "\n "
    parts = []
    for name, rows in (("controllers", status.controllers), ("connections", status.connections)):
        texts = [json.dumps(plain(row)) for row in rows]
        parts.append(f'"{name}": [' + ",".join(gap + text for text in texts) + "]")
    return "{" + f",{gap}".join(parts) + "}\n"


def plain(value: Any) -> Any:
    """Plain data for JSON, which has no infinity: such a threshold is null."""
    if isinstance(value, float):
        return None if value == float("inf") else value
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return plain(vars(value)) if hasattr(value, "__dataclass_fields__") else value


def shared_command(seconds: float, only: Selection, file: Path | None) -> None:
    """Says which subflows share a bottleneck; the status is 1 if nothing is known of any pair."""
    with progress("reading round trips") as report:
        found = watched(seconds, only, report)
    if file:
        atomic_write(file, json.dumps(found.to_json(), indent=1) + "\n")
    else:
        show_shared(found)
    if all(sure is None for one in found.verdicts for _, _, sure in one.pairs):
        raise typer.Exit(1)


def show_shared(found: Watched) -> None:
    """The verdict on each connection, and the bottleneck of each of its subflows."""
    out = console()
    compared = [one for one in found.verdicts if one.pairs]
    if not compared:
        out.print("no connection of MPTCP with two subflows under these controllers was found")
        return
    if output.format != TEXT:
        out.print(pairs_table(found))
        return
    rows: list[list[str]] = []
    bold: set[int] = set()
    for number, one in enumerate(compared, 1):
        subflows = one.connection.subflows
        count = counted(len(subflows), "subflow")
        bold.add(len(rows))
        rows.append([f"{number} {one.connection.controller}", count, one.said, "", "", ""])
        for place, row in enumerate(subflows):
            bottleneck = one.bottlenecks[place]
            sure = "".join(f"{cell:>4}" for cell in one_row(one, place))
            rows.append(
                [
                    *(row.socket.local, row.socket.remote),
                    "–" if bottleneck is None else str(bottleneck),
                    *(sure, str(row.socket.group), f"{len(row.sent_s):,}"),
                ]
            )
    head = ["local", "remote", "bottleneck", "confidence, %", "group", "round\ntrips"]
    told = any(row.socket.group for one in compared for row in one.connection.subflows)
    kept = [index for index, name in enumerate(head) if told or name != "group"]
    drawn = Lines(
        f"Shared bottlenecks: {found.detector}, {found.seconds:.0f} s, {found.readings:,} readings",
        [head[index] for index in kept],
        [[row[index] for index in kept] for row in rows],
        3,
        spare=("round\ntrips",),
        bold=bold,
    )
    out.print(lettered(drawn))
    out.print(EXPLAINED + GROUPS * told, style="dim")
    if lone := len(found.verdicts) - len(compared):
        verb = "is" if lone == 1 else "are"
        out.print(f"{counted(lone, 'connection')} of one subflow {verb} not compared", style="dim")


EXPLAINED = (
    "Subflows of a connection with the same number share a bottleneck. Confidence: that the subflow "
    "shares one with the first, the second and each further subflow; – is not known."
)
GROUPS = " Group: what `anabranch linux couple` told the subflow."


def one_row(one: Verdict, place: int) -> Iterator[str]:
    """How sure it is that a subflow shares with each of its connection, in percent."""
    for other in range(len(one.connection.subflows)):
        sure = one.confidence(place, other)
        yield "·" if other == place else "–" if sure is None else f"{100 * sure:.0f}"


def pairs_table(found: Watched) -> Table:
    """The pairs for a program."""
    rows = []
    for number, one in enumerate(found.verdicts, 1):
        ends = [(row.socket.local, row.socket.remote) for row in one.connection.subflows]
        for a, b, sure in one.pairs:
            shown = "–" if sure is None else f"{100 * sure:.1f}"
            both = map(named, (*ends[a], *ends[b]))
            rows.append([str(number), one.connection.controller, *both, said(sure), shown])
    head = ["connection", "controller", "local", "remote", "other local", "other remote"]
    title = f"Shared bottlenecks: {found.detector}, {found.seconds:.0f} s"
    return Table(title, [*head, "verdict", "confidence %"], rows, 7)
