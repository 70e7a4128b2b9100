"""Small runs with a log of every packet and window: the steps of a scheme, read from qlog."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...result import Recording, run
from ...scenario import load
from ..laboratory import Configuration
from ..library import Floats
from .comparing import ENSEMBLE


@dataclass(frozen=True)
class PathLog:
    """Events of one path: times in seconds, windows in segments."""

    sent_s: Floats
    offsets: Floats
    """Data sequence number of each packet sent."""
    acked_s: Floats
    changed_s: Floats
    """When the window was written down."""
    windows: Floats
    state_s: Floats
    states: list[str]
    measured_s: Floats
    """When the smoothed round trip was written down."""
    rtts_s: Floats

    def window(self, at_s: float) -> float:
        """The window once everything at a time has happened."""
        index = int(np.searchsorted(self.changed_s, at_s, side="right")) - 1
        return float(self.windows[index]) if index >= 0 else float("nan")

    def state(self, at_s: float) -> str:
        """The state before a time."""
        index = int(np.searchsorted(self.state_s, at_s, side="left")) - 1
        return self.states[index] if index >= 0 else ""

    def begins(self, state: str, at_s: float) -> bool:
        """Whether a state begins at a time."""
        first, last = (int(np.searchsorted(self.state_s, at_s, side=s)) for s in ("left", "right"))
        return state in self.states[first:last]

    def rtt(self, at_s: float) -> float:
        """The smoothed RTT at a time; zero before the first sample."""
        index = int(np.searchsorted(self.measured_s, at_s, side="right")) - 1
        return float(self.rtts_s[index]) if index >= 0 else 0.0

    def mean_rtt(self, start_s: float, end_s: float) -> float:
        """Mean of the smoothed round trip within a time."""
        first, last = np.searchsorted(self.measured_s, (start_s, end_s))
        return float(np.mean(self.rtts_s[first:last])) if last > first else float("nan")


@lru_cache(maxsize=2)
def logged(cell: Configuration) -> list[PathLog]:
    """A run of a cell with seed 1: the log of each of the ensemble's paths."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.qlog"
        scenario = load(cell.scenario)
        result = run(scenario, (1,), overrides=cell.overrides, recording=Recording(qlog=file))
        traces = json.loads(file.read_text())["traces"]
    payload = next(c.payload_bytes for c in result.plan.classes if c.name == ENSEMBLE)
    own = [trace for trace in traces if trace["title"].startswith(f"{ENSEMBLE}.0.")]
    return [_read(trace["events"], payload) for trace in own]


def _read(events: list[dict[str, Any]], payload: int) -> PathLog:
    """One path's events in columns."""
    of: dict[str, list[tuple[float, dict[str, Any]]]] = {}
    for event in events:
        of.setdefault(event["name"], []).append((event["time"] / 1e3, event["data"]))
    sent = of.get("transport:packet_sent", [])
    received = of.get("transport:packet_received", [])
    metrics = of.get("recovery:metrics_updated", [])
    states = of.get("recovery:congestion_state_updated", [])
    windows = [
        (t, data["congestion_window"] / payload)
        for t, data in metrics
        if "congestion_window" in data
    ]
    rtts = [(t, data["smoothed_rtt"] / 1e3) for t, data in metrics if "smoothed_rtt" in data]
    offsets = [data["frames"][0]["offset"] if data.get("frames") else -1 for _, data in sent]
    return PathLog(
        sent_s=np.array([t for t, _ in sent]),
        offsets=np.array(offsets, dtype=float),
        acked_s=np.array([t for t, _ in received]),
        changed_s=np.array([t for t, _ in windows]),
        windows=np.array([window for _, window in windows]),
        state_s=np.array([t for t, _ in states]),
        states=[data["new"] for _, data in states],
        measured_s=np.array([t for t, _ in rtts]),
        rtts_s=np.array([rtt for _, rtt in rtts]),
    )


def changes(log: PathLog) -> tuple[Floats, Floats, Floats]:
    """Times at which a window changed, and the window before and after."""
    last = np.append(np.diff(log.changed_s) > 0, True)  # the last of those at the same time
    times, after = log.changed_s[last], log.windows[last]
    return times[1:], after[:-1], after[1:]
