//! Measurements of routing and of positions.

use crate::{Mean, SharedMedia};
use network::routing::Node;
use network::{HopCounters, Packet};
use std::collections::BTreeMap;
use units::Time;

/// A way, after a run: one user's link over a medium where positions matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WayResult {
    /// The link of the plan.
    pub link: u32,
    /// The medium.
    pub medium: u32,
    /// The number of the user, if the link is per user.
    pub user: u32,
    /// Part of the samples at which positions allowed a route, whether routing had found it or not.
    pub connected: f64,
    /// Packets since the warm-up for which routing had no route.
    pub unreachable_packets: u64,
    /// Packets since the warm-up that arrived over another route than the packet before.
    pub route_changes: u64,
}

/// A route of packets of a way.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteResult {
    /// Index among the ways.
    pub way: u32,
    /// Stations of the medium, from first to last.
    pub nodes: Vec<Node>,
    /// Packets since the start that arrived over it.
    pub packets: u64,
    /// When the first of them arrived, in seconds.
    pub first_s: f64,
    /// When the last of them arrived, in seconds.
    pub last_s: f64,
}

/// Positions and traffic of nodes over time.
#[derive(Clone, Debug, Default)]
pub struct NodeSeries {
    /// Metres to the east: a row for each sample, a column for each node.
    pub x_m: Vec<f64>,
    /// Metres to the north.
    pub y_m: Vec<f64>,
    /// Traffic since the sample before.
    pub hops: HopSeries,
}

/// Traffic between stations: a row for each pair with traffic between two samples.
#[derive(Clone, Debug, Default)]
pub struct HopSeries {
    /// Number of the sample at the end of the interval, from 0.
    pub sample: Vec<u32>,
    /// The medium.
    pub medium: Vec<u32>,
    /// The sending station.
    pub from: Vec<i32>,
    /// The receiving station; −1 for all.
    pub to: Vec<i32>,
    /// Bytes of packets.
    pub bytes: Vec<u64>,
    /// Routing messages.
    pub messages: Vec<u64>,
}

/// Measures routing in one run.
#[derive(Default)]
pub(crate) struct RoutingMeter {
    /// For each way unreachable packets and route changes at the end of the warm-up.
    baseline: Vec<(u64, u64)>,
    connected: Vec<Mean>,
    /// Counters at the sample before.
    sent: BTreeMap<(u32, Node, Option<Node>), HopCounters>,
    samples: u32,
}

impl RoutingMeter {
    /// The warm-up is over.
    pub(crate) fn start<P: Packet>(&mut self, media: &SharedMedia<P>) {
        let tallies = media.routed().map(|way| (way.counters.unreachable, way.counters.changes));
        self.baseline = tallies.collect();
        self.connected = vec![Mean::default(); self.baseline.len()];
    }

    /// Samples which ways are connected.
    pub(crate) fn sample<P: Packet>(&mut self, media: &SharedMedia<P>) {
        for (mean, way) in self.connected.iter_mut().zip(media.routed()) {
            mean.add(f64::from(u8::from(way.connected)));
        }
    }

    /// Appends a row to `series`.
    pub(crate) fn record<P: Packet>(
        &mut self,
        series: &mut NodeSeries,
        media: &SharedMedia<P>,
        now: Time,
    ) {
        for position in media.positions(now) {
            series.x_m.push(position.x);
            series.y_m.push(position.y);
        }
        // Several links may lead from one station to another.
        let mut all: BTreeMap<_, HopCounters> = BTreeMap::new();
        for (medium, from, to, sent) in media.hops() {
            let sum = all.entry((medium, from, to)).or_default();
            sum.packets += sent.packets;
            sum.bytes += sent.bytes;
            sum.messages += sent.messages;
            sum.message_bytes += sent.message_bytes;
        }
        for ((medium, from, to), sent) in all {
            let before = self.sent.insert((medium, from, to), sent).unwrap_or_default();
            if before != sent {
                series.hops.sample.push(self.samples);
                series.hops.medium.push(medium);
                series.hops.from.push(i32::from(from));
                series.hops.to.push(to.map_or(-1, i32::from));
                series.hops.bytes.push(sent.bytes - before.bytes);
                series.hops.messages.push(sent.messages - before.messages);
            }
        }
        self.samples += 1;
    }

    /// One row for each way.
    pub(crate) fn ways<P: Packet>(&self, media: &SharedMedia<P>) -> Vec<WayResult> {
        let rows = media.routed().zip(&self.baseline).zip(&self.connected);
        let rows = rows.map(|((way, (unreachable, changes)), connected)| WayResult {
            link: way.planned,
            medium: way.medium,
            user: way.user,
            connected: connected.get(),
            unreachable_packets: way.counters.unreachable - unreachable,
            route_changes: way.counters.changes - changes,
        });
        rows.collect()
    }

    /// One row for each route of each way.
    pub(crate) fn routes<P: Packet>(media: &SharedMedia<P>) -> Vec<RouteResult> {
        let ways: BTreeMap<u32, u32> = media.routed().map(|way| way.link).zip(0..).collect();
        let rows = media.routes().filter_map(|route| {
            Some(RouteResult {
                way: *ways.get(&route.link)?,
                nodes: route.nodes,
                packets: route.packets,
                first_s: route.first.seconds(),
                last_s: route.last.seconds(),
            })
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| row.way);
        rows
    }
}
