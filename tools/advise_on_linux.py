"""Holds `anabranch advise` against the kernel: pairs of emulated links, candidates in real time.

    sudo .venv/bin/python tools/advise_on_linux.py measure [PAIRS]   # 5 minutes each; goes on
    .venv/bin/python tools/advise_on_linux.py compare                # advises, and compares

`measure` runs each candidate on each pair, and CUBIC on one link alone, and writes
measurements/advice-on-linux.json after each run; what is there already is not run again. The run of
CUBIC on both links is captured in out/advice. `compare` reads links from that capture alone, as an
operator would, and writes the advice and what it foresaw into the same file.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import Scenario, linux
from anabranch.advice import CANDIDATES, advise
from anabranch.advice.candidates import MINE, OTHER, Situation, Span, document
from anabranch.advice.judging import KEPT, NEAR
from anabranch.advice.links import PACKET_BITS, Link
from anabranch.advice.measured import read as read_links
from anabranch.files import atomic_write
from anabranch.result import Recording, Result

OUT = Path("measurements/advice-on-linux.json")
CAPTURES = Path("out/advice")
PAIRS = 20
SEED = 1

MEASURED = ("cubic", "bbr", "lia", "olia", "balia", "lia+sbd", "coupled-cubic")
"""The candidates that are run."""

DURATION_S, WARMUP_S = 30, 10
TIMES = (f"duration={DURATION_S} s", f"warmup={WARMUP_S} s")
BUFFER_BYTES = 6 * 1024 * 1024


def draw(number: int) -> tuple[Situation, bool]:
    """Two links, and whether a third that both lead over is the bottleneck; every other pair."""
    random = np.random.default_rng((SEED, number))

    def between(low: float, high: float) -> float:
        return float(np.exp(random.uniform(np.log(low), np.log(high))))

    links = []
    for name in ("first", "second"):
        rate_bps = round(between(4e6, 30e6))
        packets = round(rate_bps * between(0.02, 0.15) / PACKET_BITS)
        loss = between(1e-4, 2e-3) if random.random() < 0.25 else None
        others = int(random.choice((0, 1, 2), p=(0.5, 0.3, 0.2)))
        trip_s = round(between(0.01, 0.08), 4)
        links.append(Link(name, rate_bps, None, trip_s, max(12, packets), loss, others))
    shared = number % 2 == 0
    slowest = min(link.down_bps for link in links)
    common = round(slowest * random.uniform(0.7, 1.0)) if shared else None
    return Situation(tuple(links), False, BUFFER_BYTES, common), shared


def runs(situation: Situation) -> Iterator[tuple[str, str, list[int]]]:
    """Each run of a pair: its name, the controller, and the links of the connection."""
    every = list(range(len(situation.links)))
    for controller in MEASURED:
        yield controller, controller, every
    for place in every:
        yield f"{OTHER} on {situation.links[place].name}", OTHER, [place]


def rates(result: Result) -> dict[str, Any]:
    """Mean rates of each class in bit/s, and whether the emulator kept its times."""
    run = result.runs[0]
    named = {
        planned.name: float(result.rate(planned.name).mean()) for planned in result.plan.classes
    }
    (place,) = [n for n, one in enumerate(result.plan.classes) if one.name == MINE]
    return {
        "valid": run.valid,
        "rate_bps": {name: round(rate) for name, rate in named.items()},
        "rtt_p95_s": float(run.classes.rtt_p95_s[place]),
    }


def measure(pairs: int) -> None:
    """Runs what is missing."""
    kept = read()
    CAPTURES.mkdir(parents=True, exist_ok=True)
    for number in range(pairs):
        situation, shared = draw(number)
        row = kept["pairs"].setdefault(str(number), {"shared": shared, "runs": {}})
        row["links"] = [vars(link) for link in situation.links]
        row["common_bps"] = situation.shared_bps
        for name, controller, places in runs(situation):
            if name in row["runs"]:
                continue
            scenario = Scenario.written(document(situation, controller, places))
            pcap = CAPTURES / f"pair{number}.pcapng" if name == MEASURED[0] else None
            row["runs"][name] = rates(
                linux.run(
                    scenario,
                    (number + 1,),
                    overrides=TIMES,
                    keep_invalid=True,
                    recording=Recording(pcap=pcap),
                )
            )
            print(number, name, row["runs"][name], flush=True)
            atomic_write(OUT, json.dumps(kept, indent=1) + "\n")


def compare() -> None:
    """Advises from the capture of each pair, and holds it against what was measured."""
    kept = read()
    candidates = [one for one in CANDIDATES if one.controller in MEASURED]
    for number, row in kept["pairs"].items():
        capture = CAPTURES / f"pair{number}.pcapng"
        if len(row["runs"]) < len(MEASURED) + 2 or not capture.exists():
            continue
        measured = read_links(str(capture))
        began_s = time.monotonic()
        advice = advise(
            [], measured=measured, candidates=candidates, span=Span(DURATION_S, WARMUP_S)
        )
        row["advice"] = {
            "seconds": round(time.monotonic() - began_s, 1),
            "measured": [one.to_json() for one in measured.fitted],
            "shared": advice.shared,
            "chosen": advice.best.candidate.controller,
            "between_bps": {
                one.candidate.controller: list(one.case(advice.shared).between_bps)
                for one in advice.outcomes
            },
            "kept": {
                one.candidate.controller: one.case(advice.shared).kept.mean
                for one in advice.outcomes
            },
        }
        atomic_write(OUT, json.dumps(kept, indent=1) + "\n")
    print(told(kept))


def told(kept: dict[str, Any]) -> str:
    """A line for each pair, and totals."""
    lines, near, covered, cases = [], 0, 0, 0
    rows = [(number, row) for number, row in kept["pairs"].items() if "advice" in row]
    for number, row in rows:
        advice, mine = (
            row["advice"],
            {name: row["runs"][name]["rate_bps"][MINE] for name in MEASURED},
        )
        fair = {name: rate for name, rate in mine.items() if left(row, name) >= KEPT} or mine
        best = max(fair, key=lambda name: fair[name])
        part = mine[advice["chosen"]] / fair[best]
        near += part >= 1.0 - NEAR
        inside = [
            name for name, (low, high) in advice["between_bps"].items() if low <= mine[name] <= high
        ]
        covered, cases = covered + len(inside), cases + len(MEASURED)
        lines.append(
            f"{number:>2} {'shared' if row['shared'] else 'apart ':6} found {advice['shared']!s:5} "
            f"chosen {advice['chosen']:8} leaves {100 * left(row, advice['chosen']):4.0f} %, best {best:8} "
            f"{100 * part:4.0f} %, inside {len(inside)} of {len(MEASURED)}, {advice['seconds']} s"
        )
    lines.append(f"within {100 * NEAR:g} %: {near} of {len(rows)}; inside: {covered} of {cases}")
    return "\n".join(lines)


def left(row: dict[str, Any], name: str) -> float:
    """The part that others were measured to keep of the least beside one TCP, where it is least."""
    parts = [1.0]
    singles = [
        rates["rate_bps"] for one, rates in row["runs"].items() if one.startswith(f"{OTHER} on")
    ]
    for other, rate_bps in row["runs"][name]["rate_bps"].items():
        least = min(single[other] for single in singles)
        if other != MINE and least:
            parts.append(rate_bps / least)
    return float(min(parts))


def read() -> dict[str, Any]:
    """What was measured before."""
    if OUT.exists():
        kept: dict[str, Any] = json.loads(OUT.read_text())
        return kept
    return {"seed": SEED, "kernel": platform.release(), "seconds": DURATION_S, "pairs": {}}


if __name__ == "__main__":
    if sys.argv[1:2] == ["compare"]:
        compare()
    elif sys.argv[1:2] == ["measure"]:
        measure(int(sys.argv[2]) if len(sys.argv) > 2 else PAIRS)
    else:
        sys.exit(__doc__)
