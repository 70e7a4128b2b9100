"""`anabranch capture`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..capture import Capture, read
from ..files import check_writable
from ..statistics import DELAY, PERCENT, RATE, column
from .draw import PLAIN, Looks
from .keeping import show_and_write
from .terminal import columns, console, named

SHARE = replace(PERCENT, decimals=1, always=True)

MOST_ROWS = 40
"""Subflows that are shown; all are in the file that `--json` writes."""


def capture_command(
    file: Path,
    json: Path | None,
    plot: Path | None,
    span_s: tuple[float, float | None],
    bin_s: float,
    partial: bool,
    looks: Looks = PLAIN,
) -> None:
    """Reads a capture, writes and draws the requested files, and prints tables."""
    if looks != PLAIN and not plot:
        raise ValueError("--width and --title are of a figure; say where to draw it with --plot")
    options = looks.options()
    for target in (json, plot):
        if target:
            check_writable(target)
    capture = read(file, bin_s=bin_s, start_s=span_s[0], end_s=span_s[1], partial=partial)

    def draw(file: Path) -> None:
        from .. import plot as plots

        plots.save(plots.capture(capture, **options), file)

    show_and_write(lambda: show(capture), (json, capture.save), (plot, draw))


def show(capture: Capture) -> None:
    """Connections and subflows as a table."""
    out, paths, flows = console(), capture.paths, capture.flows
    order = capture.order
    shown = order[:MOST_ROWS]
    owners = [int(paths.flow[number]) for number in shown]
    first = [owner not in owners[:index] for index, owner in enumerate(owners)]
    goodputs = column([float(flows.goodput_bps[owner]) for owner in owners], RATE)

    def of_first(cells: list[str]) -> list[str]:
        """Keeps cells that belong to the whole connection only in its first row."""
        return [cell if begins else "" for cell, begins in zip(cells, first, strict=True)]

    cells = {
        "connection": of_first([called(capture, owner) for owner in owners]),
        "subflow": [named(capture.label(number)) for number in shown],
        "throughput Mb/s": column([float(paths.throughput_bps[n]) for n in shown], RATE),
        "share %": column([float(capture.shares[n]) for n in shown], SHARE),
        "data packets": [f"{paths.sent_packets[n]:.0f}" for n in shown],
        "retransmits": [f"{paths.retransmits[n]:.0f}" for n in shown],
        "RTT ms": column([float(paths.rtt_s[n]) for n in shown], DELAY),
        "goodput Mb/s": of_first(goodputs),
    }
    start_s, end_s = capture.span_s
    title = (
        f"From {start_s:g} s to {end_s:.3f} s: throughput counts IP bytes of data packets, goodput acknowledged "
        "payload"
    )
    out.print(columns(title, cells, left=2, spare=("retransmits", "share %")))
    if len(order) > MOST_ROWS:
        out.print(f"{len(order) - MOST_ROWS} more subflows; --json has all", style="dim")
    facts = capture.facts
    sending = int((flows.throughput_bps > 0).sum())
    out.print(
        f"packets: {facts.packets} in {facts.duration_s:.3f} s, {facts.other_packets} of them not TCP"
        + (f"; Jain's index of {sending} connections {capture.jain:.3f}" if sending > 1 else ""),
        style="dim",
    )
    for warning in capture.warnings:
        out.print(named(warning), style="yellow")


def called(capture: Capture, flow: int) -> str:
    """A connection by its number, with its token if it has one."""
    token = capture.flows.token[flow]
    return f"{flow} (token {token})" if token else str(flow)
