"""`anabranch capture`."""

from __future__ import annotations

from pathlib import Path

from ..capture import Capture, read
from ..files import check_writable
from .draw import PLAIN, Looks
from .keeping import show_and_write
from .terminal import console, named, table

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
    """Reads a capture, writes and draws what was asked for, and prints it."""
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
    head = [
        "connection",
        "subflow",
        "throughput Mb/s",
        "share %",
        "data packets",
        "sent again",
        "RTT ms",
        "goodput Mb/s",
    ]
    rows: list[list[str]] = []
    seen: set[int] = set()
    order = sorted(range(len(paths.flow)), key=lambda number: int(paths.flow[number]))
    for number in order[:MOST_ROWS]:
        flow = int(paths.flow[number])
        up = paths.upward[number]
        ends = [paths.initiator[number], paths.responder[number]]
        source, sink = ends if up else reversed(ends)
        token = flows.token[flow]
        first = flow not in seen
        seen.add(flow)
        name = f"{flow} (token {token})" if token else str(flow)
        rows.append(
            [
                named(name) if first else "",
                named(f"{source} → {sink}"),
                shown(paths.throughput_bps[number] / 1e6, ".4g"),
                shown(100 * capture.shares[number], ".1f"),
                str(paths.sent_packets[number]),
                str(paths.retransmits[number]),
                shown(1e3 * paths.rtt_s[number], ".1f"),
                shown(flows.goodput_bps[flow] / 1e6, ".4g") if first else "",
            ]
        )
    title = "Throughput counts IP bytes of data packets in the span, goodput payload acknowledged in all"
    out.print(table(title, head, rows, left=2))
    if len(order) > MOST_ROWS:
        out.print(f"{len(order) - MOST_ROWS} more subflows; --json has all", style="dim")
    start_s, end_s = capture.span_s
    facts = capture.facts
    sending = int((flows.throughput_bps > 0).sum())
    out.print(
        f"packets: {facts.packets} in {facts.duration_s:.3f} s, "
        f"{facts.other_packets} of them not TCP; rates from {start_s:g} s to {end_s:.3f} s"
        + (f"; Jain's index of {sending} connections {capture.jain:.3f}" if sending > 1 else ""),
        style="dim",
    )
    for warning in capture.warnings:
        out.print(named(warning), style="yellow")


def shown(value: float, how: str) -> str:
    """A number, or a dash where there is none."""
    return "–" if value != value else format(value, how)
