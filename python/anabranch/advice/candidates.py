"""What an operator may choose, and the links as a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .links import PACKET_BITS, Link

CORE = "upstream"
"""Name of the link that all paths share, where they do."""

MINE, OTHERS = "mine", "others"
"""Names of classes: the connection, and the TCPs of others on each link, with its name behind."""


@dataclass(frozen=True)
class Span:
    """How long is simulated."""

    duration_s: float
    warmup_s: float
    """From the beginning; it is not counted."""


SPAN = Span(240.0, 40.0)
"""Long enough for a dozen sawteeth over a queue of a second. A law with `+sbd` has found by the end
of the warm-up which paths share.
"""

OTHER = "cubic"
"""Controller of others: what hosts have by default."""

SCHEDULER = "linux"
"""Packet scheduler of the connection: the only one of an unmodified kernel."""

OTHERS_EACH = 1
"""TCPs of others on a link of which it was not said."""


@dataclass(frozen=True)
class Candidate:
    """A controller, and what it costs."""

    controller: str
    summary: str
    ns_per_ack: float
    """Processor time of its callbacks in the kernel in nanoseconds, over that of the kernel's own
    Reno: measured in docs/explanation/linux.md.
    """
    deciding: float = 0.0
    """The part of a processor that the process takes which decides what is coupled, at any rate:
    for one connection of two subflows.
    """

    @property
    def loaded(self) -> bool:
        """Whether the kernel gets it from `anabranch linux load`."""
        return self.controller not in ("cubic", "bbr", "reno")


DECIDING = 0.0015
"""Four passes a second, of 0.38 ms each."""

SENSING_NS = 164.0
"""What it adds to an ACK to keep round trips for what decides."""

COUPLED_CUBIC_NS = 2367.0
"""LIA's, times the ratio of the two in a session that had both."""

CANDIDATES = (
    Candidate("cubic", "CUBIC on each subflow, the default of Linux", 21.0),
    Candidate("bbr", "BBR on each subflow", 188.0),
    Candidate("reno", "Reno on each subflow", 0.0),
    Candidate("lia", "coupled: RFC 6356", 1413.0),
    Candidate("olia", "coupled", 1702.0),
    Candidate("balia", "coupled", 1337.0),
    Candidate("coupled-cubic", "coupled: as one CUBIC", COUPLED_CUBIC_NS),
    Candidate("lia+sbd", "coupled where paths share a bottleneck", 1413.0 + SENSING_NS, DECIDING),
    Candidate("olia+sbd", "coupled where paths share a bottleneck", 1702.0 + SENSING_NS, DECIDING),
    Candidate("balia+sbd", "coupled where paths share a bottleneck", 1337.0 + SENSING_NS, DECIDING),
    Candidate(
        "coupled-cubic+sbd",
        "coupled where paths share a bottleneck",
        COUPLED_CUBIC_NS + SENSING_NS,
        DECIDING,
    ),
)


SIMULATED = {"bbr": "bbr:linux"}
"""What stands in simulation for a controller of the kernel, where it is not of the same name."""

ALONE = {"coupled-cubic": "cubic"}
"""What a coupled controller is on a path alone; Reno if it is not here."""


@dataclass(frozen=True)
class Situation:
    """Links, and what is assumed about them."""

    links: tuple[Link, ...]
    up: bool
    """Whether data is sent, rather than received."""
    buffer_bytes: int
    """The receive buffer."""
    shared_bps: int | None = None
    """Rate of a link that all paths share behind the given ones; None if there is none."""
    scheduler: str = SCHEDULER

    @property
    def total_bps(self) -> int:
        """The most that the connection can have."""
        total = sum(link.rate_bps(self.up) for link in self.links)
        return total if self.shared_bps is None else min(total, self.shared_bps)

    @property
    def needed_bytes(self) -> int:
        """The receive buffer with which a loss on the slowest path stops no other path: twice what
        all paths carry in the longest round trip (RFC 8684 §3.3.1, RFC 6182 §5.3).
        """
        longest_s = max(link.trip_s + link.wait_s(self.up) for link in self.links)
        return round(2.0 * self.total_bps * longest_s / 8.0)


def document(
    situation: Situation, controller: str, paths: Sequence[int], span: Span = SPAN
) -> dict[str, Any]:
    """A scenario, as nested data: the connection over these links, and others beside it on all."""
    links: list[dict[str, Any]] = []
    flows: list[dict[str, Any]] = []
    ways = {}
    core = []
    if situation.shared_bps is not None:
        wait_s = max(link.wait_s(situation.up) for link in situation.links)
        packets = max(8, round(situation.shared_bps * wait_s / PACKET_BITS))
        links.append(_queued(CORE, situation.shared_bps, packets))
        core = [CORE]
    for number, link in enumerate(situation.links):
        name, trip_s = link.key, link.trip_s
        queued = _queued(name, link.rate_bps(situation.up), link.queue(situation.up))
        # A full queue whose exit is as fast as the next one's fills that at each departure, and
        # locks the packets of others out of it (Floyd and Jacobson 1992).
        queued["jitter"] = f"{round(1e6 * PACKET_BITS / link.rate_bps(situation.up))} us"
        if link.loss:
            queued["loss"] = {"probability": link.loss}
        links += [
            queued,
            _line(f"{name}-near", trip_s / 4.0, 0.01 * trip_s),
            _line(f"{name}-far", trip_s / 4.0),
        ]
        ways[number] = [f"{name}-near", name, *core, f"{name}-far"]
        count = OTHERS_EACH if link.others is None else link.others
        if count:
            line = f"{name}-{OTHERS}"
            links.append(_line(line, trip_s / 4.0, 0.01 * trip_s) | {"per_user": True})
            flows.append(
                {
                    "name": f"{OTHERS}-{name}",
                    "controller": OTHER,
                    "count": count,
                    "spread": "2 s",
                    "path": [{"links": [line, name, *core, f"{name}-far"]}],
                }
            )
    flows.insert(
        0,
        {
            "name": MINE,
            "controller": controller,
            "subject": True,
            "path": [{"links": ways[number]} for number in paths],
            "transport": {
                "receive_buffer": f"{situation.buffer_bytes} B",
                "scheduler": situation.scheduler,
            },
        },
    )
    return {
        "name": "advice",
        "duration": f"{span.duration_s:g} s",
        "warmup": f"{span.warmup_s:g} s",
        "link": links,
        "flow": flows,
    }


def _queued(name: str, rate_bps: int, packets: int) -> dict[str, Any]:
    queue = {"droptail": {"packets": f"{packets} packets"}}
    return {"name": name, "rate": f"{rate_bps} b/s", "queue": queue}


def _line(name: str, delay_s: float, jitter_s: float = 0.0) -> dict[str, Any]:
    line: dict[str, Any] = {"name": name, "delay": f"{round(1e6 * delay_s)} us"}
    if jitter_s:
        line["jitter"] = f"{round(1e6 * jitter_s)} us"
    return line
