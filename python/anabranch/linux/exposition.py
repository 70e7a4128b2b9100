"""The status for a system that monitors machines: OpenMetrics 1.0, which Prometheus reads.

Series are per controller and not per connection, so that their number is bounded. Controllers of
running scenarios, whose names have numbers of processes, are one controller together. All but the
controllers' own counters are gauges: they are of the connections that are open now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .observe import ConnectionStatus, Status, SubflowStatus

PREFIX = "anabranch_"

OTHER = "other"
"""Stands for all controllers that are not loaded for good: those of running scenarios, and those
that were removed while sockets had them."""

COUNTERS = {
    "acks": ("acks", "ACKs that the controller saw."),
    "coupled": ("coupled_acks", "ACKs at which the law moved the window."),
    "losses": ("congestion_events", "Congestion events."),
    "missed": ("missed_acks", "ACKs that passed without a callback."),
    "mismatches": ("mismatches", "Congestion states that changed without a callback."),
    "repairs": ("repairs", "Windows and thresholds that the guard corrected."),
    "crowded": ("crowded_acks", "ACKs of connections with too many subflows to be coupled."),
}
"""For each counter of a controller the name of its metric, and its meaning."""

GROWTH = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 2.0)
SRTT_S = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
CWND = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
"""Upper ends of the buckets; one more takes the rest."""

Labels = dict[str, str]


@dataclass(frozen=True)
class Family:
    """Samples of one metric."""

    name: str
    kind: str
    help: str
    samples: Sequence[tuple[Labels, float]]

    def lines(self) -> Iterator[str]:
        """The family as text."""
        full = PREFIX + self.name
        yield f"# HELP {full} {escaped(self.help)}"
        yield f"# TYPE {full} {self.kind}"
        suffix = "_total" if self.kind == "counter" else ""
        for labels, value in self.samples:
            pairs = ",".join(f'{key}="{escaped(text)}"' for key, text in labels.items())
            yield f"{full}{suffix}{f'{{{pairs}}}' if pairs else ''} {number(value)}"


def exposition(status: Status) -> str:
    """All metrics of a status as text."""
    lines = [line for family in families(status) for line in family.lines() if family.samples]
    return "\n".join([*lines, "# EOF", ""])


def families(status: Status) -> list[Family]:
    """The metrics; those of connections have a series for each controller that is loaded, also if
    it has no connection.
    """
    loaded = [{"controller": one.name} for one in status.controllers]
    groups = by_controller(status)
    rows = {name: [row for one in group for row in one.subflows] for name, group in groups.items()}
    return [
        Family(
            "controllers", "gauge", "Controllers that are loaded for good.", [({}, len(loaded))]
        ),
        Family(
            "controller_sockets",
            "gauge",
            "Sockets under the controller, in any state.",
            [
                ({**labels, "state": state}, value)
                for labels, one in zip(loaded, status.controllers, strict=True)
                for state, value in (
                    ("listening", one.listening),
                    ("other", one.sockets - one.listening),
                    ("earlier", one.earlier),
                )
            ],
        ),
        *(
            Family(
                name,
                "counter",
                meaning,
                [
                    (labels, one.counters[key])
                    for labels, one in zip(loaded, status.controllers, strict=True)
                    if key in one.counters
                ],
            )
            for key, (name, meaning) in COUNTERS.items()
        ),
        Family(
            "connections",
            "gauge",
            "Open connections under the controller.",
            [
                (
                    {"controller": name, "protocol": protocol.lower()},
                    sum(one.protocol == protocol for one in group),
                )
                for name, group in groups.items()
                for protocol in ("MPTCP", "TCP")
            ],
        ),
        *of_subflows(rows),
    ]


def by_controller(status: Status) -> dict[str, list[ConnectionStatus]]:
    """The connections of each loaded controller, and those of all others together."""
    groups: dict[str, list[ConnectionStatus]] = {one.name: [] for one in status.controllers}
    for one in status.connections:
        name = one.controller if one.controller in groups and not one.departed else OTHER
        groups.setdefault(name, []).append(one)
    return groups


def of_subflows(rows: dict[str, list[SubflowStatus]]) -> Iterator[Family]:
    """Sums and buckets over the subflows of each controller."""

    def family(name: str, meaning: str, values: dict[str, float]) -> Family:
        samples = [({"controller": name}, value) for name, value in values.items()]
        return Family(name, "gauge", meaning, samples)

    def total(read: str) -> dict[str, float]:
        return {name: sum(getattr(row, read) for row in own) for name, own in rows.items()}

    yield family("subflows", "Subflows, or TCP connections.", {k: len(v) for k, v in rows.items()})
    yield family("backup_subflows", "Subflows that are kept as a backup.", total("backup"))
    yield family("cwnd_segments", "Sum of congestion windows.", total("cwnd_segments"))
    yield family(
        "delivery_rate_bytes_per_second",
        "Sum of delivery rates, by the kernel's last sample of each subflow.",
        {name: bps / 8 for name, bps in total("rate_bps").items()},
    )
    yield buckets(
        "subflows_cwnd_segments",
        "Subflows whose congestion window is at most `le` segments.",
        {name: [row.cwnd_segments for row in own] for name, own in rows.items()},
        CWND,
    )
    yield buckets(
        "subflows_srtt_seconds",
        "Subflows whose smoothed round trip is at most `le`.",
        {name: [row.srtt_s for row in own] for name, own in rows.items()},
        SRTT_S,
    )
    yield buckets(
        "subflows_growth",
        "Coupled subflows whose growth, relative to that of one TCP, is at most `le`.",
        {
            name: [row.of_reno for row in own if row.of_reno is not None]
            for name, own in rows.items()
        },
        GROWTH,
    )


def buckets(
    name: str, meaning: str, values: dict[str, list[float]], ends: Sequence[float]
) -> Family:
    """How many values each bucket and those below it have; gauges, as connections come and go."""
    samples = [
        ({"controller": controller, "le": number(end)}, float(sum(value <= end for value in own)))
        for controller, own in values.items()
        for end in (*ends, float("inf"))
    ]
    return Family(name, "gauge", meaning, samples)


def number(value: float) -> str:
    """A value, or the end of a bucket."""
    return "+Inf" if value == float("inf") else repr(value)


def escaped(text: str) -> str:
    """A text of HELP, or the value of a label."""
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
