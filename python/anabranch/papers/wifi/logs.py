"""Unacknowledged data of the multipath client, read from logs of short runs."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...result import Recording, run
from ...scenario import load
from ..laboratory import Configuration, Laboratory
from ..library import Cell, Floats, measure

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
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.qlog"
        recording = Recording(qlog=file)
        changes = (*cell.overrides, *SHORT)
        run(
            load(cell.scenario),
            (seed,),
            controller=cell.controller,
            overrides=changes,
            recording=recording,
        )
        traces = json.loads(file.read_text())["traces"]
    own = [trace for trace in traces if trace["title"].startswith("multipath.0.")]
    return tuple(_sampled(trace["events"]) for trace in own)


@measure
def queue_difference(lab: Laboratory, cell: Cell, number: int) -> Floats:
    """Median of |unacknowledged data - window| / window of a path of the multipath client, in short
    runs with the cell's seeds.
    """
    one = lab.configurations[cell]
    return np.array([send_queues(one, seed)[number].difference for seed in lab[cell].seeds])


def _sampled(events: list[dict[str, Any]]) -> Queue:
    """Window and unacknowledged data at equal steps; data sent after an ACK counts at once."""
    times, windows, sent = [], [], []
    window = waiting = 0.0
    for event in events:
        match event["name"]:
            case "recovery:metrics_updated":
                window = event["data"]["congestion_window"]
                waiting = event["data"]["bytes_in_flight"]
            case "transport:packet_sent":
                waiting += event["data"]["raw"]["payload_length"]
            case _:
                continue
        times.append(event["time"] / 1e3)
        windows.append(window)
        sent.append(waiting)
    at = np.arange(START_S, END_S, STEP_S)
    index = np.searchsorted(times, at, side="right") - 1
    return Queue(at, np.array(windows)[index], np.array(sent)[index])
