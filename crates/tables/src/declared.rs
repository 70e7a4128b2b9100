//! The tables: each column is declared once, with its unit, its meaning and its value.
//! `tools/generate_tables.py` writes `anabranch.tables` from [`DECLARED`].

use crate::sink::{Column, Declared, Sink};
#[cfg(target_os = "linux")]
use emulator::PathResult as EmulatedPath;
use scenario::Plan;
use simulator::{
    ClassResult, CodingResult, Event, FlowResult, InternalSeries, Outcome, PathResult, PathSeries,
    Series,
};
use topology::{
    HopSeries, LinkResult, LinkSeries, NodeSeries, RouteResult, StationResult, StationSeries,
    WayResult,
};
use units::Time;
use wire::capture::{Connection, Subflow};

/// Series of one thing with a row for each sample.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a, T> {
    /// What is sampled.
    pub of: &'a T,
    /// Number of samples.
    pub rows: usize,
}

/// Gives a column to `$to` by its kind: of one value for each row, or whole.
macro_rules! give {
    (words, $to:ident, $column:expr, $rows:ident, $index:pat_param, $row:ident, $value:expr) => {
        $to.words(
            $column,
            $rows.iter().enumerate().map(|($index, $row)| Some($value.into())),
        )
    };
    (optional_words, $to:ident, $column:expr, $rows:ident, $index:pat_param, $row:ident, $value:expr) => {
        $to.words(
            $column,
            $rows.iter().enumerate().map(|($index, $row)| $value.map(Into::into)),
        )
    };
    (matrix, $to:ident, $column:expr, $rows:ident, $index:pat_param, $row:ident, $value:expr) => {{
        let $row = $rows.of;
        $to.matrix($column, $value.into(), $rows.rows)
    }};
    (row_vectors, $to:ident, $column:expr, $rows:ident, $index:pat_param, $row:ident, $value:expr) => {{
        let values = $rows.iter().flat_map(|$row| $value).copied();
        $to.matrix($column, values.collect::<Vec<_>>().into(), $rows.len())
    }};
    (vector, $to:ident, $column:expr, $rows:ident, $index:pat_param, $row:ident, $value:expr) => {{
        let $row = $rows.of;
        $to.numbers($column, $value.into())
    }};
    (index_vector, $($rest:tt)*) => { give!(vector, $($rest)*) };
    ($kind:ident, $to:ident, $column:expr, $rows:ident, $index:pat_param, $row:ident, $value:expr) => {{
        let values = $rows.iter().enumerate().map(|($index, $row)| $value);
        $to.numbers($column, values.collect::<Vec<_>>().into())
    }};
}

/// A declared column.
macro_rules! column {
    ($kind:ident $column:ident $unit:literal $($meaning:literal)+) => {
        Column {
            kind: stringify!($kind),
            name: stringify!($column),
            unit: $unit,
            meaning: concat!($($meaning),+),
        }
    };
}

