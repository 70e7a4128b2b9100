"""Sweeps that take no time, for tests."""

from __future__ import annotations

from pathlib import Path

import pyarrow

import anabranch as ab
from anabranch.sweeps import Store, Sweep, axis

SHORT = (
    *("duration=2 s", "warmup=0 s", "flow.multipath.count=1", "flow.single-path.count=1"),
    *("flow.multipath.spread=0 s", "flow.single-path.spread=0 s"),
)


RATES = axis("link.ap1.rate=1 Mb/s,2 Mb/s")


def sweep(*axes: str, controllers: tuple[str, ...] = ("lia", "olia"), **options: object) -> Sweep:
    found = tuple(axis(text) for text in axes) or (RATES,)
    given = {"seeds": 3, "overrides": SHORT, **options}
    scenario = ab.load("khalili/scenario-c")
    return Sweep(scenario, found, controllers, **given)  # type: ignore[arg-type]


def rows(folder: Path, table: str = "classes") -> bytes:
    """A table of a store in bytes."""
    sink = pyarrow.BufferOutputStream()
    whole = Store(folder).read(table)
    with pyarrow.ipc.new_stream(sink, whole.schema) as stream:
        stream.write_table(whole.combine_chunks())
    return bytes(sink.getvalue())
