"""Processor time of the runs that `reproduce khalili` made when the goal for its time was set.

    .venv/bin/python benches/documents_then.py                 as the cells are defined now
    .venv/bin/python benches/documents_then.py --as-then       with an ACK for each packet, as then
    .venv/bin/python benches/documents_then.py --seeds 2 1     fewer replications

At commit 77c34f8 the document had 67 configurations of 20 replications, and 128 of 10 for its
sensitivity table. All of them are also cells of today's document, some under another name, or
variants of such cells. Scenarios A, B and C differ: their receivers delay ACKs now, and their
connections begin with a handshake. The replications are made in one thread. The document of then
also judged its claims; that is not in the time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator

import anabranch as ab
from anabranch.papers.cells import cells
from anabranch.papers.laboratory import Configuration
from anabranch.scenario import load

CLAIMS = """
    a-before-10 a-before-30 a-lia-5 a-lia-10 a-lia-20 a-lia-30 a-lia-50 a-lia-100 a-olia-10 a-olia-30
    b-before-lia b-before-olia b-after-lia b-after-olia c-lia-10 c-lia-30 c-olia-10 c-olia-30
    backed-off phi-0.1 phi-1 phi-2 flap-fully-coupled flap-lia flap-olia flap-uncoupled
    freed-lia freed-olia freed-phi-0.25 freed-phi-0.5 freed-phi-1 freed-phi-1.5 freed-phi-2
    a-phi-0.25 a-phi-0.5 a-phi-1 a-phi-1.5 a-phi-2 tcp-equal tcp-unequal
    goal1-1 goal1-1-empty goal1-1-busy goal1-2 goal1-2-empty goal1-2-busy
    goal1-4 goal1-4-empty goal1-4-busy shared-lia shared-uncoupled
    b-before-uncoupled b-after-uncoupled a-uncoupled-10 a-uncoupled-30 c-uncoupled-10 c-uncoupled-30
    c-kernel-reno-10 c-kernel-reno-30 c-uncoupled-10-nosack c-uncoupled-30-nosack
    c-lia-10-nosack c-lia-30-nosack
"""
"""Cells that claims needed; FLOORED has four more."""

FLOOR = ("transport.min_ssthresh=2",)
FLOORED = ("a-lia-10", "a-lia-30", "c-lia-10", "c-lia-30")
"""Cells that claims needed with FLOOR too."""

VARIED = tuple(
    f"{scenario}-{law}-{n1}" for scenario in "ac" for law in ("lia", "olia") for n1 in (10, 30)
)
REDS = {"a": ("server", "ap"), "c": ("ap1", "ap2")}
"""Links with RED, by scenario."""

PARAMETERS: tuple[tuple[str, ...], ...] = (
    (),
    FLOOR,
    ("transport.slow_start_carry_over=false",),
    ("transport.delayed_ack=40 ms",),
    ("transport.rto_floor=total",),
    ("transport.rto_min=1 s",),
    ("transport.limited_transmit=false",),
    ("transport.sack=false",),
    ("link.line.delay=75 ms", "link.back.delay=75 ms"),
    ("link.line.delay=40 ms", "link.back.delay=40 ms"),
)
"""Variants of the sensitivity table beside those of RED."""

EACH_PACKET = ("transport.delayed_ack=0 s", "transport.handshake=false")


def varied(cell: str) -> Iterator[tuple[str, ...]]:
    """The overrides of a cell's variants in the sensitivity table."""
    yield from PARAMETERS
    for weight in (1.0, 0.0625, 0.002):
        for spacing in ("independent", "count"):
            values = {"weight": f"{weight}", "spacing": f'"{spacing}"'}
            yield tuple(
                f"link.{link}.queue.red.{key}={value}"
                for link in REDS[cell[0]]
                for key, value in values.items()
            )


def configurations(seeds: tuple[int, int], *, as_then: bool) -> Iterator[tuple[Configuration, int]]:
    """Each configuration of then and how many replications of it were made."""
    known = cells("khalili")
    added: list[tuple[str, tuple[str, ...], int]] = [
        (name, (), seeds[0]) for name in CLAIMS.split()
    ]
    added += [(name, FLOOR, seeds[0]) for name in FLOORED]
    added += [(name, own, seeds[1]) for name in VARIED for own in varied(name)]
    for name, own, count in added:
        cell = known[name]
        # Scenarios A, B and C alone have delayed ACKs and a handshake by now.
        then = EACH_PACKET if as_then and "/scenario-" in cell.scenario else ()
        yield replaced(cell, (*cell.overrides, *then, *own)), count


def replaced(cell: Configuration, overrides: tuple[str, ...]) -> Configuration:
    """A cell with other overrides."""
    return Configuration(cell.scenario, cell.controller, overrides, cell.series)


def main() -> None:
    """Prints the time of all configurations."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--as-then", action="store_true", help="an ACK for each packet, no handshake"
    )
    parser.add_argument("--seeds", type=int, nargs=2, default=(20, 10), metavar="N")
    chosen = parser.parse_args()
    every = list(configurations(tuple(chosen.seeds), as_then=chosen.as_then))
    begun, before, packets = time.monotonic(), os.times(), 0
    for cell, count in every:
        result = ab.run(
            load(cell.scenario),
            range(1, count + 1),
            controller=cell.controller,
            overrides=cell.overrides,
            series=cell.series,
            threads=1,
        )
        packets += sum(int(run.packet_hops) for run in result.runs)
    spent = os.times()
    cpu = spent.user + spent.system - before.user - before.system
    runs = sum(count for _, count in every)
    print(
        f"{len(every)} configurations, {runs} replications, {packets:,} packet-hops: {cpu:.1f} s of a"
        f" processor in {time.monotonic() - begun:.1f} s; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