/// Declares tables, and makes the function that gives the columns of each to a [`Sink`]. A column
/// has a kind, a name, a unit, a value and, as its comment, a meaning; Python fills the columns
/// behind `beside`.
macro_rules! tables {
    ($(
        $(#[cfg($($on:tt)+)])?
        $(#[doc = $about:literal])+
        $table:ident $place:literal $fill:ident($rows:ident: $type:ty $(, $more:ident: $of:ty)*)
        |$index:pat_param, $row:ident| {
            $(
                $(#[doc = $meaning:literal])+
                $kind:ident $column:ident $unit:literal = $value:expr;
            )*
        } beside {
            $( $(#[doc = $also:literal])+ $other:ident $name:ident $measure:literal; )*
        }
    )*) => {
        $(
            $(#[cfg($($on)+)])?
            $(#[doc = $about])+
            ///
            /// # Errors
            /// Those of the sink.
            #[allow(unused_variables, reason = "some columns need no row, others no index")]
            pub fn $fill<S: Sink>(
                to: &mut S, $rows: $type $(, $more: $of)*
            ) -> Result<(), S::Error> {
                $(
                    give!(
                        $kind, to, &column!($kind $column $unit $($meaning)+),
                        $rows, $index, $row, $value
                    )?;
                )*
                Ok(())
            }
        )*

        /// Every table.
        pub const DECLARED: &[Declared] = &[$(
            Declared {
                name: stringify!($table),
                place: $place,
                about: concat!($($about),+),
                columns: &[
                    $(column!($kind $column $unit $($meaning)+),)*
                    $(column!($other $name $measure $($also)+),)*
                ],
            },
        )*];
    };
}

tables! {
    /// One row for each connection.
    Flows "flows" flows(rows: &[FlowResult], plan: &Plan) |_, row| {
        /// name of its class
        words class "" = plan.classes[row.class as usize].name.as_str();
        /// number of the user in the class
        indices user "" = row.user;
        /// IP bytes of data packets that arrived at the receiver, copies included
        numbers throughput_bps "bit/s" = row.throughput_bps;
        /// payload delivered in order to the application, each byte once
        numbers goodput_bps "bit/s" = row.goodput_bps;
        /// when the connection started
        numbers start_s "s" = row.start_s;
        /// when the last byte of a transfer was acknowledged; NaN if it was not
        numbers completed_s "s" = row.completed_s;
        /// how long the transfer took from its start; NaN if it was not completed
        numbers fct_s "s" = row.fct_s;
        /// out-of-order data held at the receiver, mean over samples
        numbers held_bytes "bytes" = row.held_bytes;
        /// out-of-order data held at the receiver, largest sample
        numbers held_max_bytes "bytes" = row.held_max_bytes;
    } beside {}

    /// One row for each path of each connection.
    Paths "paths" paths(rows: &[PathResult]) |_, row| {
        /// number of the connection
        indices flow "" = row.flow;
        /// number of the path in it
        indices path "" = row.path;
        /// IP bytes of data packets that arrived on the path
        numbers throughput_bps "bit/s" = row.throughput_bps;
        /// payload accepted by the path's receiver, each byte once; on coded paths the decoded
        /// payload, with TFRC and UDP all payload
        numbers goodput_bps "bit/s" = row.goodput_bps;
        /// data packets sent on the path
        numbers sent_packets "packets" = row.sent_packets;
        /// data packets dropped by a queue or lost on a link
        numbers lost_packets "packets" = row.lost_packets;
        /// lost packets over sent packets
        numbers loss "probability" = row.lost_packets as f64 / row.sent_packets as f64;
        /// UDP packets that came back to the sender (echo)
        numbers echoed_packets "packets" = row.echoed_packets;
        /// segments retransmitted on the same path
        numbers retransmits "packets" = row.retransmits;
        /// retransmission timeouts
        numbers timeouts "events" = row.timeouts;
        /// fast recoveries that began
        numbers recoveries "events" = row.recoveries;
        /// window reductions for echoed marks (ECN)
        numbers marks "events" = row.marks;
        /// window reductions undone because they were spurious
        numbers undone "events" = row.undone;
        /// tail-loss probes sent
        numbers probes "packets" = row.probes;
        /// congestion window, mean over samples
        numbers cwnd_segments "segments" = row.cwnd_segments;
        /// smoothed round-trip time, mean over samples
        numbers srtt_s "s" = row.srtt_s;
        /// retransmission timeout without backoff, mean over samples
        numbers rto_s "s" = row.rto_s;
    } beside {
        /// linux: time with data in flight or waiting to be sent
        numbers busy_s "s";
        /// linux: part of `busy_s` in which the receive window was the limit
        numbers receive_window_limited_s "s";
        /// linux: part of `busy_s` in which the send buffer was the limit
        numbers send_buffer_limited_s "s";
        /// linux: the kernel's minimum round trip, mean over samples
        numbers min_rtt_s "s";
        /// linux: path MTU, mean over samples
        numbers pmtu_bytes "bytes";
        /// linux: the kernel's estimate of reordering, mean over samples
        numbers reordering "packets";
        /// linux: fraction of samples at which the window had room and the path had nothing to send
        numbers starved "fraction";
    }

    /// One row for each coded path.
    Coding "coding" coding(rows: &[CodingResult]) |_, row| {
        /// number of the connection
        indices flow "" = row.flow;
        /// number of the path in it
        indices path "" = row.path;
        /// combinations that arrived
        numbers arrived_packets "packets" = row.arrived_packets;
        /// combinations that added a degree of freedom
        numbers innovative_packets "packets" = row.innovative_packets;
        /// segments decoded
        numbers decoded_segments "segments" = row.decoded_segments;
        /// mean time from when a segment is seen to when it is decoded
        numbers decoding_delay_s "s" = row.decoding_delay_s;
        /// times that Couple+ began to determine the cause of losses
        numbers asked "events" = row.asked;
        /// times that Couple+ found noise
        numbers noise "events" = row.noise;
        /// times that Couple+ found congestion
        numbers congestion "events" = row.congestion;
    } beside {}

    /// One row for each link of the plan; private copies of a link are summed.
    Links "links" links(rows: &[LinkResult], plan: &Plan) |index, row| {
        /// name of the link
        words name "" = plan.links[index].name.as_str();
        /// number of private copies; 1 for a shared link
        numbers copies "links" = row.copies;
        /// packets offered to the link
        numbers arrived_packets "packets" = row.arrived_packets;
        /// packets dropped by the link's queue
        numbers dropped_packets "packets" = row.dropped_packets;
        /// packets lost at random, or while the link was down
        numbers lost_packets "packets" = row.lost_packets;
        /// packets marked by the link's queue (CE)
        numbers marked_packets "packets" = row.marked_packets;
        /// dropped and lost packets over arrived packets
        numbers loss "probability" =
            (row.dropped_packets + row.lost_packets) as f64 / row.arrived_packets as f64;
        /// bytes carried to the end of the link, packets lost on the line included
        numbers throughput_bps "bit/s" = row.throughput_bps;
        /// throughput over rate, or over the mean rate if the rate changes
        numbers utilisation "fraction" = row.utilisation;
        /// waiting packets, without the packet in transmission, mean over samples
        numbers queue_packets "packets" = row.queue_packets;
        /// waiting bytes over the current rate, median over samples
        numbers queue_delay_p50_s "s" = row.queue_delay_s[0];
        /// waiting bytes over the current rate, 95th percentile over samples
        numbers queue_delay_p95_s "s" = row.queue_delay_s[1];
        /// waiting bytes over the current rate, 99th percentile over samples
        numbers queue_delay_p99_s "s" = row.queue_delay_s[2];
    } beside {}

    /// One row for each station of each medium.
    Stations "stations" stations(rows: &[StationResult], names: &[(&str, &str)]) |index, row| {
        /// name of the medium
        words medium "" = names[index].0;
        /// name of the station
        words name "" = names[index].1;
        /// packets that arrived at the station's queue
        numbers offered_packets "packets" = row.offered_packets;
        /// packets for which the queue had no room
        numbers dropped_packets "packets" = row.dropped_packets;
        /// transmissions; an aggregate counts as one
        numbers attempts "transmissions" = row.attempts;
        /// transmissions that were not acknowledged
        numbers unanswered "transmissions" = row.unanswered;
        /// packets given up after the last attempt
        numbers failed_packets "packets" = row.failed_packets;
        /// packets that were acknowledged
        numbers acknowledged_packets "packets" = row.acknowledged_packets;
        /// fraction of the time in which the station was sending data
        numbers airtime "fraction" = row.airtime;
        /// packets in the station's queue, mean over samples
        numbers queue_packets "packets" = row.queue_packets;
        /// fraction of samples at which the station's queue was empty
        numbers empty "fraction" = row.empty;
        /// times that the station changed or lost its access point
        numbers handovers "events" = row.handovers;
    } beside {}

    /// One row for each link over a medium with positions or routing, and for each of its users.
    Ways "ways" ways(rows: &[WayResult], plan: &Plan) |_, row| {
        /// name of the link
        words link "" = plan.links[row.link as usize].name.as_str();
        /// name of the medium
        words medium "" = plan.media[row.medium as usize].name.as_str();
        /// number of the user
        indices user "" = row.user;
        /// fraction of samples at which the positions allowed a route, even if routing did not know
        /// it
        numbers connected "fraction" = row.connected;
        /// packets for which routing had no route
        numbers unreachable_packets "packets" = row.unreachable_packets;
        /// packets that arrived over another route than the previous packet
        numbers route_changes "packets" = row.route_changes;
    } beside {}

    /// One row for each route that packets of a way took.
    Routes "routes" routes(rows: &[RouteResult], names: &[String]) |index, row| {
        /// its stations, as "a > b > c"
        words nodes "" = names[index].as_str();
        /// the row in `ways`
        indices way "" = row.way;
        /// packets that arrived over the route, since the start
        numbers packets "packets" = row.packets;
        /// when the first of these packets arrived
        numbers first_s "s" = row.first_s;
        /// when the last of these packets arrived
        numbers last_s "s" = row.last_s;
    } beside {}

    /// One row for each class of users.
    Classes "classes" classes(rows: &[ClassResult], plan: &Plan) |index, row| {
        /// name of the class
        words name "" = plan.classes[index].name.as_str();
        /// newest round-trip sample, mean over sampling times and users
        numbers rtt_mean_s "s" = row.rtt_mean_s;
        /// newest round-trip sample, median over sampling times and users
        numbers rtt_p50_s "s" = row.rtt_s[0];
        /// newest round-trip sample, 95th percentile over sampling times and users
        numbers rtt_p95_s "s" = row.rtt_s[1];
        /// newest round-trip sample, 99th percentile over sampling times and users
        numbers rtt_p99_s "s" = row.rtt_s[2];
        /// 5th percentile of the windows of the class's paths over samples
        numbers cwnd_p05_segments "segments" = row.cwnd_segments[0];
        /// median window of the class's paths over samples
        numbers cwnd_p50_segments "segments" = row.cwnd_segments[1];
        /// 95th percentile of the windows of the class's paths over samples
        numbers cwnd_p95_segments "segments" = row.cwnd_segments[2];
        /// transfers that began after the warm-up and were completed
        numbers completed_flows "flows" = row.completed_flows;
        /// mean completion time of these transfers
        numbers fct_mean_s "s" = row.fct_mean_s;
        /// median completion time of these transfers
        numbers fct_p50_s "s" = row.fct_s[0];
        /// 95th percentile of the completion time of these transfers
        numbers fct_p95_s "s" = row.fct_s[1];
        /// 99th percentile of the completion time of these transfers
        numbers fct_p99_s "s" = row.fct_s[2];
    } beside {}

    /// One row for each event.
    EventsLog "events_log" events_log(rows: &[Event], outcome: &Outcome, plan: &Plan) |_, row| {
        /// time of the event
        numbers t_s "s" = row.at.seconds();
        /// `drop`, `loss`, `recovery`, `timeout`, `join` or `leave`
        words kind "" = row.kind.word();
        /// number of the connection
        indices flow "" = outcome.paths[row.path as usize].flow;
        /// number of the path in it
        indices path "" = outcome.paths[row.path as usize].path;
        /// name of the link, for a drop or a loss
        optional_words link "" =
            row.link.map(|link| plan.links[outcome.planned[link as usize] as usize].name.as_str());
    } beside {}

    /// One row for each sample, one column for each path.
    PathSeries "series.paths" path_series(rows: Samples<PathSeries>) |_, row| {
        /// congestion window over time
        matrix cwnd_segments "segments" = &row.cwnd_segments;
        /// slow-start threshold over time; infinite before the first congestion event
        matrix ssthresh_segments "segments" = &row.ssthresh_segments;
        /// smoothed round-trip time over time; 0 before the first sample
        matrix srtt_s "s" = &row.srtt_s;
        /// IP bytes of data packets arrived since the start
        matrix arrived_bytes "bytes" = &row.arrived_bytes;
        /// payload accepted by the path's receiver since the start, each byte once
        matrix taken_bytes "bytes" = &row.taken_bytes;
        /// retransmission timeout without backoff, over time; 0 before the first sample
        matrix rto_s "s" = &row.rto_s;
        /// data packets sent since the start
        matrix sent_packets "packets" = &row.sent_packets;
    } beside {}

    /// One row for each quantity that a controller publishes of a path.
    Internals "series.internals" internals(rows: &[InternalSeries]) |_, row| {
        /// name of the quantity, with its unit
        words name "" = &*row.name;
        /// row of the path in the table of paths
        indices path "" = row.path;
        /// the quantity over time, one column for each sample; NaN where it has no value
        row_vectors value "by name" = &row.values;
    } beside {}

    /// One row for each sample, one column for each connection.
    FlowSeries "series.flows" flow_series(rows: Samples<Series>) |_, row| {
        /// out-of-order data held at the receiver
        matrix held_bytes "bytes" = &row.held_bytes;
    } beside {}

    /// One row for each sample, one column for each link.
    LinkSeries "series.links" link_series(rows: Samples<LinkSeries>) |_, row| {
        /// waiting packets over time
        matrix queue_packets "packets" = &row.queue_packets;
        /// packets dropped or lost since the start
        matrix dropped_packets "packets" = &row.dropped_packets;
    } beside {}

    /// One row for each sample, one column for each station, medium by medium.
    StationSeries "series.stations" station_series(rows: Samples<StationSeries>) |_, row| {
        /// packets in the queue over time
        matrix queue_packets "packets" = &row.queue_packets;
        /// transmissions since the start
        matrix attempts "transmissions" = &row.attempts;
        /// transmissions that were not acknowledged, since the start
        matrix unanswered "transmissions" = &row.unanswered;
        /// packets given up since the start
        matrix failed_packets "packets" = &row.failed_packets;
    } beside {}

    /// One row for each sample, one column for each node of the plan.
    Places "series.nodes" places(rows: Samples<NodeSeries>) |_, row| {
        /// position of each node, to the east
        matrix x_m "m" = &row.x_m;
        /// position of each node, to the north
        matrix y_m "m" = &row.y_m;
    } beside {}

    /// Traffic over media since the previous sample: one row for each pair of stations that was
    /// used.
    Hops "series.nodes.hops" hops(rows: Samples<HopSeries>) |_, row| {
        /// number of the sample
        index_vector sample "" = row.sample.clone();
        /// number of the medium
        index_vector medium "" = row.medium.clone();
        /// sending station
        index_vector from "" = row.from.clone();
        /// receiving station, −1 for all
        index_vector to "" = row.to.clone();
        /// bytes of packets
        vector bytes "bytes" = row.bytes.clone();
        /// messages of routing protocols
        vector messages "messages" = row.messages.clone();
    } beside {}

    #[cfg(target_os = "linux")]
    /// The emulator on paths: one row for each path of each user.
    EmulatedPaths "emulated.paths" emulated_paths(rows: &[EmulatedPath], plan: &Plan) |_, row| {
        /// name of the class
        words class "" = plan.classes[row.class as usize].name.as_str();
        /// number of the user in it
        indices user "" = row.user;
        /// number of the path
        indices path "" = row.path;
        /// IP bytes of data packets that arrived on the path
        numbers throughput_bps "bit/s" = row.throughput_bps;
        /// data packets sent on the path
        numbers sent_packets "packets" = row.sent_packets;
        /// data packets dropped by a queue or lost on a link
        numbers lost_packets "packets" = row.lost_packets;
    } beside {}

    #[cfg(target_os = "linux")]
    /// The emulator on paths: one row for each sample, one column for each path.
    EmulatedPathSeries "emulated.series.paths" emulated_path_series(rows: Samples<Vec<f64>>)
    |_, row| {
        /// IP bytes of data packets arrived since the start
        matrix arrived_bytes "bytes" = row;
    } beside {}

    /// One row for each connection of a capture.
    CapturedFlows "capture.flows" captured_flows(rows: &[Connection]) |_, row| {
        /// token of the initiator's key, in hexadecimal; missing for TCP, and if the keys were not
        /// captured
        optional_words token "" = row.token.map(|token| format!("{token:08x}"));
        /// number of subflows
        numbers subflows "subflows" = row.subflows.len() as u64;
        /// payload acknowledged, each byte once: of data ACKs for MPTCP
        numbers acked_bytes "bytes" = row.acked_bytes;
        /// joins with two valid HMACs (RFC 8684 §3.2)
        numbers joins_proved "joins" = row.proofs.0;
        /// joins with an invalid HMAC
        numbers joins_disproved "joins" = row.proofs.1;
        /// ADD_ADDR options, without echoes
        numbers addresses_announced "addresses" = row.announced;
        /// addresses in REMOVE_ADDR
        numbers addresses_withdrawn "addresses" = row.withdrawn;
    } beside {
        /// sum over its subflows
        numbers throughput_bps "bit/s";
        /// `acked_bytes` over the span
        numbers goodput_bps "bit/s";
    }

    /// One row for each subflow of a capture.
    CapturedPaths "capture.paths" captured_paths(rows: &[Subflow], flows: &[u32], first: Time)
    |index, row| {
        /// row of its connection
        indices flow "" = flows[index];
        /// address and port of the side that opened the subflow
        words initiator "" = row.initiator.to_string();
        /// address and port of the other side
        words responder "" = row.responder.to_string();
        /// whether the subflow uses MPTCP
        flags multipath "" = row.multipath;
        /// whether the initiator sent more payload than the responder in the whole capture
        flags upward "" = row.upward();
        /// time of the first packet, since the first packet of the capture
        numbers start_s "s" = row.first.since(first).seconds();
        /// time of the last packet, since the first packet of the capture
        numbers end_s "s" = row.last.since(first).seconds();
        /// packets with payload
        numbers sent_packets "packets" = row.main().data_packets;
        /// IP bytes of packets with payload
        numbers data_ip_bytes "bytes" = row.main().data_ip_bytes;
        /// payload, copies included
        numbers payload_bytes "bytes" = row.main().payload_bytes;
        /// packets whose payload was seen before, in part or whole
        numbers retransmits "packets" = row.main().again_packets;
        /// payload that was seen before
        numbers retransmitted_bytes "bytes" = row.main().again_bytes;
        /// payload that the other side acknowledged
        numbers acked_bytes "bytes" = row.main().acked_bytes;
        /// mean time from a segment to its ACK, over segments that were sent once and acknowledged
        /// in order
        numbers rtt_s "s" = row.main().rtt_s;
    } beside {
        /// `data_ip_bytes` over the span
        numbers throughput_bps "bit/s";
    }

    /// Bins over time, one column for each subflow of a capture.
    CapturedBins "capture.series" captured_bins(rows: Samples<(Vec<f64>, Vec<f64>)>) |_, row| {
        /// start of the bin, since the first packet
        vector t_s "s" = row.0.clone();
        /// IP bytes of packets with payload
        matrix data_ip_bytes "bytes" = &row.1;
    } beside {}
}
