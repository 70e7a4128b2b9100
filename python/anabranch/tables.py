"""The tables of a result: typed columns with their units and meanings."""

from __future__ import annotations

from dataclasses import dataclass

from .records import Flags, Indices, Numbers, Record, Table, Words, column, part


@dataclass(eq=False, repr=False, kw_only=True)
class Flows(Table):
    """One row for each connection."""

    class_: Words = column("", "name of its class")
    user: Indices = column("", "number of the user in the class")
    throughput_bps: Numbers = column(
        "bit/s", "IP bytes of data packets that arrived at the receiver, copies included"
    )
    goodput_bps: Numbers = column(
        "bit/s", "payload delivered in order to the application, each byte once"
    )
    start_s: Numbers = column("s", "when the connection started")
    completed_s: Numbers = column(
        "s", "when the last byte of a transfer was acknowledged; NaN if it was not"
    )
    fct_s: Numbers = column(
        "s", "how long the transfer took from its start; NaN if it was not completed"
    )
    held_bytes: Numbers = column(
        "bytes", "data at the receiver that waits for what comes before it, mean over samples"
    )
    held_max_bytes: Numbers = column("bytes", "the most of it in any sample")


@dataclass(eq=False, repr=False, kw_only=True)
class Paths(Table):
    """One row for each path of each connection."""

    flow: Indices = column("", "number of the connection")
    path: Indices = column("", "number of the path in it")
    throughput_bps: Numbers = column("bit/s", "IP bytes of data packets that arrived on the path")
    goodput_bps: Numbers = column(
        "bit/s",
        "payload taken in by the path's receiver, each byte once; of coded paths what was decoded, of TFRC and UDP all",
    )
    sent_packets: Numbers = column("packets", "data packets sent on the path")
    lost_packets: Numbers = column("packets", "data packets dropped by a queue or lost on a link")
    loss: Numbers = column("probability", "lost over sent")
    echoed_packets: Numbers = column("packets", "packets of UDP that came back (echo)")
    retransmits: Numbers = column("packets", "segments sent again on the same path")
    timeouts: Numbers = column("events", "retransmission timeouts")
    recoveries: Numbers = column("events", "fast recoveries begun")
    marks: Numbers = column("events", "reductions for echoed marks (ECN)")
    undone: Numbers = column("events", "reductions found to be spurious and taken back")
    probes: Numbers = column("packets", "tail-loss probes sent")
    cwnd_segments: Numbers = column("segments", "congestion window, mean over samples")
    srtt_s: Numbers = column("s", "smoothed round-trip time, mean over samples")
    rto_s: Numbers = column("s", "retransmission timeout, not backed off, mean over samples")
    busy_s: Numbers = column("s", "linux: time with data in flight or waiting to be sent")
    receive_window_limited_s: Numbers = column(
        "s", "linux: part of it in which the receive window was the limit"
    )
    send_buffer_limited_s: Numbers = column(
        "s", "linux: part of it in which the send buffer was the limit"
    )
    min_rtt_s: Numbers = column("s", "linux: the kernel's minimum round trip, mean over samples")
    pmtu_bytes: Numbers = column("bytes", "linux: path MTU, mean over samples")
    reordering: Numbers = column(
        "packets", "linux: the kernel's estimate of reordering, mean over samples"
    )
    starved: Numbers = column(
        "fraction", "linux: samples at which the window had room and the path nothing to send"
    )


@dataclass(eq=False, repr=False, kw_only=True)
class Coding(Table):
    """One row for each coded path."""

    flow: Indices = column("", "number of the connection")
    path: Indices = column("", "number of the path in it")
    arrived_packets: Numbers = column("packets", "combinations that arrived")
    innovative_packets: Numbers = column("packets", "those that brought a degree of freedom")
    decoded_segments: Numbers = column("segments", "segments decoded")
    decoding_delay_s: Numbers = column(
        "s", "mean time from a segment's being seen to its being decoded"
    )
    asked: Numbers = column("events", "times that Couple+ began to ask why packets were lost")
    noise: Numbers = column("events", "times that it found noise")
    congestion: Numbers = column("events", "times that it found congestion")


