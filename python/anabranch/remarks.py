"""Remarks on a result that its numbers do not show: too few events, data of the warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .controller import facts
from .plan import Class, Plan
from .records import Numbers
from .runs import Run

FEWEST_EVENTS = 10
"""Congestion events of a path below which a run is too short: its mean rate still depends on where
in a sawtooth the run begins and ends."""


@dataclass(frozen=True)
class ShortPath:
    """A path with fewer than `FEWEST_EVENTS` congestion events after the warm-up."""

    class_: str
    path: int
    events: float
    """Fast recoveries, timeouts and reductions for marks, mean over users and replications; where
    the world does not count them, retransmissions: each event takes one at least."""

    def to_json(self) -> dict[str, Any]:
        """The path as plain data."""
        return {key.rstrip("_"): value for key, value in asdict(self).items()}


def short_paths(plan: Plan, runs: Sequence[Run]) -> list[ShortPath]:
    """The paths that are too short to judge: of flows of TCP that always have data.

    A path without any event counts only under a law, which backs off for losses and marks alone.
    """
    if not runs or not all(run.has("paths") and run.paths.has("retransmits") for run in runs):
        return []
    found = []
    for c in plan.classes:
        if c.protocol != "tcp" or c.transfer_bytes is not None or c.app_rate_bps is not None:
            continue
        for path in range(len(c.paths)):
            events = float(np.mean([_events(run, c.name, path) for run in runs]))
            if events < FEWEST_EVENTS and (events > 0 or (facts(c) or {}).get("law")):
                found.append(ShortPath(c.name, path, events))
    return found


def short_text(paths: Sequence[ShortPath], counted: bool = True) -> str:
    """A sentence on paths that are too short to judge, `counted` where their events were."""
    classes = dict.fromkeys(one.class_ for one in paths)
    listed = ", ".join(_listed([one for one in paths if one.class_ == name]) for name in classes)
    events = "congestion events" if counted else "retransmissions"
    return (
        f"too short to judge: fewer than {FEWEST_EVENTS} {events} per user on {listed}; a longer duration, "
        "not more replications, makes rates less dependent on where a run ends"
    )


def _listed(paths: Sequence[ShortPath]) -> str:
    """Paths of one class, with their events."""
    events = [f"{one.events:.1f}" for one in paths]
    least, most = (
        f"{min(one.events for one in paths):.1f}",
        f"{max(one.events for one in paths):.1f}",
    )
    counts = (
        ", ".join(events) if len(events) < 4 else least if least == most else f"{least} to {most}"
    )
    numbers = ", ".join(str(one.path) for one in paths)
    return f"{paths[0].class_} path{'s' * (len(paths) > 1)} {numbers} ({counts})"


def floor_texts(plan: Plan) -> list[str]:
    """A sentence for each class whose `min_ssthresh` overrides the floor of its law."""
    found = []
    for c in plan.classes:
        own = (facts(c) or {}).get("min_ssthresh") if c.controller else None
        if own is None or c.min_ssthresh in (None, own) or len(c.paths) < 2:
            continue
        found.append(
            f"{c.name}: `min_ssthresh` is {c.min_ssthresh:g}, where the floor of {c.controller} is {own:g} "
            "(segments, on coupled paths)"
        )
    return found


def late_text(plan: Plan, c: Class, throughput_bps: float, goodput_bps: float) -> str:
    """Why a class has more goodput than throughput; empty if it does not.

    Throughput counts packets that arrive after the warm-up, goodput counts payload delivered to the
    application then. Data that arrived earlier and waited for a hole to be filled counts for
    goodput only.
    """
    if not goodput_bps > throughput_bps:
        return ""
    arrived_bps = throughput_bps * c.payload_bytes / c.packet_bytes
    late_bytes = (goodput_bps - arrived_bps) * (plan.duration_s - plan.warmup_s) / 8
    return (
        f"{c.name}: goodput is above throughput, as about {late_bytes / 1e6:.3g} MB per user had arrived during the "
        "warm-up and waited in the reordering buffer at its end; a longer duration makes them matter less"
    )


def counts_events(run: Run) -> bool:
    """Whether the world counts fast recoveries; the kernel does not."""
    return (
        run.has("paths")
        and run.paths.has("recoveries")
        and not bool(np.isnan(run.paths.recoveries).any())
    )


def _events(run: Run, name: str, path: int) -> Numbers:
    """Congestion events of each user of a class on a path, or an upper bound on them."""
    rows = run.paths
    own = (np.asarray(run.flows.class_)[rows.flow] == name) & (rows.path == path)
    counted = ("recoveries", "timeouts", "marks") if counts_events(run) else ("retransmits",)
    kinds = [kind for kind in counted if rows.has(kind)]
    return np.asarray(sum(rows.column(kind)[own] for kind in kinds), dtype=float)
