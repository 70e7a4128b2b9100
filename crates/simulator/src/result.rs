//! The results of a run: scalars with units in their names, and series as columns on request.

use crate::trace::Trace;
use crate::world::Conservation;
use topology::{LinkResult, LinkSeries, NodeSeries, RouteResult, StationResult, WayResult};

/// The results of one run. Rates and counts cover the time after the warm-up.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed of the run.
    pub seed: u64,
    /// Hash of every event's time and source, in order.
    pub digest: u64,
    /// Events handled since the start.
    pub events: u64,
    /// Packets that came out of a link since the start.
    pub packet_hops: u64,
    /// How much time was simulated, in seconds.
    pub simulated_s: f64,
    /// The places of all packets since the start.
    pub conservation: Conservation,
    /// One row for each connection.
    pub flows: Vec<FlowResult>,
    /// One row for each path of each connection.
    pub paths: Vec<PathResult>,
    /// One row for each coded path.
    pub coding: Vec<CodingResult>,
    /// One row for each link of the plan.
    pub links: Vec<LinkResult>,
    /// One row for each station of each medium.
    pub stations: Vec<StationResult>,
    /// One row for each link over a medium on which positions matter.
    pub ways: Vec<WayResult>,
    /// One row for each route of packets of those links.
    pub routes: Vec<RouteResult>,
    /// One row for each class.
    pub classes: Vec<ClassResult>,
    /// Samples over time, if requested.
    pub series: Option<Box<Series>>,
    /// For each link of the world, the plan's link that it is, or is a copy of.
    pub planned: Vec<u32>,
    /// The trace, if requested.
    pub events_log: Option<Box<Trace>>,
}

/// A connection.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowResult {
    /// Index of its class.
    pub class: u32,
    /// Which user of the class.
    pub user: u32,
    /// IP bytes of data packets that arrived, copies included, in bit/s.
    pub throughput_bps: f64,
    /// Payload delivered in order, each byte once, in bit/s.
    pub goodput_bps: f64,
    /// When it started.
    pub start_s: f64,
    /// When a transfer was acknowledged whole; `NaN` if it was not.
    pub completed_s: f64,
    /// Duration of the transfer; `NaN` if it was not completed.
    pub fct_s: f64,
    /// Bytes that wait at the receiver for earlier bytes, mean over samples.
    pub held_bytes: f64,
    /// Maximum of these bytes over the samples.
    pub held_max_bytes: f64,
}

/// A path of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct PathResult {
    /// Index of the connection.
    pub flow: u32,
    /// Which of its paths.
    pub path: u32,
    /// IP bytes of data packets that arrived, in bit/s.
    pub throughput_bps: f64,
    /// Payload received by the path's receiver, each byte once, in bit/s; on a coded path, decoded
    /// payload.
    pub goodput_bps: f64,
    /// Data packets sent.
    pub sent_packets: u64,
    /// Data packets dropped or lost.
    pub lost_packets: u64,
    /// UDP packets echoed.
    pub echoed_packets: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Reductions for echoed marks (ECN).
    pub marks: u64,
    /// Reductions found to be spurious and undone.
    pub undone: u64,
    /// Tail-loss probes sent.
    pub probes: u64,
    /// Congestion window in segments, mean over samples.
    pub cwnd_segments: f64,
    /// Smoothed round-trip time, mean over samples.
    pub srtt_s: f64,
    /// Retransmission timeout without backoff, mean over samples.
    pub rto_s: f64,
}

/// A coded path of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct CodingResult {
    /// Index of the connection.
    pub flow: u32,
    /// Which of its paths.
    pub path: u32,
    /// Combinations that arrived.
    pub arrived_packets: u64,
    /// Combinations that brought a degree of freedom.
    pub innovative_packets: u64,
    /// Segments decoded.
    pub decoded_segments: u64,
    /// Mean time of a segment between being seen and being decoded; `NaN` if none was decoded.
    pub decoding_delay_s: f64,
    /// Losses that control began to classify.
    pub asked: u64,
    /// Losses found to be noise.
    pub noise: u64,
    /// Losses found to be congestion.
    pub congestion: u64,
}

/// A class of users.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassResult {
    /// Mean of the newest round-trip samples.
    pub rtt_mean_s: f64,
    /// 50th, 95th and 99th percentile of these samples.
    pub rtt_s: [f64; 3],
    /// 5th, 50th and 95th percentile of the windows of its paths.
    pub cwnd_segments: [f64; 3],
    /// Transfers that began after the warm-up and were completed.
    pub completed_flows: u64,
    /// Mean of their completion times; `NaN` without one.
    pub fct_mean_s: f64,
    /// 50th, 95th and 99th percentile of these times.
    pub fct_s: [f64; 3],
}

/// Samples over time. Matrices are stored row by row, one row for each sample.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Times of the samples.
    pub t_s: Vec<f64>,
    /// One column for each path.
    pub paths: PathSeries,
    /// Internal quantities of congestion control, sorted by path and name.
    pub internals: Vec<InternalSeries>,
    /// One column for each connection: bytes that wait for earlier bytes.
    pub held_bytes: Vec<f64>,
    /// One column for each link of the plan.
    pub links: LinkSeries,
    /// One column for each node of the plan.
    pub nodes: NodeSeries,
}

/// A quantity inside the congestion control of one path.
#[derive(Clone, Debug, PartialEq)]
pub struct InternalSeries {
    /// Number of the path among all paths.
    pub path: u32,
    /// Its name in the controller.
    pub name: Box<str>,
    /// One value for each sample; `NaN` where it was missing.
    pub values: Vec<f64>,
}

/// Matrices over paths.
#[derive(Clone, Debug, Default)]
pub struct PathSeries {
    /// Congestion windows.
    pub cwnd_segments: Vec<f64>,
    /// Slow-start thresholds; infinite before the first congestion event.
    pub ssthresh_segments: Vec<f64>,
    /// Smoothed round-trip times; zero before the first sample.
    pub srtt_s: Vec<f64>,
    /// IP bytes arrived since the start.
    pub arrived_bytes: Vec<f64>,
    /// Payload received since the start, each byte once.
    pub taken_bytes: Vec<f64>,
    /// Retransmission timeouts without backoff; zero before the first round-trip sample.
    pub rto_s: Vec<f64>,
    /// Data packets sent since the start.
    pub sent_packets: Vec<f64>,
}
