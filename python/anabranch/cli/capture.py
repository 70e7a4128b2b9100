"""`anabranch capture`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..capture import Capture
from ..files import check_writable
from ..qlog import read_file
from ..statistics import DELAY, PERCENT, RATE, Quantity, column
from ..unused import told
from .draw import PLAIN, Looks
from .keeping import show_and_write
from .terminal import columns, console, named

SHARE = replace(PERCENT, decimals=1, always=True)

KILOBYTES = Quantity(1e-3, 1, always=True)
"""Shown in kB."""

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
    capture = read_file(file, bin_s=bin_s, start_s=span_s[0], end_s=span_s[1], partial=partial)

    def draw(file: Path) -> None:
        from .. import plot as plots

        plots.save(plots.capture(capture, **options), file)

    show_and_write(lambda: show(capture), (json, capture.save), (plot, draw))


def show(capture: Capture) -> None:
    """Connections and subflows as a table."""
    out, paths, flows = console(), capture.paths, capture.flows
    order, logged = capture.order, capture.windows is not None
    shown = order[:MOST_ROWS]
    owners = [int(paths.flow[number]) for number in shown]
    first = [owner not in owners[:index] for index, owner in enumerate(owners)]
    goodputs = column([float(flows.goodput_bps[owner]) for owner in owners], RATE)

    def of_first(cells: list[str]) -> list[str]:
        """Keeps cells that belong to the whole connection only in its first row."""
        return [cell if begins else "" for cell, begins in zip(cells, first, strict=True)]

    cells = {
        "connection": of_first([called(capture, owner) for owner in owners]),
        "path" if logged else "subflow": [named(capture.label(number)) for number in shown],
        "throughput Mb/s": column([float(paths.throughput_bps[n]) for n in shown], RATE),
        "share %": column([float(capture.shares[n]) for n in shown], SHARE),
        "data packets": [whole(paths.sent_packets[n]) for n in shown],
        "lost" if logged else "retransmits": [f"{paths.retransmits[n]:.0f}" for n in shown],
        **({"window kB": windows(capture, shown)} if logged else {}),
        "RTT ms": column([float(paths.rtt_s[n]) for n in shown], DELAY),
        "goodput Mb/s": of_first(goodputs),
    }
    start_s, end_s = capture.span_s
    size = "the logged bytes" if logged else "IP bytes"
    title = (
        f"From {start_s:g} s to {end_s:.3f} s: throughput counts {size} of data packets, goodput acknowledged "
        "payload"
    )
    out.print(columns(title, cells, left=2, spare=("retransmits", "lost", "share %")))
    if len(order) > MOST_ROWS:
        out.print(f"{len(order) - MOST_ROWS} more subflows; --json has all", style="dim")
    facts = capture.facts
    sending = int((flows.throughput_bps > 0).sum())
    out.print(
        f"packets: {facts.packets} in {facts.duration_s:.3f} s"
        + ("" if logged else f", {facts.other_packets} of them not TCP")
        + (f"; Jain's index of {sending} connections {capture.jain:.3f}" if sending > 1 else ""),
        style="dim",
    )
    for warning in [*capture.warnings, *told(capture)]:
        out.print(named(warning), style="yellow")


def whole(count: float) -> str:
    """A count, or a dash if it is not known."""
    return f"{count:.0f}" if count == count else "–"


def windows(capture: Capture, shown: list[int]) -> list[str]:
    """The mean window of each path that a log has one of, in kB."""
    logged = capture.windows
    means = [] if logged is None else [float(logged.mean_cwnd_bytes[n]) for n in shown]
    return column(means, KILOBYTES)


def called(capture: Capture, flow: int) -> str:
    """A connection by its number, with its token if it has one."""
    token = capture.flows.token[flow]
    return f"{flow} (token {token})" if token else str(flow)
