"""Judges whether a run is valid: errors of the emulator, the kernel or the connections would
falsify it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..plan import Plan
from ..runs import EmulatorReport, Run, SendersReport
from .namespace import Namespace
from .sample import Sampler
from .traffic import User
from .wiring import Network

MOST_LATENESS_S = 1e-3
MOST_LATENESS_OF_RTT = 0.02
"""A 99th percentile of the emulator's lateness, in or out, beyond the larger of both
spoils a run.
"""

MOST_STALL_OF_RTO = 0.5
"""A packet later than this fraction of the smallest `rto_min` may have caused a timeout."""

MOST_CPU = 0.8
"""The share of a processor beyond which the emulator cannot keep up with bursts."""

MOST_STARVED = 0.02
"""Largest fraction of samples in which a bulk user's path may have room but no data."""

HARMLESS_DROPS = ("foreign",)
"""Harmless drops of the emulator: packets that a system sends by itself on any device."""

HOST_DROPS = ("TCPBacklogDrop", "TCPRcvQDrop", "TCPZeroWindowDrop", "PFMemallocDrop")
"""Counters of the kernel for packets that it dropped for itself, not on an emulated link."""

NOTED = (
    "TCPTimeouts",
    "TCPSpuriousRtxHostQueues",
    "TCPDSACKRecv",
    "TCPSackFailures",
    "TCPRenoFailures",
    "TCPMemoryPressures",
    "MPTCPRetrans",
    "DuplicateData",
    "SubflowStale",
    "SubflowRecover",
    "Blackhole",
)
"""Counters that tell more about a run."""

FALLBACKS = (
    "MPCapableFallbackACK",
    "MPCapableFallbackSYNACK",
    "MPCapableSYNTXDrop",
    "MPCapableDataFallback",
    "MPFallbackTokenInit",
    "DSSCorruptionFallback",
    "DssFallback",
    "MD5SigFallback",
    "SimultConnectFallback",
)
"""Counters of connections that fell back to plain TCP, each for a reason of its own."""


def wrong_emulation(plan: Plan, report: EmulatorReport) -> list[str]:
    """Errors of the emulator that would falsify a result."""
    most = max(planned.packet_bytes for planned in plan.classes)
    found = late(plan, report, "the emulator", ("a packet", "written"))
    if report.largest_packet_bytes > most:
        found.append(f"a packet had {report.largest_packet_bytes} B, more than {most} B")
    for reason, number in report.drops.items():
        if number and reason not in HARMLESS_DROPS:
            found.append(f"the emulator dropped {number} packets: {reason}")
    return found


def wrong_senders(plan: Plan, report: SendersReport) -> list[str]:
    """Errors of our endpoints that would falsify a result."""
    found = late(plan, report, "our endpoints", ("a timer", "met"))
    if report.unsent_packets:
        found.append(f"our endpoints could not send {report.unsent_packets} packets: no room")
    return found


def late(
    plan: Plan, report: EmulatorReport | SendersReport, who: str, event: tuple[str, str]
) -> list[str]:
    """Whether a thread was too late or too busy; `event` is what it is to do in time, and the
    participle of that.
    """
    shortest = min(p.base_rtt_s for planned in plan.classes for p in planned.paths)
    limit = max(MOST_LATENESS_S, MOST_LATENESS_OF_RTT * shortest)
    stall = MOST_STALL_OF_RTO * min(planned.rto_min_s for planned in plan.classes)
    found = []
    for usual, most_s, (what, done) in (
        (report.lateness_p99_s, report.lateness_max_s, event),
        (report.waiting_p99_s, report.waiting_max_s, ("a packet", "read")),
    ):
        if usual > limit:
            found.append(
                f"{who}: 1% of the {what.removeprefix('a ')}s were {done} {usual * 1e3:.2f} ms late or more; "
                f"{limit * 1e3:.2f} ms is allowed"
            )
        if most_s > stall:
            found.append(
                f"{who}: {what} was {done} {most_s * 1e3:.0f} ms late; from {stall * 1e3:.0f} ms on, that alone "
                "may cause a timeout"
            )
    if report.cpu_fraction > MOST_CPU:
        found.append(
            f"{who} took {report.cpu_fraction:.0%} of a processor; {MOST_CPU:.0%} is allowed"
        )
    return found


def wrong_network(network: Network, host: dict[str, int]) -> list[str]:
    """Packets that were lost where the scenario has no link, and connections that fell back."""
    found = []
    if dropped := network.dropped():
        found.append(f"the kernel dropped {dropped} packets at the devices")
    for name in HOST_DROPS:
        if host.get(name):
            found.append(f"the kernel itself dropped {host[name]} packets ({name})")
    if counts := [f"{name} {host[name]}" for name in FALLBACKS if host.get(name)]:
        found.append(f"the kernel counted fallbacks to plain TCP: {', '.join(counts)}")
    return found


def wrong_connections(made: Sequence[User], sampler: Sampler) -> list[str]:
    """Users whose connection failed or is not as requested."""
    found = []
    for connection in made:
        troubles = connection.trouble, sampler.trouble.get(connection.flow, "")
        for trouble in dict.fromkeys(troubles):
            if trouble:
                found.append(f"user {connection.planned.name} {connection.user}: {trouble}")
    return found


def starving(plan: Plan, run: Run) -> list[str]:
    """Classes of bulk users whose paths had room but no data, so that congestion control did not
    decide their rates.
    """
    found = []
    names = np.asarray(run.flows.class_)[run.paths.flow]
    for planned in plan.classes:
        starved = run.paths.starved[names == planned.name]
        bulk = planned.app_rate_bps is None and planned.transfer_bytes is None
        share = float(np.nanmean(starved)) if bulk and not np.isnan(starved).all() else 0.0
        if share > MOST_STARVED:
            found.append(
                f"the paths of {planned.name} had nothing to send in {share:.1%} of the samples; "
                f"{MOST_STARVED:.0%} are allowed"
            )
    return found


def host_counters(network: Network) -> dict[str, int]:
    """Counters of the kernel's TCP and MPTCP, summed over the namespaces."""
    sums: dict[str, int] = {}
    for side in network.sides:
        for name, value in protocol_counters(side.namespace).items():
            sums[name] = sums.get(name, 0) + value
    return sums


def protocol_counters(namespace: Namespace) -> dict[str, int]:
    """The counters of one namespace that are looked at."""
    with namespace.inside(), open("/proc/thread-self/net/netstat") as file:
        lines = file.read().splitlines()
    found = {}
    for head, row in zip(lines[::2], lines[1::2], strict=True):
        for name, value in zip(head.split()[1:], row.split()[1:], strict=True):
            if name in HOST_DROPS + NOTED + FALLBACKS:
                found[name] = int(value)
    return found


def grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """By how much counters grew; counters that did not grow are left out."""
    grown_by = {name: value - before.get(name, 0) for name, value in after.items()}
    return {name: value for name, value in grown_by.items() if value}
