"""Measures on the kernel what `lia+sbd` takes where all paths share, where none do, and where the
bottleneck moves.

    sudo .venv/bin/python tools/couple_on_linux.py still [TIMES]    # 90 s each; goes on
    sudo .venv/bin/python tools/couple_on_linux.py moving [TIMES]   # 4 minutes each; goes on

The networks are those of `anabranch.sharing.closed_loop`: 1, 2, 4 and 8 subflows beside four TCPs
over one link, and two subflows on links of their own, under `lia+sbd` and under Reno; then 2, 4
and 8 subflows whose bottleneck is a common link, links of their own, and the common one again.
They do not touch, and run at once. Prints intervals and writes measurements/coupling-on-linux.json.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import Scenario, linux
from anabranch.files import atomic_write
from anabranch.result import Result
from anabranch.sharing import closed_loop
from anabranch.statistics import interval, ratio_of_means
from side_by_side import together

OUT = Path("measurements/coupling-on-linux.json")
LAW, UNCOUPLED = "lia+sbd", "reno"
SUBFLOWS = (1, 2, 4, 8)
MOVING = (2, 4, 8)
APART = 2
"""Subflows on links of their own."""
TIMES = {"still": ("duration=80 s", "warmup=20 s"), "moving": ()}
SETTLED_S = 30
"""From a move until rates count."""
SPANS = dict(
    zip(
        ("together", "apart", "again"),
        [
            (closed_loop.WARMUP_S, closed_loop.MOVES_AT_S[0]),
            (closed_loop.MOVES_AT_S[0] + SETTLED_S, closed_loop.MOVES_AT_S[1]),
            (closed_loop.MOVES_AT_S[1] + SETTLED_S, sum(closed_loop.MOVES_AT_S)),
        ],
        strict=True,
    )
)
"""The bottleneck is common, the subflows' own, and common again: from when to when, in seconds."""


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


def moving() -> dict[str, dict[str, Any]]:
    """Networks whose bottleneck moves, under the law and uncoupled."""
    found = {f"moving{n}": under(closed_loop.moving(n), LAW) for n in MOVING}
    return found | {f"uncoupled{n}": under(closed_loop.moving(n), UNCOUPLED) for n in MOVING}


def rates(found: Result) -> dict[str, int]:
    """The mean rate of a user of each class in bit/s."""
    return {one.name: round(float(found.rate(one.name).mean())) for one in found.plan.classes}


def rates_by_span(found: Result) -> dict[str, dict[str, int]]:
    """The mean rate of each class in bit/s, in each of the spans."""
    (run,) = found.runs
    times_s, arrived = np.asarray(run.series.t_s), np.asarray(run.series.paths.arrived_bytes)
    classes = np.asarray(run.flows.class_)[np.asarray(run.paths.flow)]
    spans: dict[str, dict[str, int]] = {}
    for name, (since_s, until_s) in SPANS.items():
        first, last = np.searchsorted(times_s, (since_s, until_s - 1e-9))
        bits = 8.0 * (arrived[last] - arrived[first]) / (times_s[last] - times_s[first])
        spans[name] = {
            one: round(float(bits[classes == one].sum())) for one in sorted(set(classes.tolist()))
        }
    return spans


FORMS: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[Result], dict[str, Any]]]] = {
    "still": (still, rates),
    "moving": (moving, rates_by_span),
}


def measure(form: str, times: int) -> list[dict[str, Any]]:
    """Runs what is missing; returns the rows."""
    kept: dict[str, Any] = json.loads(OUT.read_text()) if OUT.exists() else {}
    kept["kernel"] = platform.release()
    rows: list[dict[str, Any]] = kept.setdefault(form, [])
    networks, taken = FORMS[form]
    scenario = Scenario.written(together("coupling", networks()))
    for seed in range(len(rows) + 1, times + 1):
        found = linux.run(
            scenario,
            (seed,),
            overrides=TIMES[form],
            keep_invalid=True,
            series=form == "moving",
        )
        row = {"seed": seed, "valid": found.runs[0].valid, "rate_bps": taken(found)}
        rows.append(row)
        print(row, flush=True)
        atomic_write(OUT, json.dumps(kept, indent=1) + "\n")
    return rows


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
    for n in MOVING:
        for span in SPANS:
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