@dataclass(eq=False, repr=False, kw_only=True)
class Links(Table):
    """One row for each link of the plan; private copies of a link are summed."""

    name: Words = column("", "name of the link")
    copies: Numbers = column("links", "number of private copies; 1 for a shared link")
    arrived_packets: Numbers = column("packets", "packets offered to the link")
    dropped_packets: Numbers = column("packets", "packets dropped by its queue")
    lost_packets: Numbers = column("packets", "packets lost at random, or while it was down")
    marked_packets: Numbers = column("packets", "packets marked by its queue (CE)")
    loss: Numbers = column("probability", "dropped and lost over arrived")
    throughput_bps: Numbers = column(
        "bit/s", "bytes that it carried to its end, those lost on the line included"
    )
    utilisation: Numbers = column(
        "fraction", "throughput over rate, the mean of which is taken where it changes"
    )
    queue_packets: Numbers = column(
        "packets", "packets that wait, the one in transmission not counted; mean over samples"
    )
    queue_delay_p50_s: Numbers = column(
        "s", "median over samples of waiting bytes over the rate of the moment"
    )
    queue_delay_p95_s: Numbers = column("s", "its 95th percentile")
    queue_delay_p99_s: Numbers = column("s", "its 99th percentile")


@dataclass(eq=False, repr=False, kw_only=True)
class Stations(Table):
    """One row for each station of each medium."""

    medium: Words = column("", "name of the medium")
    name: Words = column("", "name of the station")
    offered_packets: Numbers = column("packets", "packets that came to the station's queue")
    dropped_packets: Numbers = column("packets", "packets for which the queue had no room")
    attempts: Numbers = column("transmissions", "transmissions; an aggregate is one")
    unanswered: Numbers = column("transmissions", "those that were not acknowledged")
    failed_packets: Numbers = column("packets", "packets given up after the last attempt")
    acknowledged_packets: Numbers = column("packets", "packets that were acknowledged")
    airtime: Numbers = column("fraction", "part of the time in which it was sending data")
    queue_packets: Numbers = column("packets", "packets in its queue, mean over samples")
    empty: Numbers = column("fraction", "part of the samples at which its queue was empty")
    handovers: Numbers = column("events", "times that it changed its access point or lost it")


@dataclass(eq=False, repr=False, kw_only=True)
class Ways(Table):
    """One row for each link over a medium where places matter or with routing, and each of its
    users.
    """

    link: Words = column("", "name of the link")
    medium: Words = column("", "name of the medium")
    user: Indices = column("", "number of the user")
    connected: Numbers = column(
        "fraction", "samples at which places allowed a way, whatever routing knew"
    )
    unreachable_packets: Numbers = column("packets", "packets for which routing had no way")
    route_changes: Numbers = column(
        "packets", "packets that came over another route than the last one"
    )


@dataclass(eq=False, repr=False, kw_only=True)
class Routes(Table):
    """One row for each route that packets of a way took."""

    nodes: Words = column("", 'its stations, as "a > b > c"')
    way: Indices = column("", "the row in `ways`")
    packets: Numbers = column("packets", "packets that arrived over the route, since the start")
    first_s: Numbers = column("s", "when the first of them arrived")
    last_s: Numbers = column("s", "when the last one did")


