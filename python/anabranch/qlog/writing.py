"""A qlog of samples, for worlds that look at their connections now and then: the real kernel.

The form is that of the simulator's (crates/simulator/src/watch/qlog/draft.rs): the current drafts,
draft-ietf-quic-qlog-main-schema-14 and draft-ietf-quic-qlog-quic-events-13. There is one stream of
events for a connection, and each event has its path as `tuple` and as `path_id`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..plan import Plan
from ..records import Numbers
from ..runs import Run

EVENTS = "urn:ietf:params:qlog:events:quic-13"
"""Identifies the events (quic-events-13 §2.1)."""

DESCRIPTION = (
    "anabranch, samples of the kernel: delivered_bytes and packets_lost count from the start and are no "
    "fields of the drafts, which leave this event open (quic-events-13 §7.2)"
)


@dataclass(frozen=True)
class Sampled:
    """A run with series, as a log."""

    plan: Plan
    run: Run
    lost: Numbers
    """Packets that were sent again on each path until each sample; NaN where it is not open."""
    ends: Sequence[tuple[str, str]]
    """The addresses of the sender and the receiver on each path."""

    def write(self, path: Path, *, sequential: bool) -> None:
        """Writes JSON-SEQ, or JSON with a trace for each connection. Raises OSError."""
        title = f"{self.plan.name} with seed {self.run.seed}"
        kind, form = ("sequential", "json-seq") if sequential else ("contained", "json")
        head = {
            "file_schema": f"urn:ietf:params:qlog:file:{kind}",
            "serialization_format": f"application/qlog+{form}",
            "title": title,
            "description": DESCRIPTION,
        }
        with path.open("w", encoding="utf-8") as file:
            if sequential:
                for one in [head | {"trace": trace({})}, *self._events(None)]:
                    file.write(f"\x1e{dumped(one)}\n")
                return
            file.write(dumped(head)[:-1] + ',"traces":[')
            for flow in range(len(self.run.flows.user)):
                comma = "," if flow else ""
                outer = dumped(trace({"group_id": self._group(flow)}))[:-1]
                events = ",\n".join(dumped(one) for one in self._events(flow))
                file.write(f'{comma}\n{outer},"events":[{events}]}}')
            file.write("\n]}\n")

    def _group(self, flow: int) -> str:
        flows = self.run.flows
        return f"{flows.class_[flow]}.{flows.user[flow]}"

    def _events(self, flow: int | None) -> Iterator[dict[str, Any]]:
        """The events of a connection, or of all with their connection, in the order of time."""
        paths = self.run.paths
        known: dict[int, dict[str, Any]] = {}
        for sample, at_s in enumerate(self.run.series.t_s.tolist()):
            for row in range(len(paths.flow)):
                of = int(paths.flow[row])
                if flow is not None and of != flow:
                    continue
                values = self._metrics(sample, row)
                if not values:
                    continue
                tuple_id = f"p{paths.path[row]}"
                place = {"time": 1e3 * at_s, "tuple": tuple_id, "path_id": int(paths.path[row])}
                if flow is None:
                    place["group_id"] = self._group(of)
                if row not in known:
                    here, there = self.ends[row]
                    assigned = {
                        "tuple_id": tuple_id,
                        "tuple_local": {"ip_v4": here},
                        "tuple_remote": {"ip_v4": there},
                    }
                    yield {**place, "name": "quic:tuple_assigned", "data": assigned}
                before = known.setdefault(row, {})
                changed = {key: one for key, one in values.items() if before.get(key) != one}
                if changed:
                    before.update(changed)
                    name = "quic:recovery_metrics_updated"
                    yield {**place, "name": name, "data": changed}

    def _metrics(self, sample: int, row: int) -> dict[str, Any]:
        """The metrics of a path at a sample; nothing where it is not open."""
        series = self.run.series.paths
        names = [c.name for c in self.plan.classes]
        class_ = self.run.flows.class_[int(self.run.paths.flow[row])]
        payload = self.plan.classes[names.index(class_)].payload_bytes
        cwnd = series.cwnd_segments[sample, row]
        if np.isnan(cwnd):
            return {}
        values: dict[str, Any] = {"congestion_window": int(cwnd * payload)}
        ssthresh = series.ssthresh_segments[sample, row]
        if np.isfinite(ssthresh):
            values["ssthresh"] = int(ssthresh * payload)
        if series.srtt_s[sample, row] > 0:
            values["smoothed_rtt"] = 1e3 * float(series.srtt_s[sample, row])
        values["delivered_bytes"] = int(series.arrived_bytes[sample, row])
        if not np.isnan(self.lost[sample, row]):
            values["packets_lost"] = int(self.lost[sample, row])
        return values


def trace(common: dict[str, Any]) -> dict[str, Any]:
    """What a trace says of itself; its clock begins with the run."""
    clock = {"clock_type": "monotonic", "epoch": "unknown"}
    return {
        "common_fields": {"time_format": "relative_to_epoch", "reference_time": clock, **common},
        "vantage_point": {"name": "anabranch", "type": "client"},
        "event_schemas": [EVENTS],
    }


def dumped(value: Any) -> str:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))
