"""A run: the tables of one replication, and further facts that its world knows."""

from __future__ import annotations

from typing import Any, Literal

from .records import Numbers, Partial, Record, Table, part, record
from .tables import (
    Classes,
    Coding,
    EmulatedPaths,
    EmulatedPathSeries,
    EventsLog,
    Flows,
    FlowSeries,
    Hops,
    Internals,
    Links,
    LinkSeries,
    Paths,
    PathSeries,
    Places,
    Routes,
    Stations,
    StationSeries,
    Ways,
)


@record(eq=False, repr=False)
class Series(Table):
    """Samples over time; the kernel has no `internals`, no `flows` and no `nodes`."""

    t_s: Numbers
    """Times of the samples."""
    paths: PathSeries
    internals: Internals = part()
    flows: FlowSeries = part()
    links: LinkSeries
    stations: StationSeries = part()
    nodes: NodeSeries = part()


@record(eq=False, repr=False)
class NodeSeries(Places):
    """Positions of nodes, and the bytes sent over media since the previous sample."""

    hops: Hops


@record()
class Conservation(Record):
    """Balance of packets since the start: sent + copied = delivered + dropped + in flight."""

    sent: int
    copied: int
    delivered: int
    dropped: int
    in_flight: int


@record(eq=False, repr=False)
class Run(Partial):
    """The tables of one replication.

    A simulation has all fields up to `events_log`, the kernel `seed`, `valid` and all tables but
    `coding`, `ways` and `routes`; theory has `flows`, `paths` and `classes`.
    """

    seed: int = part()
    digest: str = part()
    """A hash of every event's time and source; equal digests are equal runs."""
    events: int = part()
    """Events handled, since the start."""
    packet_hops: int = part()
    """Packets that came out of a link, since the start."""
    simulated_s: float = part()
    conservation: Conservation = part()
    flows: Flows
    paths: Paths
    coding: Coding = part()
    links: Links = part()
    stations: Stations = part()
    ways: Ways = part()
    routes: Routes = part()
    classes: Classes
    series: Series = part()
    """Samples over time, if they were asked for."""
    events_log: EventsLog = part()
    """Single events, if they were asked for."""
    events_log_until_s: float = part()
    """When the log of events ended, if memory for it ended before the run."""
    emulator: EmulatorReport = part()
    kernel: KernelReport = part()
    testbed: TestbedReport = part()
    senders: SendersReport = part()
    valid: bool = part()
    """Whether a run on the kernel is valid."""
    invalid_because: list[str] = part()
    """Reasons why the run is invalid, one sentence each."""

    def json_parts(self) -> dict[str, Any]:
        """All tables; `series` and `events_log` are null if they were not asked for."""
        content = super().json_parts()
        if self.has("seed"):  # theory has neither
            content = content | {key: content.get(key) for key in ("series", "events_log")}
        return content


@record(frozen=True)
class JudgedLink(Record):
    """Rate of a flow on one bottleneck, and the rate that one TCP would get there."""

    link: str
    ensemble_bps: float
    tcp_bps: float
    capacity_bps: float
    excess: float
    """Excess over a TCP's rate as a fraction of the link's capacity; negative if below."""


@record(frozen=True)
class OtherReading(Record):
    """The two definitions where only capacity that flows leave because they are limited elsewhere
    counts as spare."""

    lenient: bool
    stringent: bool
    bound_bps: float
    excess: float


@record(frozen=True)
class JudgedFlow(Record):
    """Whether a flow meets the fairness that its scenario demands, with the deciding figures."""

    flow: str
    definition: Literal["lenient", "stringent"]
    """The definition that the flow has to meet."""
    margin: float
    met: bool
    lenient: bool
    stringent: bool
    violated: list[str]
    """Links on which the flow exceeds a TCP's rate by more than the margin."""
    total_bps: float
    bound_bps: float
    """Upper bound on the rate of all paths together, by the stringent definition."""
    excess: float
    """Excess of the total over that bound as a fraction of the bound; negative if below."""
    best_path: int
    links: list[JudgedLink]
    spare: str = "unused"
    """The reading of spare capacity that all these rest on."""
    elsewhere: OtherReading | None = None
    """The same by the other reading."""


@record()
class PacketBalance(Record):
    """Balance of packets in the emulator: read + copied = written + dropped + in flight."""

    read: int
    copied: int
    written: int
    dropped: int
    in_flight: int


@record()
class LinkErrors(Record):
    """The largest errors of emulated links: of a delay, and of a rate as a part of it; NaN of
    nothing.
    """

    delay_error_s: float
    rate_error: float


@record(repr=False)
class EmulatorReport(Partial):
    """The emulator's own error and cost."""

    lateness_p50_s: float
    """Time from when a packet was due until it was written."""
    lateness_p99_s: float
    lateness_p999_s: float
    lateness_max_s: float
    waiting_p50_s: float
    """Upper bound on the time a packet waited to be read while the emulator was awake."""
    waiting_p99_s: float
    waiting_p999_s: float
    waiting_max_s: float
    cpu_fraction: float
    """Processor time of its thread over the time passed."""
    cpu_wait_fraction: float
    """Fraction of the elapsed time in which the thread was ready but had no processor."""
    forwarded_packets: int
    largest_packet_bytes: int
    elapsed_s: float
    drops: dict[str, int]
    """Packets that the emulator itself dropped, by reason."""
    conservation: PacketBalance
    real_time: bool = part()
    """Whether the emulator's thread had real-time priority."""
    awake: int = part()
    """Processors that were kept from sleeping."""
    calibration: LinkErrors = part()


@record()
class KernelReport(Partial):
    """Counters of the kernel for a run."""

    congestion_controls: list[str]
    """Kernel names of the congestion controls of the open connections."""
    controllers: dict[str, dict[str, int]]
    """Counters of the loaded controllers, by law."""
    counters: dict[str, int]
    """Counters of the kernel's TCP and MPTCP that grew, over all namespaces."""
    groups: dict[str, list[list[int]]] = part()
    """For each law with `+sbd` the groups of each connection's subflows at the end: those with one
    number share a bottleneck.
    """


@record()
class TestbedReport(Record):
    """CPU use of senders, receivers and sampling."""

    traffic_cpu_fraction: float
    sample_interval_s: float


@record()
class SendersReport(Record):
    """The own error and cost of our endpoints as senders, in the world `wire`."""

    lateness_p99_s: float
    """How late their deadlines were met."""
    lateness_max_s: float
    waiting_p99_s: float
    """Upper bound on the time that a packet for them waited to be read."""
    waiting_max_s: float
    cpu_fraction: float
    """Processor time of their thread over the time passed."""
    cpu_wait_fraction: float
    """Fraction of the elapsed time in which the thread was ready but had no processor."""
    sent_packets: int
    arrived_packets: int
    unsent_packets: int
    """Packets for which the way to the emulator had no room: none in a valid run."""


@record(eq=False, repr=False)
class EmulatedSeries(Table):
    """Samples over time of the emulator."""

    t_s: Numbers
    paths: EmulatedPathSeries
    links: LinkSeries
    stations: StationSeries


@record(eq=False, repr=False)
class Emulated(Partial):
    """Measurements of a run in the emulator."""

    links: Links
    stations: Stations
    paths: EmulatedPaths
    series: EmulatedSeries = part()
    emulator: EmulatorReport