@dataclass(eq=False, repr=False, kw_only=True)
class Classes(Table):
    """One row for each class of users."""

    name: Words = column("", "name of the class")
    rtt_mean_s: Numbers = column("s", "mean over samples and users of the newest round-trip sample")
    rtt_p50_s: Numbers = column("s", "its median")
    rtt_p95_s: Numbers = column("s", "its 95th percentile")
    rtt_p99_s: Numbers = column("s", "its 99th percentile")
    cwnd_p05_segments: Numbers = column(
        "segments", "5th percentile of the windows of the class's paths over samples"
    )
    cwnd_p50_segments: Numbers = column(
        "segments", "median window of the class's paths over samples"
    )
    cwnd_p95_segments: Numbers = column(
        "segments", "95th percentile of the windows of the class's paths over samples"
    )
    completed_flows: Numbers = column("flows", "transfers begun after the warm-up and completed")
    fct_mean_s: Numbers = column("s", "mean completion time of these transfers")
    fct_p50_s: Numbers = column("s", "their median")
    fct_p95_s: Numbers = column("s", "their 95th percentile")
    fct_p99_s: Numbers = column("s", "their 99th percentile")


@dataclass(eq=False, repr=False, kw_only=True)
class EventsLog(Table):
    """One row for each event."""

    t_s: Numbers = column("s", "when it happened")
    kind: Words = column("", "`drop`, `loss`, `recovery`, `timeout`, `join` or `leave`")
    flow: Indices = column("", "number of the connection")
    path: Indices = column("", "number of the path in it")
    link: list[str | None] = column("", "name of the link, of a drop or a loss")


@dataclass(eq=False, repr=False, kw_only=True)
class PathSeries(Table):
    """One row for each sample, one column for each path."""

    cwnd_segments: Numbers = column("segments", "congestion window over time")
    ssthresh_segments: Numbers = column(
        "segments", "slow-start threshold over time; infinite before the first congestion event"
    )
    srtt_s: Numbers = column("s", "smoothed round-trip time over time; 0 before the first sample")
    arrived_bytes: Numbers = column("bytes", "IP bytes of data packets arrived since the start")
    taken_bytes: Numbers = column(
        "bytes", "payload taken in by the path's receiver since the start, each byte once"
    )
    rto_s: Numbers = column(
        "s", "retransmission timeout, not backed off, over time; 0 before the first sample"
    )
    sent_packets: Numbers = column("packets", "data packets sent since the start")


@dataclass(eq=False, repr=False, kw_only=True)
class FlowSeries(Table):
    """One row for each sample, one column for each connection."""

    held_bytes: Numbers = column(
        "bytes", "data at the receiver that waits for what comes before it"
    )


@dataclass(eq=False, repr=False, kw_only=True)
class LinkSeries(Table):
    """One row for each sample, one column for each link."""

    queue_packets: Numbers = column("packets", "waiting packets over time")
    dropped_packets: Numbers = column("packets", "packets dropped or lost since the start")


@dataclass(eq=False, repr=False, kw_only=True)
class StationSeries(Table):
    """One row for each sample, one column for each station, medium by medium."""

    queue_packets: Numbers = column("packets", "packets in the queue over time")
    attempts: Numbers = column("transmissions", "transmissions since the start")
    unanswered: Numbers = column("transmissions", "those not acknowledged")
    failed_packets: Numbers = column("packets", "packets given up since the start")


@dataclass(eq=False, repr=False, kw_only=True)
class Hops(Table):
    """What went over media since the sample before: one row for each pair of stations that was
    used.
    """

    sample: Indices = column("", "number of the sample")
    medium: Indices = column("", "number of the medium")
    from_: Indices = column("", "station that sent")
    to: Indices = column("", "station that was sent to, −1 for all")
    bytes: Numbers = column("bytes", "bytes of packets")
    messages: Numbers = column("messages", "messages of routers")


@dataclass(eq=False, repr=False, kw_only=True)
class NodeSeries(Table):
    """One row for each sample, one column for each node of the plan."""

    x_m: Numbers = column("m", "where each node is, to the east")
    y_m: Numbers = column("m", "where each node is, to the north")
    hops: Hops


@dataclass(eq=False, repr=False, kw_only=True)
class EmulatedPaths(Table):
    """The emulator on paths: one row for each path of each user."""

    class_: Words = column("", "name of the class")
    user: Indices = column("", "number of the user in it")
    path: Indices = column("", "number of the path")
    throughput_bps: Numbers = column("bit/s", "IP bytes of data packets that arrived on the path")
    sent_packets: Numbers = column("packets", "data packets sent on the path")
    lost_packets: Numbers = column("packets", "data packets dropped by a queue or lost on a link")


