"""Measures on the kernel what `lia+sbd` takes where all paths share, where none do, and where the
bottleneck moves.

    sudo .venv/bin/python tools/couple_on_linux.py still [TIMES]    # 90 s each; goes on
    sudo .venv/bin/python tools/couple_on_linux.py moving [TIMES]   # 8 minutes each; goes on

The networks are those of `anabranch.sharing.closed_loop`: 1, 2, 4 and 8 subflows beside four TCPs
over one link, and two subflows on links of their own, under `lia+sbd` and under Reno; then 2, 4
and 8 subflows whose bottleneck is a common link, links of their own, and the common one again.
They do not touch, and run at once where the emulator can. Prints intervals and writes
measurements/coupling-on-linux.json.
"""

from __future__ import annotations

import itertools
import json
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import Scenario, linux
from anabranch.files import atomic_write
from anabranch.result import Result
from anabranch.sharing import closed_loop
from anabranch.statistics import interval, ratio_of_means
from at_once import together

OUT = Path("measurements/coupling-on-linux.json")
LAW, UNCOUPLED = "lia+sbd", "reno"
SUBFLOWS = (1, 2, 4, 8)
MOVING = (2, 4), (8,)
"""Subflows where the bottleneck moves; those of a group run at once, 200 Mb/s at most."""
APART = 2
"""Subflows on links of their own."""
TIMES = {"still": ("duration=80 s", "warmup=20 s"), "moving": ()}


def under(document: dict[str, Any], controller: str) -> dict[str, Any]:
    """The network with this controller of its subject."""
    subject = next(flow for flow in document["flow"] if flow.pop("subject", False))
    subject["controller"] = controller
    return document


def still() -> dict[str, dict[str, Any]]:
    """Networks whose bottlenecks stay where they are."""
    found = {f"shared{n}": under(closed_loop.shared(n), LAW) for n in SUBFLOWS}
    found["apart"] = under(closed_loop.disjoint(APART), LAW)
    found["uncoupled"] = under(closed_loop.disjoint(APART), UNCOUPLED)
    return found


def moving(subflows: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Networks whose bottleneck moves, under the law and uncoupled."""
    found = {f"moving{n}": under(closed_loop.moving(n), LAW) for n in subflows}
    return found | {f"uncoupled{n}": under(closed_loop.moving(n), UNCOUPLED) for n in subflows}


def rates(found: Result) -> dict[str, int]:
    """The mean rate of a user of each class in bit/s."""
    return {one.name: round(float(found.rate(one.name).mean())) for one in found.plan.classes}


def rates_by_span(found: Result) -> dict[str, dict[str, int]]:
    """The rate of each class in bit/s, in each of the spans."""
    (run,) = found.runs
    spans = closed_loop.rates_by_span(run)
    return {
        span: {name: round(rate) for name, rate in rates.items()} for span, rates in spans.items()
    }


Taken = Callable[[Result], dict[str, Any]]
FORMS: dict[str, tuple[list[dict[str, Any]], Taken]] = {
    "still": ([still()], rates),
    "moving": ([moving(subflows) for subflows in MOVING], rates_by_span),
}


def measure(form: str, times: int) -> list[dict[str, Any]]:
    """Runs what is missing; returns the rows."""
    kept: dict[str, Any] = json.loads(OUT.read_text()) if OUT.exists() else {}
    kept["kernel"] = platform.release()
    rows: list[dict[str, Any]] = kept.setdefault(form, [])
    for seed in range(len(rows) + 1, times + 1):
        rows.append(replication(form, seed))
        print(rows[-1], flush=True)
        atomic_write(OUT, json.dumps(kept, indent=1) + "\n")
    return rows


def replication(form: str, seed: int) -> dict[str, Any]:
    """All networks of a form, once."""
    groups, taken = FORMS[form]
    row: dict[str, Any] = {"seed": seed, "invalid_because": [], "rate_bps": {}}
    for networks in groups:
        scenario = Scenario.written(together("coupling", networks))
        how: dict[str, Any] = {"overrides": TIMES[form], "keep_invalid": True}
        found = linux.run(scenario, (seed,), series=form == "moving", **how)
        row["invalid_because"] += found.runs[0].invalid_because
        for name, value in taken(found).items():
            row["rate_bps"][name] = (
                row["rate_bps"].get(name, {}) | value if isinstance(value, dict) else value
            )
    return row


def told(form: str, rows: list[dict[str, Any]]) -> str:
    """A line for each network, with intervals over replications."""
    return "\n".join(told_still(rows) if form == "still" else told_moving(rows))


def told_still(rows: list[dict[str, Any]]) -> list[str]:
    """Of networks whose bottlenecks stay where they are."""

    def of(name: str) -> NDArray[np.float64]:
        return np.array([row["rate_bps"][name] for row in rows], float)

    lines = [
        f"{n} subflows, one link: {interval(of(f'shared{n}-subject') / of(f'shared{n}-tcp'))} TCPs"
        for n in SUBFLOWS
    ]
    part = interval(of("apart-subject") / of("uncoupled-subject"))
    return [*lines, f"{APART} links: {part} of uncoupled"]


def told_moving(rows: list[dict[str, Any]]) -> list[str]:
    """Of networks whose bottleneck moves."""

    def of(span: str, name: str) -> NDArray[np.float64]:
        return np.array([row["rate_bps"][span][name] for row in rows], float)

    lines = []
    for n in itertools.chain(*MOVING):
        for span in closed_loop.SPANS:
            tcps = [of(span, f"moving{n}-tcp-{place}") for place in range(n)]
            mine, uncoupled = (of(span, f"{law}{n}-subject") for law in ("moving", "uncoupled"))
            lines.append(
                f"{n} subflows, {span}: {ratio_of_means(mine, max(tcps, key=np.mean))} of the "
                f"fastest TCP, {ratio_of_means(mine, uncoupled)} of uncoupled"
            )
    return lines


if __name__ == "__main__":
    if sys.argv[1:2] not in (["still"], ["moving"]):
        sys.exit(__doc__)
    form = sys.argv[1]
    print(told(form, measure(form, int(sys.argv[2]) if len(sys.argv) > 2 else 8)))
