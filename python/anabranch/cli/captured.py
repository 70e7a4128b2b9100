"""The options of `anabranch capture`; what it does is in `capture`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import FormatOption, TitleOption, WidthOption
from .formats import TEXT

CAPTURE_EXAMPLES = (
    "Example: anabranch capture c.pcapng --from 2s --bin 1s --json c.json\n\n"
    "Example: anabranch capture c.qlog --plot windows.png"
)


def capture(
    file: Annotated[
        Path,
        typer.Argument(
            help="A pcapng or pcap file, from any program; or a log of QUIC: qlog, or xquic's."
        ),
    ],
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Write tables and series here; - is standard output."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw throughput, and a log's windows: .png, .svg or .pdf."),
    ] = None,
    from_: Annotated[
        str,
        typer.Option("--from", help="Measure from this time after the first packet, such as 5s."),
    ] = "0s",
    to: Annotated[
        str | None, typer.Option("--to", help="Measure up to this time. Default: the end.")
    ] = None,
    bin_: Annotated[
        str, typer.Option("--bin", help="Width of the time bins of series and plots.")
    ] = "100ms",
    partial: Annotated[
        bool, typer.Option("--partial", help="Read a truncated capture up to its end.")
    ] = False,
    format_: FormatOption = TEXT,
    width: WidthOption = None,
    title: TitleOption = None,
) -> None:
    """Print throughput, shares, losses and round-trip times of a capture or of a log of QUIC."""
    from .capture import capture_command
    from .draw import Looks
    from .options import time_from

    end_s = time_from("--to", to) if to is not None else None
    span_s = (time_from("--from", from_), end_s)
    bin_s = time_from("--bin", bin_)
    capture_command(file, json, plot, span_s, bin_s, partial, Looks(width, title))
