"""Holds `anabranch advise` against the kernel: pairs of emulated links, candidates in real time.

    sudo .venv/bin/python tools/advise_on_linux.py capture           # 12 minutes
    sudo .venv/bin/python tools/advise_on_linux.py measure [TIMES]   # 20 minutes each time; goes on
    .venv/bin/python tools/advise_on_linux.py compare                # advises, and compares

`capture` runs CUBIC on both links of each pair, with a capture in out/advice. `measure` runs each
candidate on each pair, and CUBIC on one link alone, as many at once as the emulator can, each on
links of its own, and writes measurements/advice-on-linux.json after each pair. Both leave alone
what is there already. `compare` reads links from the capture alone, as an operator would, and
writes the advice and what it foresaw into the same file.
"""

from __future__ import annotations

import itertools
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import Scenario, linux
from anabranch.advice import CANDIDATES, advise
from anabranch.advice.candidates import MINE, OTHER, Situation, Span, document
from anabranch.advice.judging import KEPT, NEAR
from anabranch.advice.links import PACKET_BITS, Link
from anabranch.advice.measured import read as read_links
from anabranch.files import atomic_write
from anabranch.result import Recording, Result
from anabranch.statistics import Interval, ratio_of_means
from at_once import together

OUT = Path("measurements/advice-on-linux.json")
CAPTURES = Path("out/advice")
PAIRS = 20
RUNS = 5
SEED = 1

MEASURED = ("cubic", "bbr", "lia", "olia", "balia", "lia+sbd", "coupled-cubic")
"""The candidates that are run."""

DURATION_S, WARMUP_S = 30, 10
TIMES = (f"duration={DURATION_S} s", f"warmup={WARMUP_S} s")
MEASURED_SPAN = Span(DURATION_S, WARMUP_S)
TOTAL_BPS = 130_000_000
"""The most that all networks of one run carry: the emulator can do that within its times."""
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


def networks(situation: Situation) -> dict[str, dict[str, Any]]:
    """What is run on a pair, as scenarios: each candidate on both links, and CUBIC on one."""
    every = list(range(len(situation.links)))
    found = {name: document(situation, name, every) for name in MEASURED}
    for place in every:
        found[single(situation.links[place].name)] = document(situation, OTHER, [place])
    return found


def single(link: str) -> str:
    """The name of the run of CUBIC on that link alone."""
    return f"{OTHER} on {link}"


def capture() -> None:
    """Captures what is missing."""
    CAPTURES.mkdir(parents=True, exist_ok=True)
    for number in range(PAIRS):
        file = CAPTURES / f"pair{number}.pcapng"
        if not file.exists():
            situation, _ = draw(number)
            scenario = Scenario.written(networks(situation)[OTHER])
            recording = Recording(pcap=file)
            linux.run(scenario, (number + 1,), overrides=TIMES, recording=recording)


