"""Checks whether the real kernel can run a scenario, part by part, and where it differs from the
model.
"""

from __future__ import annotations

from typing import Literal

from .. import _core
from ..controller import facts
from ..plan import Class, Linux, MinRtt, Plan

World = Literal["linux", "wire"]
LINUX: World = "linux"
WIRE: World = "wire"
"""In this world our endpoints send for all classes but those with a controller of the kernel."""

Sender = Literal["kernel", "ours", "courier", "quic"]
"""Who sends for a class: the kernel, an endpoint of ours to the kernel, a courier of ours to one of
ours, or a QUIC stack."""

MOST_PATHS = 9
"""Subflows that the kernel's path manager allows in one connection: the first, and 8 that join."""

MOST_COURIER_PATHS = 8
"""Paths of a connection of a courier."""

MOST_CLASSES = 250
MOST_USERS = 1000
"""Users in all; more would not be sampled in time."""

MOST_MIN_SSTHRESH = 2**20
"""Segments. From 2^24 on the guard of the loaded controllers takes a threshold for garbage."""

OWN_SCHEDULERS = (MinRtt, Linux)
"""Schedulers that the kernel may run: its own, and the default, for which its own stands."""

_DELAYED_ACK_S = 0.04
_HEADERS_BYTES = 52  # IPv4, TCP, time stamps
_QUIC_PACKET_BYTES = 1500
_LEAST_MTU, _MOST_MTU = 576, 9216
_COURIER_PACKET = 628, 1500
_COURIER_HEADERS_BYTES = 94  # IPv4, UDP, session, nonce, tag, frame
_LEAST_COURIER_BUFFER = 65_536


OWN = {"bbr": "bbr", "bbr:linux": "bbr", "cubic": "cubic", "lp": "lp"}
"""The kernel's names of its controllers beside Reno, if it was built with them, by ours."""


def kernels_own(controller: str) -> str | None:
    """The kernel's name of a controller of its own; None of one that is loaded for a run.
    `kernel:reno` is Reno in our shell.
    """
    named = _core.controller(controller)
    if named["linux"]:
        return named["linux"]
    if named["kind"] == "reno" and named["ported"] and not named["port"]:
        return "reno"
    return OWN.get(named["text"])


def source_of(planned: Class) -> str:
    """The controller of a class: its name, or the text of its law."""
    return planned.law or planned.controller


def sender(world: World, planned: Class) -> Sender:
    """Who sends for a class in a world."""
    if planned.protocol == "quic":
        return "quic"
    if world == LINUX:
        return "kernel"
    named = facts(planned)
    if named and (named["linux"] or named["port"]):
        return "kernel"
    coded = any(path.coding for path in planned.paths)
    return "courier" if coded or (named and named["reports"]) else "ours"


def unsupported(planned: Class) -> str:
    """Why the kernel cannot run a law that is written as text; empty for any other controller."""
    if planned.law is None:
        return ""
    try:
        _core.law_c(planned.law)
    except _core.ScenarioError as why:
        return f", and laws in text: {why}"
    return "; a law in text has the kernel's own slow start there"


def refusals(plan: Plan, world: World = LINUX) -> list[str]:
    """A sentence for each part of a plan that this world cannot run; none if it can."""
    found = []
    if len(plan.classes) > MOST_CLASSES:
        found.append(f"there are {len(plan.classes)} flows; at most {MOST_CLASSES} have room")
    users = sum(planned.count for planned in plan.classes)
    if users > MOST_USERS:
        found.append(f"there are {users} users; at most {MOST_USERS} can be sampled in time")
    for planned in plan.classes:
        parts = [*refused_links(plan, planned), *refused_traffic(planned)]
        match sender(world, planned):
            case "quic":
                parts += refused_backups(planned) + refused_quic(planned)
            case "kernel":
                parts += refused_backups(planned) + refused_controller(planned)
                parts += (
                    refused_headers(planned) + refused_options(planned) + refused_times(planned)
                )
            case "ours":
                parts += refused_headers(planned) + refused_ours(planned) + refused_times(planned)
            case "courier":
                parts += refused_courier(planned)
        if sender(world, planned) != "courier":
            parts += refused_coding(planned)
        found += [f"flow `{planned.name}`: {part}" for part in parts]
    return found


