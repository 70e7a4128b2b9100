"""The long form of the tests of robustness; as root: .venv/bin/python tests/linux/soak.py

Parts, all of them unless some are named: `churn` (connections whose subflows come and go,
controllers that come and go, processes killed; --minutes, 5), `open` (20,000 connections opened and
closed), `skips` (scenario C with callbacks ignored, beside the wrapped Reno and the kernel's; 25
minutes), `trial` (two subflows beside one TCP behind a router without delay, with delayed ACKs and
without; 4 minutes). Prints a table for each and ends with status 1 if something did not hold.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import left
import numpy as np
from opening import open_and_close
from process_pool import churn
from trial import share_of_two

from anabranch.linux import run
from anabranch.result import Result
from anabranch.statistics import Interval, apart

PLANTED = 50_000
"""Callbacks of a million that are ignored on purpose."""

SKIPS = (
    ("lia", "lia", 0),
    ("lia, 5 % skipped", "lia", PLANTED),
    ("Reno in our shell", "kernel:reno", 0),
    ("Reno in our shell, 5 % skipped", "kernel:reno", PLANTED),
    ("the kernel's Reno", "uncoupled", 0),
)
ALIKE = ((0, 1), (2, 3), (2, 4), (3, 4))
"""Rows whose shares must not differ beyond their intervals."""


def largest_window(result: Result) -> float:
    """Segments: the largest window of any sample of any path."""
    return max(float(np.nanmax(run.series.paths.cwnd_segments)) for run in result.runs)


def fits(result: Result) -> float:
    """Segments that the fastest link's bandwidth-delay product and queue hold."""
    plan = result.plan
    rtt_s = max(path.base_rtt_s for row in plan.classes for path in row.paths)
    size = float(plan.classes[0].packet_bytes)
    held = 0.0
    for link in plan.links:
        if link.rate_bps:
            packets = link.queue and link.queue.limit_packets
            held = max(held, link.rate_bps * rtt_s / 8 / size + (packets or 1000))
    return held


def counted(result: Result) -> dict[str, int]:
    """What the controllers of all replications counted."""
    sums: dict[str, int] = {}
    for replication in result.runs:
        for counters in replication.kernel.controllers.values():
            for name, value in counters.items():
                sums[name] = sums.get(name, 0) + value
    return sums


def skips(seeds: int, duration_s: float, say: Callable[[str], object]) -> dict[str, Any]:
    """Scenario C under each of `SKIPS`, and what did not hold."""
    rows, wrong = [], []
    for label, controller, skipped in SKIPS:
        result = run(
            "khalili/scenario-c",
            range(1, seeds + 1),
            controller=controller,
            overrides=[f"duration={duration_s:g} s", f"warmup={duration_s / 4:g} s"],
            series=True,
            skips_per_million=skipped,
        )
        shares = {name: result.mean(name) for name in result.classes}
        window, counters = largest_window(result), counted(result)
        rows.append({"label": label, "shares": shares, "window": window, "counters": counters})
        say(skip_row(rows[-1]))
        if window > 4 * fits(result):
            wrong.append(f"{label}: a window of {window:.0f} segments")
        if skipped and not all(counters.get(k) for k in ("skipped", "missed", "repairs")):
            wrong.append(f"{label}: nothing skipped, missed or repaired: {counters}")
    for one, other in ALIKE:
        for name, share in rows[one]["shares"].items():
            if apart(share, rows[other]["shares"][name]):
                both = f"{rows[one]['label']} and {rows[other]['label']}"
                wrong.append(f"{both}: the shares of {name} differ beyond their intervals")
    return {"rows": rows, "wrong": wrong}


def skip_row(row: dict[str, Any]) -> str:
    """A line of the table."""
    shares = "  ".join(f"{name} {mbps(share)}" for name, share in row["shares"].items())
    counters = "  ".join(f"{name} {value}" for name, value in row["counters"].items())
    return f"{row['label']:32}{shares}  largest window {row['window']:.0f}  {counters}"


def mbps(share: Interval) -> str:
    """An interval in Mb/s."""
    return str(Interval(share.mean * 1e-6, share.half * 1e-6, share.n, share.confidence))


