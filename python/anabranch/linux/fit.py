"""Which scenarios the real kernel can run, part by part, and where it differs from the model."""

from __future__ import annotations

from .. import _core
from ..plan import Class, Linux, MinRtt, Plan

MOST_PATHS = 9
"""Subflows that the kernel's path manager allows in one connection: the first, and 8 that join."""

MOST_CLASSES = 250
MOST_USERS = 1000
"""Users in all; more would not be sampled in time."""

MOST_MIN_SSTHRESH = 2**20
"""Segments. From 2^24 on the guard of the loaded controllers takes a threshold for garbage."""

OWN_SCHEDULERS = (MinRtt, Linux)
"""Schedulers that the kernel may run: its own, and the default, for which its own stands."""

_DELAYED_ACK_S = 0.04
_HEADERS_BYTES = 52  # IPv4, TCP, time stamps


def kernels_own(controller: str) -> bool:
    """Whether the kernel's own Reno stands for a controller; `kernel:reno` is Reno in our shell."""
    named = _core.controller(controller)
    return named["kind"] == "reno" and named["ported"] and not named["port"]


def refusals(plan: Plan) -> list[str]:
    """A sentence for each part of a plan that this world cannot run; none if it can."""
    found = []
    if len(plan.classes) > MOST_CLASSES:
        found.append(f"there are {len(plan.classes)} flows; at most {MOST_CLASSES} have room")
    users = sum(planned.count for planned in plan.classes)
    if users > MOST_USERS:
        found.append(f"there are {users} users; at most {MOST_USERS} can be sampled in time")
    for planned in plan.classes:
        parts = [
            *refused_paths(plan, planned),
            *refused_traffic(planned),
            *refused_options(planned),
            *refused_times(planned),
        ]
        found += [f"flow `{planned.name}`: {part}" for part in parts]
    return found


def refused_paths(plan: Plan, planned: Class) -> list[str]:
    """What is wrong with paths and controller of a class."""
    found = []
    if len(planned.paths) > MOST_PATHS:
        found.append(f"it has {len(planned.paths)} paths; the kernel allows {MOST_PATHS}")
    if not _core.controller(planned.controller)["ported"]:
        known = ", ".join(law["name"] for law in _core.controllers() if law["kernel"])
        found.append(
            f"the controller {planned.controller} is not made for the kernel; these are: {known}"
        )
    for number, path in enumerate(planned.paths):
        links = [plan.links[index] for index in path.links]
        if not any(link.rate_bps or link.loss or link.attachments for link in links):
            found.append(f"path {number} has neither a rate nor loss: nothing would slow it down")
    return found


def refused_traffic(planned: Class) -> list[str]:
    """Applications that the testbed has not."""
    found = []
    if planned.protocol != "tcp":
        found.append(f"there are no senders of {planned.protocol.upper()}")
    if planned.pauses:
        found.append("users do not pause")
    if planned.sizes:
        found.append("the users of a flow all send as much")
    if any(path.backup for path in planned.paths):
        found.append("no path is a backup")
    if any(path.turns for path in planned.paths):
        found.append("packets of one connection do not take several ways in turn")
    if any(path.coding for path in planned.paths):
        found.append("its TCP does not code paths")
    return found


def refused_options(planned: Class) -> list[str]:
    """Transport options that Linux has not."""
    found = []
    if planned.packet_bytes - planned.payload_bytes != _HEADERS_BYTES:
        found.append(f"packets have {_HEADERS_BYTES} B of headers: payload is packet less that")
    if not planned.limited_transmit:
        found.append("limited transmit cannot be switched off")
    if planned.delayed_ack_s not in (0, _DELAYED_ACK_S, None):
        found.append('acknowledgements wait 0 ms, 40 ms or as "linux" does, nothing else')
    if planned.initial_window != int(planned.initial_window):
        found.append("the initial window is a whole number of segments")
    if planned.initial_ssthresh is not None:
        found.append("the initial slow-start threshold cannot be set")
    if planned.min_window != 1:
        found.append("the smallest window is 1 segment")
    if planned.min_ssthresh != int(planned.min_ssthresh):
        found.append("the smallest slow-start threshold is a whole number of segments")
    if not kernels_own(planned.controller) and planned.min_ssthresh > MOST_MIN_SSTHRESH:
        found.append(
            f"the smallest slow-start threshold is {planned.min_ssthresh:.0f} segments; a loaded "
            f"controller has {MOST_MIN_SSTHRESH} at most"
        )
    if not planned.slow_start_carry_over:
        found.append("segments left over at the end of slow start are always carried over")
    if planned.rto_floor != "variance":
        found.append("`rto_min` bounds the variance term, not the whole timeout")
    if planned.rto_initial_s != 1:
        found.append("the timeout before the first sample is 1 s")
    if planned.idle == "restart":
        found.append("an idle window is kept or decays, it does not restart at once")
    if planned.autotune:
        found.append("the receive buffer has the size that is set")
    if planned.opportunistic:
        found.append("there is no opportunistic retransmission")
    if not isinstance(planned.scheduler, OWN_SCHEDULERS) and len(planned.paths) > 1:
        found.append(f"there is no scheduler {planned.scheduler.kind}")
    return found


def refused_times(planned: Class) -> list[str]:
    """Paths that come and go in a way that the path manager cannot follow."""
    if len(planned.paths) == 1:
        late = planned.paths[0].join_s > planned.start_s
        return ["its only path joins after it starts; set its `start`"] if late else []
    first = planned.paths[0]
    if first.join_s > planned.start_s or first.leave_s is not None:
        return ["path 0 opens the connection: it cannot join late or leave"]
    return []


def differences(plan: Plan) -> list[str]:
    """Sentences on where this world does otherwise than the model, for the provenance."""
    found = [
        "connections open with a handshake; the model starts with data",
        "losses are detected by RACK and SACK together, spurious timeouts undone (F-RTO)",
        "RTT percentiles are of smoothed samples",
    ]
    several = [planned for planned in plan.classes if len(planned.paths) > 1]
    if several:
        found.append(
            "MPTCP's options leave less payload in a packet: goodput is lower, not IP bytes"
        )
        found.append(
            "the kernel hands data to paths before they can send it; users write no more than keeps "
            "every path supplied"
        )
        found.append("users of several paths write one segment until their server has accepted")
    reno = [planned for planned in several if kernels_own(planned.controller)]
    if any(planned.min_ssthresh != 2 for planned in reno):
        found.append("the kernel's own Reno has a smallest slow-start threshold of 2 segments")
    return found