def refused_controller(planned: Class) -> list[str]:
    """Reasons why the kernel cannot run the controller of a class."""
    found = []
    controller = source_of(planned)
    if not _core.controller(controller)["ported"] and not kernels_own(controller):
        ported = [law["name"] for law in _core.controllers() if law["kernel"]]
        known = ", ".join([*ported, *OWN])
        found.append(
            f"there is no controller {planned.controller} for the kernel; there are: {known}, and "
            "linux:NAME for one of the kernel's own" + unsupported(planned)
        )
    return found


def refused_links(plan: Plan, planned: Class) -> list[str]:
    """Reasons why the testbed cannot have the paths of a class."""
    found = []
    if len(planned.paths) > MOST_PATHS:
        found.append(f"it has {len(planned.paths)} paths; the kernel allows {MOST_PATHS}")
    for number, path in enumerate(planned.paths):
        links = [plan.links[index] for index in path.links]
        if not any(link.rate_bps or link.loss or link.attachments for link in links):
            found.append(f"path {number} has neither a rate nor loss: nothing would slow it down")
    return found


def refused_traffic(planned: Class) -> list[str]:
    """Features of applications that the testbed lacks."""
    found = []
    if planned.protocol not in ("tcp", "quic"):
        found.append(f"it sends {planned.protocol.upper()}; here users send TCP or QUIC")
    if planned.pauses:
        found.append("its users pause; here users send without pauses")
    if planned.sizes:
        found.append("its transfers have random sizes; here those of a flow have one size")
    for number, path in enumerate(planned.paths):
        if path.lower_effort:
            found.append(f"path {number} is of lower effort; here all packets are alike")
        if path.turns:
            found.append(f"path {number} takes several ways in turn; here a path has one")
    return found


def refused_coding(planned: Class) -> list[str]:
    """Coded paths, where TCP or QUIC sends."""
    coded = [number for number, path in enumerate(planned.paths) if path.coding]
    return [f"path {number} is coded; the kernel's TCP does not code" for number in coded]


def refused_backups(planned: Class) -> list[str]:
    """Backups, where every path is in use."""
    backups = [number for number, path in enumerate(planned.paths) if path.backup]
    return [f"path {number} is a backup; here every path is in use" for number in backups]


def refused_ours(planned: Class) -> list[str]:
    """Parts of a class that our endpoints lack on the wire."""
    found = []
    if planned.paths[0].backup:
        found.append("path 0 is a backup; it opens the connection")
    if not _LEAST_MTU <= planned.packet_bytes <= _MOST_MTU:
        found.append(
            f"`packet` is {planned.packet_bytes} B; on the wire it has {_LEAST_MTU} to {_MOST_MTU} B"
        )
    named = facts(planned)  # None for a class of Python
    if named and named["noq"]:
        found.append(f"{planned.controller} is a controller of the QUIC stack alone")
    return found


def refused_courier(planned: Class) -> list[str]:
    """Parts of a class that a courier lacks."""
    found = []
    if len(planned.paths) > MOST_COURIER_PATHS:
        found.append(f"it has {len(planned.paths)} paths; a courier has {MOST_COURIER_PATHS}")
    least, most = _COURIER_PACKET
    if not least <= planned.packet_bytes <= most:
        found.append(f"`packet` is {planned.packet_bytes} B; a courier's has {least} to {most} B")
    if planned.receive_buffer_bytes < _LEAST_COURIER_BUFFER:
        found.append(
            f"`receive_buffer` is {planned.receive_buffer_bytes} B; a courier's has "
            f"{_LEAST_COURIER_BUFFER} B at least"
        )
    codings = {path.coding for path in planned.paths if path.coding}
    if len(codings) > 1:
        found.append("its paths have different codings; a courier codes its paths alike")
    if planned.ecn:
        found.append("`ecn` is on; a courier's packets are not marked")
    named = facts(planned)
    if named and named["reports"]:
        found += refused_backups(planned)
    if planned.autotune:
        found.append("`autotune` is on; a courier's receive buffer has the size that is set")
    return found


