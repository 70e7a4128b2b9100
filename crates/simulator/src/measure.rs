//! What is measured while a world runs. Looking changes nothing: the digest of a run is the same
//! whatever is sampled.

use crate::build::Catalogue;
use crate::histogram::Histogram;
use crate::result::{
    ClassResult, FlowResult, LinkResult, LinkSeries, Outcome, PathResult, PathSeries, Series,
};
use crate::world::{PathCount, World};
use network::Counters;
use scenario::{Plan, PlanQueue};
use transport::PathReport;
use units::{Rate, Time};

/// Counters at the end of the warm-up, which are subtracted from those at the end.
#[derive(Default)]
struct Baseline {
    /// One entry for each link of the plan.
    links: Vec<Counters>,
    counts: Vec<PathCount>,
    tallies: Vec<Tally>,
    goodput: Vec<u64>,
}

/// What a path's sender had done.
struct Tally {
    retransmits: u64,
    timeouts: u64,
    recoveries: u64,
}

impl Tally {
    fn of(report: &PathReport) -> Self {
        let PathReport { retransmits, timeouts, recoveries, .. } = *report;
        Tally { retransmits, timeouts, recoveries }
    }
}

/// Sums over samples after the warm-up.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    samples: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.samples += 1;
    }

    fn get(self) -> f64 {
        self.sum / f64::from(self.samples)
    }
}

/// Measures one run.
pub(crate) struct Meter<'a> {
    plan: &'a Plan,
    catalogue: Catalogue,
    baseline: Baseline,
    cwnd: Vec<Mean>,
    srtt: Vec<Mean>,
    rto: Vec<Mean>,
    queue: Vec<(Mean, Histogram)>,
    class_rtt: Vec<(Mean, Histogram)>,
    class_cwnd: Vec<Histogram>,
    series: Option<Box<Series>>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(plan: &'a Plan, catalogue: Catalogue, world: &World, series: bool) -> Self {
        let paths = world.routes.len();
        Meter {
            plan,
            catalogue,
            baseline: Baseline::default(),
            cwnd: vec![Mean::default(); paths],
            srtt: vec![Mean::default(); paths],
            rto: vec![Mean::default(); paths],
            queue: vec![Default::default(); plan.links.len()],
            class_rtt: vec![Default::default(); plan.classes.len()],
            class_cwnd: vec![Histogram::default(); plan.classes.len()],
            series: series.then(Box::default),
        }
    }

    /// The warm-up is over.
    pub(crate) fn start(&mut self, world: &World) {
        self.baseline = Baseline {
            links: link_counters(self.plan, &self.catalogue, world),
            counts: world.counts.clone(),
            tallies: reports(world).map(|report| Tally::of(&report)).collect(),
            goodput: world.flows.iter().map(|flow| flow.receiver.delivered()).collect(),
        };
    }

    /// Looks at the world at its present time.
    pub(crate) fn sample(&mut self, world: &mut World, warm: bool) {
        if warm {
            self.sample_paths(world);
            self.sample_links(world);
        }
        if let Some(series) = &mut self.series {
            series.t_s.push(world.now.seconds());
            record_paths(&mut series.paths, world);
            record_links(&mut series.links, world, &self.catalogue);
        }
    }

    fn sample_paths(&mut self, world: &World) {
        for flow in world.flows.iter().filter(|flow| flow.sender.start() <= world.now) {
            let class = flow.class as usize;
            for path in 0..flow.sender.paths() {
                let report = flow.sender.report(path);
                if !report.member {
                    continue;
                }
                let number = flow.first_path as usize + path;
                self.cwnd[number].add(report.cwnd);
                self.class_cwnd[class].add(report.cwnd);
                if report.srtt.0 > 0 {
                    self.srtt[number].add(report.srtt.seconds());
                    self.rto[number].add(report.rto.seconds());
                    self.class_rtt[class].0.add(report.latest_rtt.seconds());
                    self.class_rtt[class].1.add(report.latest_rtt.seconds());
                }
            }
        }
    }

    /// Queues of shared links; private copies would need a histogram for each user.
    fn sample_links(&mut self, world: &mut World) {
        for (planned, link) in shared(self.plan, &self.catalogue) {
            let backlog = world.links[link].backlog(world.now);
            let (mean, delay) = &mut self.queue[planned];
            mean.add(backlog.packets as f64);
            let rate = self.plan.links[planned].rate.unwrap_or(Rate(u64::MAX));
            delay.add(8.0 * backlog.bytes as f64 / rate.0 as f64);
        }
    }

    /// The results of the run.
    pub(crate) fn finish(self, seed: u64, world: World) -> Outcome {
        let seconds = world.now.seconds() - self.plan.warmup.seconds();
        Outcome {
            seed,
            digest: world.totals.digest,
            events: world.totals.events,
            packet_hops: world.totals.hops,
            simulated_s: world.now.seconds(),
            conservation: world.conservation(),
            flows: self.flow_results(&world, seconds),
            paths: self.path_results(&world, seconds),
            links: self.link_results(&world, seconds),
            classes: self.class_results(),
            series: self.series,
            planned: self.catalogue.planned,
            events_log: world.trace,
        }
    }

    fn flow_results(&self, world: &World, seconds: f64) -> Vec<FlowResult> {
        let mut users = vec![0; self.plan.classes.len()];
        let flows = world.flows.iter().enumerate().map(|(index, flow)| {
            let user = &mut users[flow.class as usize];
            *user += 1;
            let paths = flow.first_path as usize..flow.first_path as usize + flow.sender.paths();
            let arrived = |counts: &[PathCount]| -> u64 {
                counts[paths.clone()].iter().map(|count| count.arrived_bytes).sum()
            };
            let wire = arrived(&world.counts) - arrived(&self.baseline.counts);
            let goodput = flow.receiver.delivered() - self.baseline.goodput[index];
            FlowResult {
                class: flow.class,
                user: *user - 1,
                throughput_bps: 8.0 * wire as f64 / seconds,
                goodput_bps: 8.0 * goodput as f64 / seconds,
                start_s: flow.sender.start().seconds(),
                completed_s: flow.sender.completed().map_or(f64::NAN, Time::seconds),
            }
        });
        flows.collect()
    }

    fn path_results(&self, world: &World, seconds: f64) -> Vec<PathResult> {
        let rows = reports(world).zip(&self.baseline.tallies).enumerate();
        let rows = rows.map(|(number, (now, then))| {
            let now = Tally::of(&now);
            let (count, before) = (world.counts[number], self.baseline.counts[number]);
            let flow = world.routes[number].flow;
            PathResult {
                flow,
                path: number as u32 - world.flows[flow as usize].first_path,
                throughput_bps: 8.0 * (count.arrived_bytes - before.arrived_bytes) as f64 / seconds,
                sent_packets: count.sent - before.sent,
                lost_packets: count.lost - before.lost,
                retransmits: now.retransmits - then.retransmits,
                timeouts: now.timeouts - then.timeouts,
                recoveries: now.recoveries - then.recoveries,
                cwnd_segments: self.cwnd[number].get(),
                srtt_s: self.srtt[number].get(),
                rto_s: self.rto[number].get(),
            }
        });
        rows.collect()
    }

    /// One row for each link of the plan; private copies are summed.
    fn link_results(&self, world: &World, seconds: f64) -> Vec<LinkResult> {
        let counters = link_counters(self.plan, &self.catalogue, world);
        let pairs = counters.iter().zip(&self.baseline.links);
        let mut rows: Vec<LinkResult> = pairs
            .map(|(now, then)| LinkResult {
                arrived_packets: now.arrived - then.arrived,
                dropped_packets: now.queue_drops - then.queue_drops,
                lost_packets: now.losses - then.losses,
                throughput_bps: 8.0 * (now.carried_bytes - then.carried_bytes) as f64 / seconds,
                ..LinkResult::default()
            })
            .collect();
        for planned in &self.catalogue.planned {
            rows[*planned as usize].copies += 1;
        }
        for (row, (link, (mean, delay))) in
            rows.iter_mut().zip(self.plan.links.iter().zip(&self.queue))
        {
            let capacity = link.rate.map_or(f64::NAN, |rate| rate.0 as f64 * f64::from(row.copies));
            row.utilisation = row.throughput_bps / capacity;
            if link.queue != PlanQueue::Unlimited || link.rate.is_some() {
                row.queue_packets = mean.get();
                row.queue_delay_s = [0.5, 0.95, 0.99].map(|q| delay.quantile(q));
            }
        }
        rows
    }

    fn class_results(&self) -> Vec<ClassResult> {
        let rows =
            self.class_rtt.iter().zip(&self.class_cwnd).map(|((mean, rtt), cwnd)| ClassResult {
                rtt_mean_s: mean.get(),
                rtt_s: [0.5, 0.95, 0.99].map(|q| rtt.quantile(q)),
                cwnd_segments: [0.05, 0.5, 0.95].map(|q| cwnd.quantile(q)),
            });
        rows.collect()
    }
}

