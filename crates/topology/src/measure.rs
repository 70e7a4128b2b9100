//! Measurements on links; copies of a per-user link are summed.

use crate::routing::RoutingMeter;
use crate::shared_media::LinkState;
use crate::stations::StationMeter;
use crate::{
    Histogram, Mean, NodeSeries, RouteResult, SharedMedia, StationResult, StationSeries, WayResult,
};
use network::{Backlog, Counters, Link, Packet, Queue};
use scenario::Plan;
use units::{Rate, Span, Time};

/// A link of the plan after a run, over the time since the warm-up; copies of a per-user link are
/// summed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkResult {
    /// Number of copies.
    pub copies: u32,
    /// Packets offered.
    pub arrived_packets: u64,
    /// Packets dropped by the queue.
    pub dropped_packets: u64,
    /// Packets lost at random or while it was down.
    pub lost_packets: u64,
    /// Packets marked by the queue (CE).
    pub marked_packets: u64,
    /// Rate of bytes that left the queue, packets lost on the line included, in bit/s.
    pub throughput_bps: f64,
    /// Fraction of the capacity used; `NaN` without a rate.
    pub utilisation: f64,
    /// Waiting packets, mean over samples.
    pub queue_packets: f64,
    /// Queueing delay: 50th, 95th and 99th percentile over samples.
    pub queue_delay_s: [f64; 3],
}

/// Matrices over links, stored row by row, one row for each sample.
#[derive(Clone, Debug, Default)]
pub struct LinkSeries {
    /// Waiting packets.
    pub queue_packets: Vec<f64>,
    /// Packets dropped or lost since the start.
    pub dropped_packets: Vec<f64>,
    /// The stations of media, medium by medium.
    pub stations: StationSeries,
}

/// What a meter reads of a link, whatever its packets are.
pub trait MeasuredLink {
    /// Packets and bytes that wait at `now`, without the packet in transmission.
    fn backlog(&mut self, now: Time) -> Backlog;

    /// Time from `now` until all accepted packets are out, if the link has opportunities.
    fn clears_in(&self, now: Time) -> Option<Span>;

    /// The present rate, if there is one.
    fn rate(&self) -> Option<Rate>;

    /// Counters since the start.
    fn counters(&self) -> Counters;
}

impl<P: Packet> MeasuredLink for Link<P> {
    fn backlog(&mut self, now: Time) -> Backlog {
        Link::backlog(self, now)
    }

    fn clears_in(&self, now: Time) -> Option<Span> {
        Link::clears_in(self, now)
    }

    fn rate(&self) -> Option<Rate> {
        Link::rate(self)
    }

    fn counters(&self) -> Counters {
        Link::counters(self)
    }
}

/// At this rate or below a link is in outage: the queueing delay is unknown.
const OUTAGE: Rate = Rate(1);

/// A link of the plan, as its results need it.
struct PlannedLink {
    /// Mean rate after the warm-up, changes included, in bit/s; `NaN` without a rate.
    capacity: f64,
    per_user: bool,
    /// Whether it is over a shared medium, where packets wait.
    on_medium: bool,
    /// Whether packets may have to wait.
    queues: bool,
    waiting: Mean,
    delay: Histogram,
}

/// Measures the links of one run; it does not change them. Links come in the order of their
/// numbers.
pub struct LinkMeter {
    rows: Vec<PlannedLink>,
    /// For each link of the world its index in the plan, or that of the link that it copies.
    planned: Vec<u32>,
    /// Counters of each link of the plan at the end of the warm-up.
    baseline: Vec<Counters>,
    stations: StationMeter,
    routing: RoutingMeter,
}

impl LinkMeter {
    /// A meter for the links of `plan`; `planned` has the index in the plan of each link of the
    /// world.
    pub fn new(plan: &Plan, planned: Vec<u32>) -> Self {
        let rows = plan.links.iter().map(|link| PlannedLink {
            capacity: link.mean_rate_bps(plan.warmup, plan.duration),
            per_user: link.per_user,
            on_medium: !link.attachments.is_empty(),
            queues: link.queue != Queue::Unlimited
                || link.rate.is_some()
                || !link.attachments.is_empty(),
            waiting: Mean::default(),
            delay: Histogram::default(),
        });
        let baseline = vec![Counters::default(); plan.links.len()];
        let (stations, routing) = (StationMeter::default(), RoutingMeter::default());
        LinkMeter { rows: rows.collect(), planned, baseline, stations, routing }
    }