def measure(times: int) -> None:
    """Runs each pair as often as that; what is missing."""
    kept = read()
    for time_, number in itertools.product(range(times), range(PAIRS)):
        situation, shared = draw(number)
        row = kept["pairs"].setdefault(str(number), {"shared": shared, "runs": []})
        row["links"] = [vars(link) for link in situation.links]
        row["common_bps"] = situation.shared_bps
        if len(row["runs"]) > time_:
            continue
        seed = PAIRS * time_ + number + 1
        run: dict[str, Any] = {"seed": seed, "invalid_because": [], "rate_bps": {}}
        found, at_once = networks(situation), max(1, TOTAL_BPS // situation.total_bps)
        for first in range(0, len(found), at_once):
            some = dict(list(found.items())[first : first + at_once])
            names = {f"n{place}": name for place, name in enumerate(some)}
            scenario = together("advice", dict(zip(names, some.values(), strict=True)))
            result = linux.run(
                Scenario.written(scenario), (seed,), overrides=TIMES, keep_invalid=True
            )
            run["invalid_because"] += result.runs[0].invalid_because
            run["rate_bps"] |= rates(result, names)
        row["runs"].append(run)
        print(number, run, flush=True)
        atomic_write(OUT, json.dumps(kept, indent=1) + "\n")


def rates(result: Result, names: dict[str, str]) -> dict[str, dict[str, int]]:
    """Mean rates of the classes of each network in bit/s, by the networks' names."""
    found: dict[str, dict[str, int]] = {name: {} for name in names.values()}
    for planned in result.plan.classes:
        network, _, name = planned.name.partition("-")
        found[names[network]][name] = round(float(result.rate(planned.name).mean()))
    return found


def compare() -> None:
    """Advises from the capture of each pair, and holds it against what was measured.

    What one run is foreseen to have is simulated as long as runs were: the advice itself rests on
    longer simulations.
    """
    kept = read()
    candidates = [one for one in CANDIDATES if one.controller in MEASURED]
    for number, row in kept["pairs"].items():
        measured = read_links(str(CAPTURES / f"pair{number}.pcapng"))
        began_s = time.monotonic()
        advice = advise([], measured=measured, candidates=candidates)
        seconds = time.monotonic() - began_s
        short = advise([], measured=measured, candidates=candidates, span=MEASURED_SPAN)
        row["advice"] = {
            "seconds": round(seconds, 1),
            "measured": [one.to_json() for one in measured.fitted],
            "shared": advice.shared,
            "chosen": advice.best.candidate.controller,
            "kept": {
                one.candidate.controller: one.case(advice.shared).kept.to_json()
                for one in advice.outcomes
            },
            "between_bps": {
                one.candidate.controller: list(one.case(short.shared).between_bps)
                for one in short.outcomes
            },
        }
        atomic_write(OUT, json.dumps(kept, indent=1) + "\n")
    print(told(kept))


def told(kept: dict[str, Any]) -> str:
    """A line for each pair, and totals. Rates are means over runs; each run is inside or not."""
    lines, near, covered, cases = [], 0, 0, 0
    for number, row in kept["pairs"].items():
        advice = row["advice"]
        mine = {name: of(row, name, MINE) for name in MEASURED}
        keep = {name: left(row, name) for name in MEASURED}
        fair = [name for name in MEASURED if keep[name].mean >= KEPT] or list(MEASURED)
        best = max(fair, key=lambda name: mine[name].mean())
        part = ratio_of_means(mine[advice["chosen"]], mine[best])
        near += part.mean >= 1.0 - NEAR
        inside = [
            (low <= mine[name]) & (mine[name] <= high)
            for name, (low, high) in advice["between_bps"].items()
        ]
        covered, cases = covered + int(np.sum(inside)), cases + np.size(inside)
        lines.append(
            f"{number:>2} {'shared' if row['shared'] else 'apart ':6} found {advice['shared']!s:5} "
            f"chosen {advice['chosen']:13} leaves {shown(keep[advice['chosen']])}, "
            f"best {best:13} {shown(part)}, inside {np.mean(inside):.2f}, {advice['seconds']} s"
        )
    lines.append(f"within {100 * NEAR:g} %: {near} of {len(kept['pairs'])}")
    lines.append(f"inside: {covered} of {cases}")
    return "\n".join(lines)


def shown(value: Interval) -> str:
    """With its half width."""
    return f"{value.mean:.2f} ± {value.half:.2f}"


def of(row: dict[str, Any], network: str, name: str) -> NDArray[np.float64]:
    """Rates of a class in a network in bit/s, by run."""
    return np.array([run["rate_bps"][network][name] for run in row["runs"]], float)


def left(row: dict[str, Any], candidate: str) -> Interval:
    """The part that others kept of the least beside one TCP, on the link where it is least."""
    singles = [single(link["name"]) for link in row["links"]]
    parts = [Interval(1.0, 0.0, len(row["runs"]))]
    for other in row["runs"][0]["rate_bps"][candidate]:
        if other != MINE:
            least = min((of(row, one, other) for one in singles), key=np.mean)
            parts.append(ratio_of_means(of(row, candidate, other), least))
    return min(parts, key=lambda part: part.mean)


def read() -> dict[str, Any]:
    """What was measured before."""
    if OUT.exists():
        kept: dict[str, Any] = json.loads(OUT.read_text())
        return kept
    return {"seed": SEED, "kernel": platform.release(), "seconds": DURATION_S, "pairs": {}}


if __name__ == "__main__":
    if sys.argv[1:] == ["capture"]:
        capture()
    elif sys.argv[1:2] == ["measure"]:
        measure(int(sys.argv[2]) if len(sys.argv) > 2 else RUNS)
    elif sys.argv[1:] == ["compare"]:
        compare()
    else:
        sys.exit(__doc__)
