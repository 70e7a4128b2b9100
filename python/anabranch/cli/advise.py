"""`anabranch advise`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..files import check_writable, write_json
from .arguments import FormatOption, JsonOption
from .formats import TEXT
from .terminal import columns, console, progress

if TYPE_CHECKING:
    from ..advice import Advice
    from ..advice.measured import Measured

ADVISE_EXAMPLES = (
    'Example: anabranch advise --link "dsl: 16 Mb/s up 2.4, 30 ms, 400 packets" --link "lte: 20 Mb/s, 60 ms"\n\n'
    'Example: anabranch advise --link "a: 50 Mb/s, 20 ms" --link "b: 50 Mb/s, 25 ms" --shared yes\n\n'
    "Example: anabranch run examples/lte-dsl --pcap both.pcapng --record-until 11s\n\n"
    "Example: anabranch advise --measured both.pcapng --card advice.html"
)

MBPS = (100, 1000)
"""Rates in Mb/s at which the processor's cost is told."""

KNOWN = {"yes": True, "no": False, "unknown": None}


def advise(
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            "-l",
            help='A link: "NAME: RATE [up RATE], RTT, QUEUE packets, LOSS %, N others"; all but the rate may be left '
            "out.",
        ),
    ] = None,
    measured: Annotated[
        list[str] | None,
        typer.Option(
            "--measured",
            "-m",
            metavar="[NAME=]FILE",
            help="Links as measured: a capture or qlog of a transfer over several paths, from the side that sent, or "
            "a report of iperf3 --json for each link.",
        ),
    ] = None,
    live: Annotated[
        str | None,
        typer.Option(
            "--live",
            metavar="SERVER",
            help="Measure now, with iperf3 to this server, the links of --via.",
        ),
    ] = None,
    via: Annotated[
        list[str] | None,
        typer.Option(
            "--via",
            metavar="NAME=ADDRESS",
            help="With --live: a link, and this host's address on it.",
        ),
    ] = None,
    seconds: Annotated[
        int,
        typer.Option(
            "--seconds", min=5, max=60, help="With --live: how long each measurement takes."
        ),
    ] = 10,
    direction: Annotated[
        str, typer.Option("--direction", help="Whether data comes `down` to you or goes `up`.")
    ] = "down",
    shared: Annotated[
        str,
        typer.Option(
            "--shared",
            help="Whether the links share a bottleneck behind the router: yes, no or unknown.",
        ),
    ] = "unknown",
    shared_rate: Annotated[
        str | None,
        typer.Option(
            "--shared-rate", help="Its rate, such as 30 Mb/s. Default: that of the fastest link."
        ),
    ] = None,
    buffer: Annotated[
        float, typer.Option("--buffer", min=0.0625, help="The receive buffer in MiB.")
    ] = 6.0,
    repeat: Annotated[
        int, typer.Option("--repeat", min=2, help="Number of seeds for each candidate.")
    ] = 8,
    card: Annotated[
        Path | None, typer.Option("--card", help="Write the advice as a page to this .html file.")
    ] = None,
    json: JsonOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Say which controller to use on two links or more: each candidate is simulated on them, beside
    others. Status 1 if every candidate harms others.
    """
    from .. import _core
    from ..advice import advise as advised
    from ..advice import parse
    from ..advice.saying import to_json
    from ..offers import chosen
    from .keeping import show_and_write

    for file in (json, card):
        if file:
            check_writable(file)
    links = [parse(text) for text in link or ()]
    up = chosen("--direction", direction, ("down", "up")) == "up"
    known = KNOWN[chosen("--shared", shared, tuple(KNOWN))]
    rate_bps = _core.bits_per_second(shared_rate) if shared_rate else None
    if rate_bps and known is False:
        raise ValueError("--shared-rate is of a bottleneck that --shared no rules out")
    found = _measured(measured or [], live, via or [], up, seconds)
    with progress("simulating") as tell:
        advice = advised(
            links,
            up=up,
            buffer_bytes=round(buffer * 2**20),
            shared=known,
            shared_bps=rate_bps,
            seeds=repeat,
            measured=found,
            progress=tell,
        )
    show_and_write(
        lambda: _show(advice),
        (json, lambda file: write_json(file, to_json(advice))),
        (card, lambda file: _write_card(advice, file)),
    )
    if advice.best.harms(advice.shared):
        raise typer.Exit(1)


def _measured(
    files: list[str], server: str | None, via: list[str], up: bool, seconds: int
) -> Measured | None:
    """The links of files or of a measurement now; None if there are neither."""
    from ..advice.measured import join, read
    from ..advice.measured.live import measure, source

    if via and not server:
        raise ValueError(f"--via {via[0]} is for --live SERVER")
    found = [read(text) for text in files]
    if server:
        if len(via) < 2:
            raise ValueError(
                f"--live {server}: {len(via) or 'no'} --via; name two links or more, such as "
                "--via dsl=192.0.2.7 --via lte=198.51.100.9"
            )
        sources = [source(text) for text in via]
        with progress("measuring") as tell:
            found.append(measure(server, sources, up=up, seconds=seconds, progress=tell))
    return join(found) if found else None


def _write_card(advice: Advice, file: Path) -> None:
    from ..advice.card import card
    from ..files import atomic_write

    atomic_write(file, card(advice))


def _show(advice: Advice) -> None:
    """The table, the verdict, and what belongs to it."""
    from ..advice.saying import (
        NOTES,
        SETTINGS_NOTES,
        all_diseases,
        measured_cells,
        of_settings,
        settings_cells,
        settings_title,
        steps,
        unknown,
        verdict,
    )

    out = console()
    replications = advice.single_bps.n
    title = f"Data goes {'up' if advice.situation.up else 'down'}: {replications} replications of each candidate"
    if advice.measured:
        out.print(columns("Measured, with intervals", measured_cells(advice.measured), left=1))
    out.print(columns(title, _cells(advice), left=1))
    out.print(NOTES, style="dim")
    out.print(f"\n{verdict(advice)}\n", highlight=False)
    out.print(columns(settings_title(advice), settings_cells(advice), left=1))
    out.print(SETTINGS_NOTES, style="dim")
    out.print(f"\n{of_settings(advice)}\n", highlight=False)
    for title, lines in (
        *steps(advice),
        ("What is wrong with the links", all_diseases(advice)),
        ("What is not known", unknown(advice)),
    ):
        if lines:
            out.print(f"{title}:", style="bold")
        for line in lines:
            out.print(f"  {line}", highlight=False)


def _cells(advice: Advice) -> dict[str, list[str]]:
    """The candidates, column by column."""
    from ..advice.saying import cost
    from ..statistics import RATE, column, significant

    rows = advice.outcomes
    cells = {
        "controller": [
            f"{'→ ' if one is advice.best else ''}{one.candidate.controller}" for one in rows
        ]
    }
    for end, of in (("", [one.apart for one in rows]), (", shared", [one.joint for one in rows])):
        cases = [case for case in of if case]
        if cases:
            cells[f"mine{end or ' Mb/s'}"] = column([case.rate_bps for case in cases], RATE)
            if any(case.theory_bps for case in cases):
                cells[f"theory{end}"] = column([case.theory_bps for case in cases], RATE)
            cells[f"others{end or ' %'}"] = [str(case.kept.times(100.0)) for case in cases]
    delays = [one.case(advice.shared).delay_s for one in rows]
    cells["RTT p95 ms"] = [significant(1e3 * delay, 2) for delay in delays]
    costs = [[cost(one, mbps * 1e6) for mbps in MBPS] for one in rows]
    cells["CPU %"] = [", ".join(significant(100.0 * part, 2) for part in parts) for parts in costs]
    return cells
