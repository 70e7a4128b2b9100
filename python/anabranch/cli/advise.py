"""`anabranch advise`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..files import check_writable, write_json
from .arguments import FormatOption, JsonOption
from .formats import TEXT
from .terminal import columns, console, progress

if TYPE_CHECKING:
    from ..advice import Advice
    from ..statistics import Interval

ADVISE_EXAMPLES = (
    'Example: anabranch advise --link "dsl: 16 Mb/s up 2.4, 30 ms, 400 packets" --link "lte: 20 Mb/s, 60 ms"\n\n'
    'Example: anabranch advise --link "a: 50 Mb/s, 20 ms" --link "b: 50 Mb/s, 25 ms" --shared yes'
)

MBPS = (100, 1000)
"""Rates in Mb/s at which the processor's cost is told."""

KNOWN = {"yes": True, "no": False, "unknown": None}


def advise(
    link: Annotated[
        list[str],
        typer.Option(
            "--link",
            "-l",
            help='A link: "NAME: RATE [up RATE], RTT, QUEUE packets, LOSS %, N others"; all but the rate may be left '
            "out. Two or more.",
        ),
    ],
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
    json: JsonOption = None,
    format_: FormatOption = TEXT,
) -> None:
    """Say which controller to use on two links or more: each candidate is simulated on them, beside
    others. Status 1 if every candidate harms others.
    """
    from .. import _core
    from ..advice import advise as advised
    from ..advice import parse
    from ..advice.links import distinct
    from ..advice.saying import to_json
    from ..offers import chosen
    from .keeping import show_and_write

    if json:
        check_writable(json)
    links = distinct([parse(text) for text in link])
    up = chosen("--direction", direction, ("down", "up")) == "up"
    known = KNOWN[chosen("--shared", shared, tuple(KNOWN))]
    rate_bps = _core.bits_per_second(shared_rate) if shared_rate else None
    if rate_bps and known is False:
        raise ValueError("--shared-rate is of a bottleneck that --shared no rules out")
    with progress("simulating") as tell:
        advice = advised(
            links,
            up=up,
            buffer_bytes=round(buffer * 2**20),
            shared=known,
            shared_bps=rate_bps,
            seeds=repeat,
            progress=tell,
        )
    show_and_write(lambda: _show(advice), (json, lambda file: write_json(file, to_json(advice))))
    if advice.best.harms(known):
        raise typer.Exit(1)


def _show(advice: Advice) -> None:
    """The table, the verdict, and what belongs to it."""
    from ..advice.saying import NOTES, commands, diseases, unknown, verdict

    out = console()
    replications = advice.single_bps.n
    title = f"Data goes {'up' if advice.situation.up else 'down'}: {replications} replications of each candidate"
    out.print(columns(title, _cells(advice), left=1))
    out.print(NOTES, style="dim")
    out.print(f"\n{verdict(advice)}\n", highlight=False)
    do, undo = commands(advice)
    for title, lines in (
        ("On the host that sends:", do),
        ("To undo it:", undo),
        ("What is wrong with the links:", diseases(advice.situation)),
        ("What is not known:", unknown(advice)),
    ):
        if lines:
            out.print(title, style="bold")
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
        ],
        "mine Mb/s": column([one.rate_bps for one in rows], RATE),
        "others %": [_percent(one.kept) for one in rows],
    }
    if advice.shared is not False:
        cells["mine, shared"] = column([one.rate_shared_bps for one in rows], RATE)
        cells["others, shared"] = [_percent(one.kept_shared) for one in rows]
    cells["RTT p95 ms"] = [significant(1e3 * one.delay_s, 2) for one in rows]
    costs = [[cost(one, mbps * 1e6) for mbps in MBPS] for one in rows]
    cells["CPU %"] = [
        ", ".join("–" if part is None else significant(100.0 * part, 2) for part in parts)
        for parts in costs
    ]
    return cells


def _percent(part: Interval | None) -> str:
    """A part with its interval in percent."""
    return "" if part is None else str(part.times(100.0))