/// What has happened on each link of the plan; private copies are summed.
fn link_counters(plan: &Plan, catalogue: &Catalogue, world: &World) -> Vec<Counters> {
    let mut sums = vec![Counters::default(); plan.links.len()];
    for (link, planned) in world.links.iter().zip(&catalogue.planned) {
        let counters = link.counters();
        let sum = &mut sums[*planned as usize];
        sum.arrived += counters.arrived;
        sum.queue_drops += counters.queue_drops;
        sum.losses += counters.losses;
        sum.carried_bytes += counters.carried_bytes;
    }
    sums
}

/// Links that are not private copies: index in the plan and in the world.
fn shared<'a>(
    plan: &'a Plan,
    catalogue: &'a Catalogue,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let links =
        catalogue.planned.iter().enumerate().map(|(link, planned)| (*planned as usize, link));
    links.filter(|(planned, _)| !plan.links[*planned].per_user)
}

fn reports(world: &World) -> impl Iterator<Item = PathReport> + '_ {
    let of_flow = |flow: &'_ crate::world::Flow| {
        (0..flow.sender.paths()).map(|path| flow.sender.report(path)).collect::<Vec<_>>()
    };
    world.flows.iter().flat_map(of_flow)
}

fn record_paths(series: &mut PathSeries, world: &World) {
    for (report, count) in reports(world).zip(&world.counts) {
        let of_member = |value: f64| if report.member { value } else { f64::NAN };
        series.cwnd_segments.push(of_member(report.cwnd));
        series.ssthresh_segments.push(of_member(report.ssthresh));
        series.srtt_s.push(report.srtt.seconds());
        series.arrived_bytes.push(count.arrived_bytes as f64);
    }
}

/// One column for each link of the plan, in its order; private copies are summed.
fn record_links(series: &mut LinkSeries, world: &mut World, catalogue: &Catalogue) {
    let links = catalogue.planned.iter().copied().max().map_or(0, |most| most as usize + 1);
    let row = series.queue_packets.len();
    series.queue_packets.resize(row + links, 0.0);
    series.dropped_packets.resize(row + links, 0.0);
    for (link, planned) in catalogue.planned.iter().enumerate() {
        let column = row + *planned as usize;
        series.queue_packets[column] += world.links[link].backlog(world.now).packets as f64;
        let counters = world.links[link].counters();
        series.dropped_packets[column] += (counters.queue_drops + counters.losses) as f64;
    }
}