@dataclass(eq=False, repr=False, kw_only=True)
class EmulatedPathSeries(Table):
    """The emulator on paths: one row for each sample, one column for each path."""

    arrived_bytes: Numbers = column("bytes", "IP bytes of data packets arrived since the start")


@dataclass(eq=False, repr=False, kw_only=True)
class CapturedFlows(Table):
    """One row for each connection of a capture."""

    token: list[str | None] = column(
        "",
        "token of the initiator's key, in hexadecimal; none for TCP, and where the keys were not captured",
    )
    subflows: Numbers = column("subflows", "number of subflows")
    acked_bytes: Numbers = column(
        "bytes", "payload acknowledged, each byte once: of data ACKs for MPTCP"
    )
    joins_proved: Numbers = column("joins", "joins whose two proofs (RFC 8684 §3.2) are right")
    joins_disproved: Numbers = column("joins", "joins whose proofs are wrong")
    addresses_announced: Numbers = column("addresses", "ADD_ADDR without echoes")
    addresses_withdrawn: Numbers = column("addresses", "addresses in REMOVE_ADDR")
    throughput_bps: Numbers = column("bit/s", "sum over its subflows")
    goodput_bps: Numbers = column("bit/s", "`acked_bytes` over the whole capture")


@dataclass(eq=False, repr=False, kw_only=True)
class CapturedPaths(Table):
    """One row for each subflow of a capture."""

    flow: Indices = column("", "row of its connection")
    initiator: Words = column("", "address and port of who opened it")
    responder: Words = column("", "address and port of the other side")
    multipath: Flags = column("", "whether it speaks MPTCP")
    upward: Flags = column("", "whether the initiator sent more payload")
    start_s: Numbers = column("s", "first packet, since the first one of the capture")
    end_s: Numbers = column("s", "last packet, since the first one of the capture")
    sent_packets: Numbers = column("packets", "packets with payload")
    data_ip_bytes: Numbers = column("bytes", "IP bytes of packets with payload")
    payload_bytes: Numbers = column("bytes", "payload, copies included")
    retransmits: Numbers = column(
        "packets", "packets with payload that was seen before, in part or whole"
    )
    retransmitted_bytes: Numbers = column("bytes", "payload that was seen before")
    acked_bytes: Numbers = column("bytes", "payload that the other side acknowledged")
    rtt_s: Numbers = column(
        "s",
        "from a segment to the acknowledgement of it, mean over those that were sent once and acknowledged in order",
    )
    throughput_bps: Numbers = column("bit/s", "`data_ip_bytes` over the span")


@dataclass(eq=False, repr=False, kw_only=True)
class Series(Table):
    """Samples over time."""

    t_s: Numbers = column("s", "times of the samples")
    paths: PathSeries
    flows: FlowSeries = part()
    links: LinkSeries
    stations: StationSeries = part()
    nodes: NodeSeries = part()


@dataclass(eq=False, repr=False, kw_only=True)
class EmulatedSeries(Table):
    """Samples over time of the emulator."""

    t_s: Numbers = column("s", "times of the samples")
    paths: EmulatedPathSeries
    links: LinkSeries
    stations: StationSeries


@dataclass(eq=False, repr=False, kw_only=True)
class CapturedSeries(Table):
    """Bins over time, one column for each subflow of a capture."""

    bin_s: float
    t_s: Numbers = column("s", "start of the bin, since the first packet")
    data_ip_bytes: Numbers = column("bytes", "IP bytes of packets with payload")


@dataclass(kw_only=True)
class Conservation(Record):
    """What became of packets since the start: sent + copied = delivered + dropped + in flight."""

    sent: int
    copied: int
    delivered: int
    dropped: int
    in_flight: int