def opened(count: int, per_second: float, say: Callable[[str], object]) -> dict[str, Any]:
    """Connections opened and closed, and what did not hold."""
    told = open_and_close(count, per_second=per_second)
    before, after = told["before"], told["after"]
    say(f"{count} connections, {told['joined']} second paths, {told['seconds']:.0f} s")
    for name in ("sockets", "allocated", "memory_pages"):
        say(f"  {name:14}{getattr(before, name):8} before {getattr(after, name):8} after")
    for row in before.maps:
        number, type_, entries, *_, memory = row
        same = "the same after" if row in after.maps else "gone or changed after"
        say(f"  map {number} of type {type_}: {entries} entries at most, {memory} B; {same}")
    wrong = []
    if after.maps != before.maps:
        wrong.append(f"maps were {before.maps}, are {after.maps}")
    if after.sockets != before.sockets or after.allocated > before.allocated + count // 20:
        wrong.append(f"sockets are left: {before} and {after}")
    if after.memory_pages > before.memory_pages + count // 2:
        say("  (the memory is that of the whole machine: other programs count)")
    return {"told": told | {"before": asdict(before), "after": asdict(after)}, "wrong": wrong}


def churned(minutes: float, rate_bps: float, say: Callable[[str], object]) -> dict[str, Any]:
    """200 connections for some time, and what did not hold."""
    if not left.warn_again():
        say("  the kernel's warnings that come once per boot may have come before")
    pool = churn(60 * minutes, stages=4, connections=50, seed=1, rate_bps=rate_bps)
    for name, count in sorted(pool.counts.items()):
        say(f"  {name:52}{count:>14,}")
    say(f"  {'largest window in segments':52}{pool.largest:>14,.0f}")
    return {"counts": dict(pool.counts), "largest": pool.largest, "wrong": pool.wrong}


def halves(runs: int, seconds: float, say: Callable[[str], object]) -> dict[str, Any]:
    """The trial's shares with delayed ACKs, and with one ACK for each packet: then they are two
    thirds.
    """
    rows: dict[str, list[float]] = {}
    for label, delayed in (("delayed ACKs", True), ("an ACK for every packet", False)):
        rows[label] = [share_of_two(seconds, delayed) for _ in range(runs)]
        say(f"  {label:32}{', '.join(f'{x:.3f}' for x in rows[label])}")
    wrong = [
        f"with an ACK for every packet the share was {x:.3f}"
        for x in rows["an ACK for every packet"]
        if abs(x - 2 / 3) > 0.05
    ]
    return {"rows": rows, "wrong": wrong}


def plain(value: Any) -> Any:
    """An interval as JSON has it."""
    return value.to_json() if isinstance(value, Interval) else str(value)


def main() -> None:
    """Runs the parts that are wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="churn, open, skips, trial; all of them without")
    parser.add_argument("--minutes", type=float, default=5, help="of churn")
    parser.add_argument("--rate", type=float, default=6, help="of each of 16 paths of churn, Mb/s")
    parser.add_argument("--count", type=int, default=20_000, help="of connections opened")
    parser.add_argument("--pace", type=float, default=1e9, help="opened a second, at most")
    parser.add_argument("--seeds", type=int, default=5, help="of each row of skips")
    parser.add_argument("--duration", type=float, default=60, help="of a run of skips, seconds")
    parser.add_argument("--json", type=Path, help="file for all of it")
    parser.add_argument("--runs", type=int, default=4, help="of each row of trial")
    parser.add_argument("--length", type=float, default=25, help="of a run of trial, seconds")
    chosen = parser.parse_args()
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "churn": lambda: churned(chosen.minutes, 1e6 * chosen.rate, print),
        "open": lambda: opened(chosen.count, chosen.pace, print),
        "skips": lambda: skips(chosen.seeds, chosen.duration, print),
        "trial": lambda: halves(chosen.runs, chosen.length, print),
    }
    if unknown := set(chosen.parts) - set(parts):
        parser.error(f"there is no part {', '.join(unknown)}")
    found = {}
    for name in chosen.parts or parts:
        print(f"{name}:", flush=True)
        begun = time.monotonic()
        found[name] = parts[name]()
        for text in found[name]["wrong"]:
            print(f"  WRONG: {text}")
        verdict = "not well" if found[name]["wrong"] else "well"
        print(f"  ended {verdict} after {time.monotonic() - begun:.0f} s", flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1, default=plain))
    sys.exit(any(part["wrong"] for part in found.values()))


if __name__ == "__main__":
    main()