    /// The warm-up is over: earlier events do not count.
    pub fn start<'a, P: Packet>(
        &mut self,
        links: impl Iterator<Item = &'a dyn MeasuredLink>,
        media: &SharedMedia<P>,
    ) {
        self.baseline = self.counters(links, media);
        self.stations.start(media);
        self.routing.start(media);
    }

    /// Samples the queues of shared links at `now`; copies of per-user links would need a histogram
    /// for each user.
    pub fn sample<'a, P: Packet>(
        &mut self,
        links: impl Iterator<Item = &'a mut dyn MeasuredLink>,
        media: &SharedMedia<P>,
        now: Time,
    ) {
        self.stations.sample(media);
        self.routing.sample(media);
        let mut inside = vec![0; self.rows.len()];
        media.links().for_each(|link| inside[link.planned] += link.inside);
        for (row, inside) in self.rows.iter_mut().zip(inside).filter(|(row, _)| row.on_medium) {
            row.waiting.add(inside as f64);
        }
        for (link, planned) in links.zip(&self.planned) {
            let row = &mut self.rows[*planned as usize];
            if row.per_user || row.on_medium {
                continue;
            }
            let backlog = link.backlog(now);
            row.waiting.add(backlog.packets as f64);
            if let Some(clears) = link.clears_in(now) {
                row.delay.add(clears.seconds());
                continue;
            }
            let rate = link.rate().unwrap_or(Rate(u64::MAX));
            if rate > OUTAGE {
                row.delay.add(8.0 * backlog.bytes as f64 / rate.0 as f64);
            }
        }
    }

    /// Appends a row to `series`: one column for each link of the plan that is in the world, in the
    /// plan's order.
    pub fn record<'a, P: Packet>(
        &self,
        series: &mut LinkSeries,
        links: impl Iterator<Item = &'a mut dyn MeasuredLink>,
        media: &SharedMedia<P>,
        now: Time,
    ) {
        let columns = self.planned.iter().copied().max().map_or(0, |most| most as usize + 1);
        let row = series.queue_packets.len();
        series.queue_packets.resize(row + columns, 0.0);
        series.dropped_packets.resize(row + columns, 0.0);
        for (link, planned) in links.zip(&self.planned) {
            let column = row + *planned as usize;
            series.queue_packets[column] += link.backlog(now).packets as f64;
            let counters = link.counters();
            series.dropped_packets[column] += (counters.queue_drops + counters.losses) as f64;
        }
        StationMeter::record(&mut series.stations, media);
        let links = || media.links().filter(|link| link.planned < columns);
        for LinkState { planned, .. } in links() {
            series.queue_packets[row + planned] = 0.0;
            series.dropped_packets[row + planned] = 0.0;
        }
        for LinkState { planned, counters, inside } in links() {
            series.queue_packets[row + planned] += *inside as f64;
            let dropped = counters.queue_drops + counters.losses;
            series.dropped_packets[row + planned] += dropped as f64;
        }
    }

    /// One row for each link of the plan, over the `seconds` since [`LinkMeter::start`].
    pub fn results<'a, P: Packet>(
        &self,
        links: impl Iterator<Item = &'a dyn MeasuredLink>,
        media: &SharedMedia<P>,
        seconds: f64,
    ) -> Vec<LinkResult> {
        let counters = self.counters(links, media);
        let pairs = counters.iter().zip(&self.baseline);
        let mut results: Vec<LinkResult> = pairs
            .map(|(now, then)| LinkResult {
                arrived_packets: now.arrived - then.arrived,
                dropped_packets: now.queue_drops - then.queue_drops,
                lost_packets: now.losses - then.losses,
                marked_packets: now.marks - then.marks,
                throughput_bps: 8.0 * (now.carried_bytes - then.carried_bytes) as f64 / seconds,
                ..LinkResult::default()
            })
            .collect();
        for planned in &self.planned {
            results[*planned as usize].copies += 1;
        }
        for (result, row) in results.iter_mut().zip(&self.rows) {
            result.utilisation = result.throughput_bps / (row.capacity * f64::from(result.copies));
            if row.queues {
                result.queue_packets = row.waiting.get();
                result.queue_delay_s = [0.5, 0.95, 0.99].map(|q| row.delay.quantile(q));
            }
        }
        results
    }

    /// One row for each station of each medium, over the `seconds` since [`LinkMeter::start`].
    pub fn stations<P: Packet>(&self, media: &SharedMedia<P>, seconds: f64) -> Vec<StationResult> {
        self.stations.results(media, seconds)
    }

    /// Appends a row to `series`: positions of nodes, and their traffic.
    pub fn record_nodes<P: Packet>(
        &mut self,
        series: &mut NodeSeries,
        media: &SharedMedia<P>,
        now: Time,
    ) {
        self.routing.record(series, media, now);
    }

    /// One row for each link over a medium where positions matter, and one for each route of its
    /// packets.
    pub fn routing<P: Packet>(&self, media: &SharedMedia<P>) -> (Vec<WayResult>, Vec<RouteResult>) {
        (self.routing.ways(media), RoutingMeter::routes(media))
    }

    /// For each link of the world its index in the plan, or that of the link that it copies.
    pub fn planned(self) -> Vec<u32> {
        self.planned
    }

    /// Counters of each link of the plan.
    fn counters<'a, P: Packet>(
        &self,
        links: impl Iterator<Item = &'a dyn MeasuredLink>,
        media: &SharedMedia<P>,
    ) -> Vec<Counters> {
        let mut sums = vec![Counters::default(); self.rows.len()];
        for (link, planned) in links.zip(&self.planned) {
            let counters = link.counters();
            let sum = &mut sums[*planned as usize];
            sum.arrived += counters.arrived;
            sum.queue_drops += counters.queue_drops;
            sum.losses += counters.losses;
            sum.marks += counters.marks;
            sum.carried_bytes += counters.carried_bytes;
        }
        // A link over a shared medium is counted at its medium links, one for each user, and not at
        // the link after the medium.
        media.links().for_each(|link| sums[link.planned] = Counters::default());
        for LinkState { planned, counters, .. } in media.links() {
            let sum = &mut sums[*planned];
            sum.arrived += counters.arrived;
            sum.queue_drops += counters.queue_drops;
            sum.losses += counters.losses;
            sum.carried_bytes += counters.carried_bytes;
        }
        sums
    }
}
