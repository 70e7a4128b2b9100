"""Unacknowledged data of the multipath client, read from logs of short runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...scenario import load
from ..laboratory import Configuration, Laboratory
from ..library import Cell, Floats, measure
from ..logs import Event, traced

SHORT = ("duration=15 s", "warmup=5 s")
"""A log has every packet: 15 s are 30 MB."""
START_S, END_S, STEP_S = 5.0, 15.0, 0.1


@dataclass(frozen=True)
class Queue:
    """Window and unacknowledged data of one path over time, in bytes of payload."""

    t_s: Floats
    window_bytes: Floats
    sent_bytes: Floats

    @property
    def difference(self) -> float:
        """Median of |send queue - window| / window."""
        return float(np.median(np.abs(self.sent_bytes - self.window_bytes) / self.window_bytes))


@cache
def send_queues(cell: Configuration, seed: int) -> tuple[Queue, ...]:
    """Both paths of the multipath client in a short run of a cell."""
    asked: dict[str, Any] = {"controller": cell.controller, "overrides": (*cell.overrides, *SHORT)}
    _, traces = traced(load(cell.scenario), "multipath", seed=seed, **asked)
    return tuple(map(_sampled, traces))


@measure
def queue_difference(lab: Laboratory, cell: Cell, number: int) -> Floats:
    """Median of |unacknowledged data - window| / window of a path of the multipath client, in short
    runs with the cell's seeds.
    """
    one = lab.configurations[cell]
    return np.array([send_queues(one, seed)[number].difference for seed in lab[cell].seeds])


def _sampled(events: Sequence[Event]) -> Queue:
    """Window and unacknowledged data at equal steps; data sent after an ACK counts at once."""
    rows, window, waiting = [], 0.0, 0.0
    for event in events:
        match event["name"], event["data"]:
            case "recovery:metrics_updated", data:
                window, waiting = data["congestion_window"], data["bytes_in_flight"]
            case "transport:packet_sent", data:
                waiting += data["raw"]["payload_length"]
            case _:
                continue
        rows.append((event["time"] / 1e3, window, waiting))
    times, windows, sent = np.array(rows).T
    at = np.arange(START_S, END_S, STEP_S)
    index = np.searchsorted(times, at, side="right") - 1
    return Queue(at, windows[index], sent[index])