def refused_headers(planned: Class) -> list[str]:
    """What the kernel's receiver does otherwise, and packets of TCP have otherwise."""
    found = []
    payload = planned.packet_bytes - _HEADERS_BYTES
    if planned.payload_bytes != payload:
        found.append(
            f"`payload` is {planned.payload_bytes} B; with {_HEADERS_BYTES} B of headers a packet of "
            f"{planned.packet_bytes} B has {payload} B"
        )
    if planned.delayed_ack_s not in (0, _DELAYED_ACK_S, None):
        wait_ms = 1e3 * planned.delayed_ack_s
        found.append(f'`delayed_ack` is {wait_ms:g} ms; the kernel has 0 ms, 40 ms and "linux"')
    if planned.autotune:
        found.append("`autotune` is on; here receive buffers have the size that is set")
    return found


def refused_options(planned: Class) -> list[str]:
    """Transport options that Linux lacks as a sender."""
    found = []
    if not planned.limited_transmit:
        found.append("`limited_transmit` is off; the kernel's cannot be switched off")
    for key, segments in (
        ("initial_window", planned.initial_window),
        ("min_ssthresh", planned.min_ssthresh),
    ):
        if segments is not None and segments != int(segments):
            found.append(f"`{key}` is {segments:g} segments; the kernel has whole ones")
    if planned.initial_ssthresh is not None:
        found.append(
            f"`initial_ssthresh` is {planned.initial_ssthresh:g} segments; the kernel's cannot be set"
        )
    if planned.min_window != 1:
        found.append(f"`min_window` is {planned.min_window:g} segments; the kernel's is 1")
    floor = planned.min_ssthresh or 0
    if not kernels_own(source_of(planned)) and floor > MOST_MIN_SSTHRESH:
        found.append(
            f"`min_ssthresh` is {floor:.0f} segments; a loaded controller has "
            f"{MOST_MIN_SSTHRESH} at most"
        )
    if planned.growth_per_ack:
        found.append(
            "`growth_per_ack` is on; the kernel counts the segments that an ACK acknowledges"
        )
    if not planned.slow_start_carry_over:
        found.append(
            "`slow_start_carry_over` is off; the kernel always carries segments over that are left at "
            "the end of slow start"
        )
    if planned.rto_floor != "variance":
        found.append(
            f'`rto_floor` is "{planned.rto_floor}"; the kernel bounds the variance term of a timeout'
        )
    if planned.rto_initial_s != 1:
        found.append(f"`rto_initial` is {planned.rto_initial_s:g} s; the kernel's is 1 s")
    if planned.idle == "restart":
        found.append('`idle` is "restart"; the kernel keeps an idle window or lets it decay')
    if planned.opportunistic:
        found.append("`opportunistic` is on; the kernel has no opportunistic retransmission")
    if planned.suspend:
        found.append("`suspend` is on; the kernel has no such path selection")
    if not isinstance(planned.scheduler, OWN_SCHEDULERS) and len(planned.paths) > 1:
        found.append(f"the kernel has no scheduler {planned.scheduler.kind}")
    return found


