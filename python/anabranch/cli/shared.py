"""`anabranch shared`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..files import check_writable, write_json
from .arguments import FormatOption, JsonOption
from .formats import TEXT
from .terminal import columns, console, named, progress

SHARED_EXAMPLES = (
    "Example: anabranch shared c.pcapng --json shared.json\n\n"
    "Example: anabranch shared --networks 200 --seed 7 --detector rfc8382"
)

MOST_PAIRS = 40
"""Pairs that are shown; all are in the file that `--json` writes."""


def shared(
    capture: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CAPTURE]",
            help="A pcapng or pcap file from the sender's side; each pair of its subflows is judged.",
        ),
    ] = None,
    detector: Annotated[
        str,
        typer.Option("--detector", "-d", help="A name of `anabranch list detectors`."),
    ] = "correlation",
    networks: Annotated[
        int | None,
        typer.Option(
            "--networks",
            min=2,
            help="Read no capture: measure the errors of the detector on this many random networks, half of "
            "which share a bottleneck.",
        ),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option("--law", help="The law of the connection in --networks. Default: lia."),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of --networks.")] = None,
    json: JsonOption = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Take a truncated capture as far as it goes.")
    ] = False,
    threads: Annotated[
        int, typer.Option("--threads", min=0, help="Threads of --networks; 0 is one for each core.")
    ] = 0,
    format_: FormatOption = TEXT,
) -> None:
    """Say which paths share a bottleneck: subflows of a capture, from their delays and losses.
    Status 1 if nothing is known of any pair.
    """
    if json:
        check_writable(json)
    if networks is not None:
        if capture is not None:
            raise ValueError("--networks draws networks; leave the capture out, or the option")
        _measure(detector, networks, law or "lia", 1 if seed is None else seed, json, threads)
        return
    for option, value in (("--law", law), ("--seed", seed)):
        if value is not None:
            raise ValueError(f"{option} is for --networks; a capture has its own")
    if capture is None:
        raise ValueError(
            "name a capture, such as two-paths.pcapng, or draw networks with --networks"
        )
    _of_capture(capture, detector, json, partial)


def _measure(
    detector: str, networks: int, law: str, seed: int, json: Path | None, threads: int
) -> None:
    from ..sharing import DURATION_S, measure
    from ..statistics import significant
    from .keeping import show_and_write

    controller = f"{law}+sbd:{detector}"
    with progress(f"{networks} networks") as report:
        errors = measure(controller, networks, seed, threads=threads, progress=report)

    def show() -> None:
        rates = (errors.false_alarms, errors.misses)
        cells = {
            "networks": ["each path has a bottleneck of its own", "all paths share one"],
            "number": [str(rate.of) for rate in rates],
            "judged wrongly": [str(rate.count) for rate in rates],
            "%": [significant(100.0 * rate.value, 2) for rate in rates],
            "95 % interval": [
                " to ".join(significant(100.0 * end, 2) for end in rate.interval) for rate in rates
            ],
        }
        title = (
            f"{detector} under {law}, seed {seed}: false alarms and misses after {DURATION_S:g} s"
        )
        out = console()
        out.print(columns(title, cells, left=1))
        out.print(
            "A network is judged wrongly if one pair of its two to four paths is.", style="dim"
        )

    head = {"detector": detector, "law": law, "seed": seed, "networks": networks}
    show_and_write(show, (json, lambda file: write_json(file, head | errors.to_json())))


def _of_capture(capture: Path, detector: str, json: Path | None, partial: bool) -> None:
    from ..sharing.finding import of_capture
    from ..statistics import significant
    from .keeping import show_and_write

    answer = of_capture(capture, detector, partial=partial)
    found, rows = answer.found, answer.subflows
    pairs = [(a, b) for a in range(len(rows)) for b in range(a + 1, len(rows))]

    def show() -> None:
        for warning in answer.capture.warnings:
            console().print(f"warning: {warning}", style="yellow")
        names = [named(answer.capture.label(row)) for row in rows]
        out = console()
        groups = [[names[path] for path in group] for group in found.last]
        start_s, end_s = answer.capture.span_s
        cells = {
            "bottleneck": [
                str(number) if name == group[0] else ""
                for number, group in enumerate(groups, 1)
                for name in group
            ],
            "subflows": [name for group in groups for name in group],
        }
        out.print(columns(f"{found.detector}, {end_s - start_s:.1f} s", cells, left=2))
        if len(pairs) > MOST_PAIRS:
            out.print(f"--json has what was found of each of the {len(pairs)} pairs", style="dim")
            return
        said = [_said(float(found.confidence[-1, a, b]), found.known(a, b)) for a, b in pairs]
        sure = [significant(100.0 * float(found.confidence[-1, a, b]), 2) for a, b in pairs]
        cells = {
            "subflow": [names[a] for a, _ in pairs],
            "and": [names[b] for _, b in pairs],
            "share a bottleneck": said,
            "confidence %": sure,
        }
        out.print(columns("Pairs", cells, left=3))

    show_and_write(show, (json, lambda file: write_json(file, answer.to_json())))
    if not any(found.known(a, b) for a, b in pairs):
        raise typer.Exit(1)


def _said(confidence: float, known: bool) -> str:
    """The verdict on a pair in a word."""
    from ..sharing.finding import SHARES, UNSURE

    if not known:
        return "nothing is known"
    if confidence >= SHARES:
        return "yes"
    return "no" if confidence <= UNSURE else "unsure"
