"""What the columns of a result mean: the one list from which pages and commands are made.

Rates and counts cover the time after the warm-up. Throughput counts IP bytes of data packets that
arrive at the receiver, copies included; goodput counts payload delivered in order, each byte once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A column."""

    table: str
    name: str
    unit: str
    meaning: str


METRICS = [
    Metric(
        "flows",
        "throughput_bps",
        "bit/s",
        "IP bytes of data packets that arrived at the receiver, copies included",
    ),
    Metric(
        "flows",
        "goodput_bps",
        "bit/s",
        "payload delivered in order to the application, each byte once",
    ),
    Metric("flows", "start_s", "s", "when the connection started"),
    Metric(
        "flows",
        "completed_s",
        "s",
        "when the last byte of a transfer was acknowledged; NaN if it was not",
    ),
    Metric(
        "flows",
        "fct_s",
        "s",
        "how long the transfer took from its start; NaN if it was not completed",
    ),
    Metric(
        "flows",
        "held_bytes",
        "bytes",
        "data at the receiver that waits for what comes before it, mean over samples",
    ),
    Metric("flows", "held_max_bytes", "bytes", "the most of it in any sample"),
    Metric("paths", "throughput_bps", "bit/s", "IP bytes of data packets that arrived on the path"),
    Metric(
        "paths",
        "goodput_bps",
        "bit/s",
        "payload that the path's receiver took in, each byte once; on a coded path what was decoded; "
        "in TFRC and UDP all that arrived",
    ),
    Metric("paths", "sent_packets", "packets", "data packets sent on the path"),
    Metric("paths", "lost_packets", "packets", "data packets dropped by a queue or lost on a link"),
    Metric("paths", "loss", "probability", "lost over sent"),
    Metric("paths", "retransmits", "packets", "segments sent again on the same path"),
    Metric("paths", "timeouts", "events", "retransmission timeouts"),
    Metric("paths", "recoveries", "events", "fast recoveries begun"),
    Metric("paths", "marks", "events", "reductions for echoed marks (ECN)"),
    Metric("paths", "undone", "events", "reductions found to be spurious and taken back"),
    Metric("paths", "probes", "packets", "tail-loss probes sent"),
    Metric("paths", "echoed_packets", "packets", "packets of UDP that came back (echo)"),
    Metric("paths", "cwnd_segments", "segments", "congestion window, mean over samples"),
    Metric("paths", "srtt_s", "s", "smoothed round-trip time, mean over samples"),
    Metric("paths", "rto_s", "s", "retransmission timeout, not backed off, mean over samples"),
    Metric("paths", "busy_s", "s", "linux: time with data in flight or waiting to be sent"),
    Metric(
        "paths",
        "receive_window_limited_s",
        "s",
        "linux: part of it in which the receive window was the limit",
    ),
    Metric(
        "paths",
        "send_buffer_limited_s",
        "s",
        "linux: part of it in which the send buffer was the limit",
    ),
    Metric("paths", "min_rtt_s", "s", "linux: the kernel's minimum round trip, mean over samples"),
    Metric("paths", "pmtu_bytes", "bytes", "linux: path MTU, mean over samples"),
    Metric(
        "paths",
        "reordering",
        "packets",
        "linux: the kernel's estimate of reordering, mean over samples",
    ),
    Metric(
        "paths",
        "starved",
        "fraction",
        "linux: samples at which the window had room and the path nothing to send",
    ),
    Metric("coding", "arrived_packets", "packets", "combinations that arrived"),
    Metric("coding", "innovative_packets", "packets", "those that brought a degree of freedom"),
    Metric("coding", "decoded_segments", "segments", "segments decoded"),
    Metric(
        "coding",
        "decoding_delay_s",
        "s",
        "mean time from a segment's being seen to its being decoded",
    ),
    Metric("coding", "asked", "events", "times that Couple+ began to ask why packets were lost"),
    Metric("coding", "noise", "events", "times that it found noise"),
    Metric("coding", "congestion", "events", "times that it found congestion"),
    Metric("links", "copies", "links", "number of private copies; 1 for a shared link"),
    Metric("links", "arrived_packets", "packets", "packets offered to the link"),
    Metric("links", "dropped_packets", "packets", "packets dropped by its queue"),
    Metric("links", "marked_packets", "packets", "packets marked by its queue (CE)"),
    Metric("links", "lost_packets", "packets", "packets lost at random, or while it was down"),
    Metric("links", "loss", "probability", "dropped and lost over arrived"),
    Metric(
        "links",
        "throughput_bps",
        "bit/s",
        "bytes that it carried to its end, those lost on the line included",
    ),
    Metric(
        "links",
        "utilisation",
        "fraction",
        "throughput over rate, the mean of which is taken where it changes",
    ),
    Metric(
        "links",
        "queue_packets",
        "packets",
        "packets that wait, the one in transmission not counted; mean over samples",
    ),
    Metric(
        "links",
        "queue_delay_p50_s",
        "s",
        "median over samples of waiting bytes over the rate of the moment; also p95 and p99",
    ),
    Metric("stations", "offered_packets", "packets", "packets that came to the station's queue"),
    Metric("stations", "dropped_packets", "packets", "packets for which the queue had no room"),
    Metric("stations", "attempts", "transmissions", "transmissions; an aggregate is one"),
    Metric("stations", "unanswered", "transmissions", "those that were not acknowledged"),
    Metric("stations", "failed_packets", "packets", "packets given up after the last attempt"),
    Metric("stations", "acknowledged_packets", "packets", "packets that were acknowledged"),
    Metric("stations", "airtime", "fraction", "part of the time in which it was sending data"),
    Metric("stations", "queue_packets", "packets", "packets in its queue, mean over samples"),
    Metric("stations", "empty", "fraction", "part of the samples at which its queue was empty"),
    Metric("stations", "handovers", "events", "times that it changed its access point or lost it"),
    Metric(
        "ways",
        "connected",
        "fraction",
        "samples at which places allowed a way, whatever routing knew",
    ),
    Metric("ways", "unreachable_packets", "packets", "packets for which routing had no way"),
    Metric(
        "ways", "route_changes", "packets", "packets that came over another route than the last one"
    ),
    Metric("routes", "packets", "packets", "packets that arrived over the route, since the start"),
    Metric("routes", "first_s", "s", "when the first of them arrived"),
    Metric("routes", "last_s", "s", "when the last one did"),
    Metric(
        "classes", "rtt_mean_s", "s", "mean over samples and users of the newest round-trip sample"
    ),
    Metric("classes", "rtt_p50_s", "s", "its median; also p95 and p99"),
    Metric(
        "classes",
        "cwnd_p50_segments",
        "segments",
        "median window of the class's paths over samples; also p05 and p95",
    ),
    Metric(
        "classes", "completed_flows", "flows", "transfers begun after the warm-up and completed"
    ),
    Metric("classes", "fct_mean_s", "s", "mean completion time of these transfers"),
    Metric("classes", "fct_p50_s", "s", "its median; also p95 and p99"),
    Metric("series.paths", "cwnd_segments", "segments", "congestion window over time"),
    Metric(
        "series.paths",
        "ssthresh_segments",
        "segments",
        "slow-start threshold over time; infinite before the first congestion event",
    ),
    Metric(
        "series.paths",
        "srtt_s",
        "s",
        "smoothed round-trip time over time; 0 before the first sample",
    ),
    Metric(
        "series.paths", "arrived_bytes", "bytes", "IP bytes of data packets arrived since the start"
    ),
    Metric(
        "series.paths",
        "taken_bytes",
        "bytes",
        "payload taken in by the path's receiver since the start, each byte once",
    ),
    Metric(
        "series.paths",
        "rto_s",
        "s",
        "retransmission timeout, not backed off, over time; 0 before the first sample",
    ),
    Metric("series.paths", "sent_packets", "packets", "data packets sent since the start"),
    Metric(
        "series.flows",
        "held_bytes",
        "bytes",
        "data at the receiver that waits for what comes before it",
    ),
    Metric("series.stations", "queue_packets", "packets", "packets in the queue over time"),
    Metric("series.stations", "attempts", "transmissions", "transmissions since the start"),
    Metric("series.stations", "unanswered", "transmissions", "those not acknowledged"),
    Metric("series.stations", "failed_packets", "packets", "packets given up since the start"),
    Metric("series.nodes", "x_m", "m", "where each node is, to the east"),
    Metric("series.nodes", "y_m", "m", "where each node is, to the north"),
    Metric("series.links", "queue_packets", "packets", "waiting packets over time"),
    Metric("series.links", "dropped_packets", "packets", "packets dropped or lost since the start"),
]
"""Every column of a result; those that begin with "linux:" have only runs on the kernel."""
