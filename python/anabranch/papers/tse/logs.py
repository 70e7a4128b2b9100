"""Small runs with a log of every packet and window: the steps of a scheme, read from qlog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..laboratory import Configuration, scenario_of
from ..library import Floats
from ..logs import Event, Steps, steps, traced
from .reading import ENSEMBLE


@dataclass(frozen=True)
class PathLog:
    """Events of one path: times in seconds."""

    sent_s: Floats
    offsets: Floats
    """Data sequence number of each packet sent."""
    acked_s: Floats
    windows: Steps
    """In segments."""
    rtts: Steps
    """The smoothed round trip in seconds."""
    state_s: Floats
    states: list[str]

    def state(self, at_s: float) -> str:
        """The state before a time."""
        index = int(np.searchsorted(self.state_s, at_s, side="left")) - 1
        return self.states[index] if index >= 0 else ""

    def begins(self, state: str, at_s: float) -> bool:
        """Whether a state begins at a time."""
        first, last = (int(np.searchsorted(self.state_s, at_s, side=s)) for s in ("left", "right"))
        return state in self.states[first:last]

    def mean_rtt(self, start_s: float, end_s: float) -> float:
        """Mean of the smoothed round trip within a time."""
        first, last = np.searchsorted(self.rtts.t_s, (start_s, end_s))
        return float(np.mean(self.rtts.values[first:last])) if last > first else float("nan")


@lru_cache(maxsize=2)
def logged(cell: Configuration) -> list[PathLog]:
    """A run of a cell with seed 1: the log of each of the ensemble's paths."""
    result, traces = traced(scenario_of(cell), ENSEMBLE, overrides=cell.overrides)
    payload = next(c.payload_bytes for c in result.plan.classes if c.name == ENSEMBLE)
    return [_read(events, payload) for events in traces]


def _read(events: Sequence[Event], payload: int) -> PathLog:
    """One path's events in columns."""
    names = ("packet_sent", "packet_received", "congestion_state_updated")
    sent, received, states = ([e for e in events if e["name"].endswith(f":{n}")] for n in names)
    sent_s, acked_s, state_s = (
        np.array([e["time"] / 1e3 for e in many]) for many in (sent, received, states)
    )
    frames = [event["data"].get("frames") for event in sent]
    return PathLog(
        sent_s,
        np.array([own[0]["offset"] if own else -1 for own in frames], dtype=float),
        acked_s,
        steps(events, "congestion_window", payload),
        steps(events, "smoothed_rtt", 1e3),
        state_s,
        [event["data"]["new"] for event in states],
    )


def changes(log: PathLog) -> list[tuple[float, float, float]]:
    """Times at which a window changed, and the window before and after."""
    t_s, values = log.windows
    last = np.append(np.diff(t_s) > 0, True)  # the last of those at the same time
    times, after = t_s[last].tolist(), values[last].tolist()
    return list(zip(times[1:], after[:-1], after[1:], strict=True))
