"""Events of any version of qlog, with the names of the current drafts.

The drafts are draft-ietf-quic-qlog-main-schema-14 and draft-ietf-quic-qlog-quic-events-13. Earlier
ones call the events `transport:packet_sent` and `recovery:metrics_updated` (quic-events-02), or
write them as arrays with a category and a name (draft-marx-qlog-main-schema-00 §3.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .fields import Fields

SENT, RECEIVED, LOST, ACKED = "packet_sent", "packet_received", "packet_lost", "packets_acked"
METRICS, TUPLE, TIMER = "metrics_updated", "tuple_assigned", "timer_updated"

FORMER = {
    "recovery_metrics_updated": METRICS,
    "rec_metrics_updated": METRICS,
    "path_assigned": TUPLE,
    "loss_timer_updated": TIMER,
}
"""Other names of events that are read."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a connection."""

    at_s: float
    """Since an origin that all events of the file share."""
    name: str
    path: str | None
    """None if the event does not name one."""
    data: Fields
    scale_s: float = 1e-3
    """Seconds of a unit of time in the data."""


@dataclass
class Trace:
    """Events of one connection, or of several, as one side saw them."""

    events: Iterable[tuple[str, Event]]
    """Each with the connection that it names, empty if it names none. Of one trace among several
    they can be read again.
    """
    title: str = ""
    side: str = "unknown"
    """`client`, `server`, `network` or `unknown`."""
    flow: str = ""
    """The side whose view a log of the network takes."""
    half_open: bool = False
    """Whether ranges of acknowledged numbers seem to end before their second number."""
    notes: list[str] = field(default_factory=list)
    """What is missing at its end; complete once the events were read."""


def named(name: str) -> str:
    """The name of an event without its namespace, as the current drafts have it."""
    bare = name.rpartition(":")[2].lower()
    return FORMER.get(bare, bare)


def path_of(event: Fields, data: Fields) -> str | None:
    """The path that an event names: as a number, or by its tuple.

    `tuple` is the drafts' field (main schema §7.2), `path` what it was called before events-12. A
    number stands at the event, in its data, or in the header of its packet, where noq writes it.
    """
    for place in (event, data, data.part("header")):
        if "path_id" in place:
            return called(place.text("path_id") or "")
    for key in ("tuple", "path"):
        if key in event:
            return called(event.text(key) or "")
    if "tuple_id" in data:
        return called(data.text("tuple_id") or "")
    return None


NUMBERED = re.compile(r"p?([0-9]{1,18})")


def called(path: str) -> str:
    """The name of a path here: `path-1` for the number 1 and for the tuple `p1`."""
    found = NUMBERED.fullmatch(path)
    return f"path-{int(found[1])}" if found else path or "path-0"