def refused_quic(planned: Class) -> list[str]:
    """Parts of a class over QUIC that the programs of `anabranch quic` lack."""
    found = []
    if planned.transfer_bytes is not None or planned.app_rate_bps is not None:
        found.append("its users send a file or at a rate; here those over QUIC send without end")
    if any(path.join_s > planned.start_s or path.leave_s is not None for path in planned.paths):
        found.append(
            "its paths join or leave; those of QUIC are there from start to end: change a link to "
            "`up = false` instead"
        )
    if planned.packet_bytes != _QUIC_PACKET_BYTES:
        found.append(
            f"`packet` is {planned.packet_bytes} B; the stack finds its own size on links of "
            f"{_QUIC_PACKET_BYTES} B"
        )
    for key, value, own in (
        ("initial_window", planned.initial_window, 10),
        ("initial_ssthresh", planned.initial_ssthresh, None),
        ("min_ssthresh", planned.min_ssthresh, None),
        ("growth_per_ack", planned.growth_per_ack, False),
        ("slow_start_carry_over", planned.slow_start_carry_over, True),
    ):
        if value != own:
            found.append(f"`{key}` is {value}; `anabranch quic serve` has no such option")
    if planned.min_window not in (1, 2):
        found.append(f"`min_window` is {planned.min_window:g} segments; QUIC's is 2")
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


def differences(plan: Plan, world: World = LINUX) -> list[str]:
    """Sentences on where this world does otherwise than the model, for the provenance."""
    found = [
        "connections open with a handshake; the model starts with data",
        "RTT percentiles are of smoothed samples",
    ]
    over_quic, over_tcp, ours, carried = (
        [planned for planned in plan.classes if sender(world, planned) == who]
        for who in ("quic", "kernel", "ours", "courier")
    )
    if over_tcp:
        found.append(
            "losses are detected by RACK and SACK together, spurious timeouts undone (F-RTO)"
        )
    if ours:
        found += different_ours(ours)
    if carried:
        names = ", ".join(planned.name for planned in carried)
        found += [
            f"a courier carries {names}, in encrypted datagrams of UDP between endpoints of ours, on the "
            f"wall clock; {_COURIER_HEADERS_BYTES} B of a packet are headers",
            "a courier's receivers acknowledge every segment, or send TFRC's reports",
        ]
    if over_quic:
        found.append(
            "users over QUIC find the size of their packets, up to 1,480 B, set the bits of ECN, and "
            "have a receive window of 32 MiB; they have no samples"
        )
    several = [planned for planned in over_tcp if len(planned.paths) > 1]
    if several:
        found.append(
            "MPTCP's options leave less payload in a packet: goodput is lower, not IP bytes"
        )
        found.append(
            "the kernel hands data to paths before they can send it; users write no more than keeps "
            "every path supplied"
        )
        found.append("users of several paths write one segment until their server has accepted")
    own = {kernels_own(source_of(planned)): planned for planned in over_tcp}
    reno = [planned for planned in several if kernels_own(source_of(planned)) == "reno"]
    if any(planned.min_ssthresh not in (2, None) for planned in reno):
        found.append("the kernel's own Reno has a smallest slow-start threshold of 2 segments")
    if "cubic" in own:
        found.append("the kernel's CUBIC ends slow start by HyStart (Ha and Rhee 2011)")
    if "bbr" in own:
        found.append(
            "the kernel's BBR looks for policers (long-term rate sampling); of its larger windows "
            "`bbr:linux` knows, and `bbr` does not"
        )
    return found


def different_ours(ours: list[Class]) -> list[str]:
    """Where classes for which our endpoints send differ from the model."""
    names = ", ".join(planned.name for planned in ours)
    found = [
        f"the senders of {names} are our endpoints, on the wall clock; their receivers are the kernel's",
        "applications write, and paths join, every 5 ms",
        "controllers that ask for one-way delays get the round trip",
    ]
    if any(len(planned.paths) > 1 for planned in ours):
        found.append(
            "MPTCP's options leave less payload in a packet of ours: goodput is lower, not IP bytes"
        )
        found.append(
            "a user of several paths writes one packet until its server has acknowledged it, and then joins the others"
        )
    return found
