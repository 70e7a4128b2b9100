//! Measurements of a running world. They do not change it: the digest of a run is the same with any
//! sampling.

use crate::result::{
    ClassResult, CodingResult, FlowResult, InternalSeries, Outcome, PathResult, PathSeries, Series,
};
use crate::trace::Trace;
use crate::world::{Path, PathCount, World};
use control::Verdicts;
use network::reserve_in_huge_pages;
use scenario::Plan;
use topology::{Histogram, LinkMeter, Mean};
use transport::PathReport;
use transport::coded::Heard;
use units::{Span, Time};

/// Counters at the end of the warm-up, which are subtracted from those at the end. Without a
/// warm-up the lists are empty: see [`earlier`].
#[derive(Default)]
struct Baseline {
    counts: Vec<PathCount>,
    tallies: Vec<Tally>,
    goodput: Vec<u64>,
    taken: Vec<u64>,
    /// Counters of the coded paths, in order.
    coded: Vec<(Heard, Verdicts)>,
}

/// The counter with a `number` at the end of the warm-up. In an empty list all are zero.
fn earlier<T: Copy + Default>(counters: &[T], number: usize) -> T {
    counters.get(number).copied().unwrap_or_default()
}

/// Counters of a path's sender.
#[derive(Clone, Copy, Default)]
struct Tally {
    retransmits: u64,
    timeouts: u64,
    recoveries: u64,
    marks: u64,
    undone: u64,
    probes: u64,
    echoed: u64,
}

impl Tally {
    fn of(report: &PathReport) -> Self {
        let PathReport { retransmits, timeouts, recoveries, marks, undone, probes, echoed, .. } =
            *report;
        Tally { retransmits, timeouts, recoveries, marks, undone, probes, echoed }
    }
}

/// Sums over the samples of a path.
#[derive(Clone, Copy, Default)]
struct Sampled {
    cwnd: f64,
    srtt_s: f64,
    rto_s: f64,
    samples: u32,
    /// Samples since the path has had a round-trip time.
    timed: u32,
}

impl Sampled {
    fn add(&mut self, report: &PathReport) {
        self.cwnd += report.cwnd;
        self.samples += 1;
        if report.srtt > Span::ZERO {
            self.srtt_s += report.srtt.seconds();
            self.rto_s += report.rto.seconds();
            self.timed += 1;
        }
    }

    /// Mean window in segments, round-trip time and timeout in seconds; `NaN` without samples.
    fn means(&self) -> [f64; 3] {
        let Sampled { cwnd, srtt_s, rto_s, samples, timed } = *self;
        [cwnd / f64::from(samples), srtt_s / f64::from(timed), rto_s / f64::from(timed)]
    }
}

/// Bytes that wait at the receiver of a connection for earlier ones.
#[derive(Clone, Copy, Default)]
struct Held {
    /// Over the samples.
    sum: f64,
    most: f64,
}

/// Measures one run.
pub(crate) struct Meter<'a> {
    plan: &'a Plan,
    links: LinkMeter,
    baseline: Baseline,
    /// For each path.
    windows: Vec<Sampled>,
    class_rtt: Vec<(Mean, Histogram)>,
    class_cwnd: Vec<Histogram>,
    /// For each connection.
    held: Vec<Held>,
    /// How often the connections were sampled.
    samples: u32,
    series: Option<Box<Series>>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(plan: &'a Plan, planned: Vec<u32>, world: &World, series: bool) -> Self {
        let paths = world.paths.len();
        Meter {
            plan,
            links: LinkMeter::new(plan, planned),
            baseline: Baseline::default(),
            windows: vec![Sampled::default(); paths],
            class_rtt: vec![Default::default(); plan.classes.len()],
            class_cwnd: vec![Histogram::default(); plan.classes.len()],
            held: vec![Held::default(); world.flows.len()],
            samples: 0,
            series: series.then(Box::default),
        }
    }

    /// The warm-up is over.
    pub(crate) fn start(&mut self, world: &World) {
        self.links.start(world.feeders.among(&world.links), &world.media);
        if world.totals.events == 0 {
            return; // there is no warm-up, and nothing to subtract
        }
        self.baseline = Baseline {
            counts: world.paths.iter().map(|path| path.count).collect(),
            tallies: reports(world).map(|report| Tally::of(&report)).collect(),
            goodput: delivered(world).collect(),
            taken: taken(world),
            coded: coded(world).map(|(_, heard, verdicts)| (heard, verdicts)).collect(),
        };
    }

    /// Takes a sample of the world at its present time.
    pub(crate) fn sample(&mut self, world: &mut World, warm: bool) {
        if warm {
            self.sample_paths(world);
            self.links.sample(world.feeders.among_mut(&mut world.links), &world.media, world.now);
        }
        if let Some(series) = &mut self.series {
            series.t_s.push(world.now.seconds());
            record_paths(&mut series.paths, world);
            record_internals(&mut series.internals, series.t_s.len(), world);
            let held = world.flows.iter().map(|flow| world.received(flow.first_path).held);
            series.held_bytes.extend(held.map(|bytes| bytes as f64));
            let links = world.feeders.among_mut(&mut world.links);
            self.links.record(&mut series.links, links, &world.media, world.now);
            self.links.record_nodes(&mut series.nodes, &world.media, world.now);
        }
    }

    fn sample_paths(&mut self, world: &World) {
        self.samples += 1;
        for (own, flow) in self.held.iter_mut().zip(&world.flows) {
            let held = world.received(flow.first_path).held as f64;
            *own = Held { sum: own.sum + held, most: own.most.max(held) };
        }
        let started = world.flows.iter().zip(&world.classes);
        for (flow, class) in started.filter(|(flow, _)| flow.ends.start() <= world.now) {
            let class = *class as usize;
            for path in 0..flow.ends.paths() {
                let report = flow.ends.report(path);
                if !report.member {
                    continue;
                }
                let number = flow.first_path as usize + path;
                self.windows[number].add(&report);
                self.class_cwnd[class].add(report.cwnd);
                if report.srtt.0 > 0 {
                    self.class_rtt[class].0.add(report.latest_rtt.seconds());
                    self.class_rtt[class].1.add(report.latest_rtt.seconds());
                }
            }
        }
    }

    /// The results of the run.
    pub(crate) fn finish(self, seed: u64, mut world: World, events: Option<Box<Trace>>) -> Outcome {
        let seconds = world.now.seconds() - self.plan.warmup.seconds();
        let (ways, routes) = self.links.routing(&world.media);
        let conservation = world.conservation();
        let links = self.links.results(world.feeders.among(&world.links), &world.media, seconds);
        world.forget_links();
        Outcome {
            seed,
            digest: world.totals.digest,
            events: world.totals.events,
            packet_hops: world.totals.hops,
            simulated_s: world.now.seconds(),
            conservation,
            flows: self.flow_results(&world, seconds),
            paths: self.path_results(&world, seconds),
            coding: self.coding_results(&world),
            links,
            stations: self.links.stations(&world.media, seconds),
            ways,
            routes,
            classes: self.class_results(&world),
            series: self.series,
            planned: self.links.planned(),
            events_log: events,
        }
    }

    fn flow_results(&self, world: &World, seconds: f64) -> Vec<FlowResult> {
        let mut users = vec![0; self.plan.classes.len()];
        let flows = world.flows.iter().zip(&world.classes).enumerate();
        let flows = flows.map(|(index, (flow, class))| {
            let user = &mut users[*class as usize];
            *user += 1;
            let paths = flow.first_path as usize..flow.first_path as usize + flow.ends.paths();
            let before = |path| earlier(&self.baseline.counts, path).arrived_bytes;
            let wire: u64 =
                paths.map(|path| world.paths[path].count.arrived_bytes - before(path)).sum();
            let delivered = world.received(flow.first_path).delivered;
            let goodput = delivered - earlier(&self.baseline.goodput, index);
            FlowResult {
                class: *class,
                user: *user - 1,
                throughput_bps: 8.0 * wire as f64 / seconds,
                goodput_bps: 8.0 * goodput as f64 / seconds,
                start_s: flow.ends.start().seconds(),
                completed_s: flow.ends.completed().map_or(f64::NAN, Time::seconds),
                fct_s: completion(flow).unwrap_or(f64::NAN),
                held_bytes: self.held[index].sum / f64::from(self.samples),
                held_max_bytes: self.held[index].most,
            }
        });
        gathered(flows, world.flows.len())
    }

    fn path_results(&self, world: &World, seconds: f64) -> Vec<PathResult> {
        let taken = taken(world);
        let rows = reports(world).enumerate().map(|(number, now)| {
            let taken = taken[number].wrapping_sub(earlier(&self.baseline.taken, number));
            let (now, before) = (Tally::of(&now), earlier(&self.baseline.tallies, number));
            let Path { flow, count, .. } = world.paths[number];
            let counted = earlier(&self.baseline.counts, number);
            let [cwnd_segments, srtt_s, rto_s] = self.windows[number].means();
            PathResult {
                flow,
                path: number as u32 - world.flows[flow as usize].first_path,
                throughput_bps: 8.0 * (count.arrived_bytes - counted.arrived_bytes) as f64
                    / seconds,
                goodput_bps: 8.0 * taken as f64 / seconds,
                sent_packets: count.sent - counted.sent,
                lost_packets: count.lost - counted.lost,
                echoed_packets: now.echoed - before.echoed,
                retransmits: now.retransmits - before.retransmits,
                timeouts: now.timeouts - before.timeouts,
                recoveries: now.recoveries - before.recoveries,
                marks: now.marks - before.marks,
                undone: now.undone - before.undone,
                probes: now.probes - before.probes,
                cwnd_segments,
                srtt_s,
                rto_s,
            }
        });
        gathered(rows, world.paths.len())
    }

    fn coding_results(&self, world: &World) -> Vec<CodingResult> {
        let rows = coded(world).enumerate().map(|(index, (number, heard, now))| {
            let (before, then) = earlier(&self.baseline.coded, index);
            let flow = world.paths[number as usize].flow;
            let decoded = heard.decoded - before.decoded;
            CodingResult {
                flow,
                path: number - world.flows[flow as usize].first_path,
                arrived_packets: heard.arrived - before.arrived,
                innovative_packets: heard.innovative - before.innovative,
                decoded_segments: decoded,
                // Little's law: the total waiting time, divided by the number of decoded segments.
                decoding_delay_s: (heard.waited_s - before.waited_s) / decoded as f64,
                asked: now.asked - then.asked,
                noise: now.noise - then.noise,
                congestion: now.congestion - then.congestion,
            }
        });
        rows.collect()
    }

    fn class_results(&self, world: &World) -> Vec<ClassResult> {
        let mut times = vec![(Mean::default(), Histogram::default()); self.plan.classes.len()];
        let warm = Time::from(self.plan.warmup);
        let flows = world.flows.iter().zip(&world.classes);
        for (flow, class) in flows.filter(|(flow, _)| flow.ends.start() >= warm) {
            if let Some(seconds) = completion(flow) {
                let (mean, histogram) = &mut times[*class as usize];
                mean.add(seconds);
                histogram.add(seconds);
            }
        }
        let rows = self.class_rtt.iter().zip(&self.class_cwnd).zip(&times);
        let rows = rows.map(|(((mean, rtt), cwnd), (fct_mean, fct))| ClassResult {
            rtt_mean_s: mean.get(),
            rtt_s: [0.5, 0.95, 0.99].map(|q| rtt.quantile(q)),
            cwnd_segments: [0.05, 0.5, 0.95].map(|q| cwnd.quantile(q)),
            completed_flows: fct_mean.count(),
            fct_mean_s: fct_mean.get(),
            fct_s: [0.5, 0.95, 0.99].map(|q| fct.quantile(q)),
        });
        rows.collect()
    }
}

/// Duration of a transfer in seconds, if it was completed.
fn completion(flow: &crate::world::Flow) -> Option<f64> {
    Some(flow.ends.completed()?.since(flow.ends.start()).seconds())
}

/// The rows of a table that has so many, which may be hundreds of thousands.
fn gathered<T>(rows: impl Iterator<Item = T>, count: usize) -> Vec<T> {
    let mut all = Vec::new();
    reserve_in_huge_pages(&mut all, count);
    all.extend(rows);
    all
}

fn reports(world: &World) -> impl Iterator<Item = PathReport> + '_ {
    world.flows.iter().flat_map(|flow| {
        let paths = 0..flow.ends.paths();
        paths.map(|path| flow.ends.report(path))
    })
}

/// For each coded path: its number, the counters of its decoder, and the losses classified by
/// control.
fn coded(world: &World) -> impl Iterator<Item = (u32, Heard, Verdicts)> + '_ {
    world.flows.iter().flat_map(|flow| {
        (0..flow.ends.paths()).filter_map(|path| {
            let heard = flow.ends.heard(path)?;
            Some((flow.first_path + path as u32, heard, flow.ends.report(path).verdicts))
        })
    })
}

/// Bytes of each connection that have arrived in order.
fn delivered(world: &World) -> impl Iterator<Item = u64> + '_ {
    world.flows.iter().map(|flow| world.received(flow.first_path).delivered)
}

/// Bytes that have arrived over each path, each counted once.
fn taken(world: &World) -> Vec<u64> {
    (0..world.paths.len() as u32).map(|path| world.received(path).taken).collect()
}

/// Adds the values of sample number `samples`, counted from 1.
fn record_internals(series: &mut Vec<InternalSeries>, samples: usize, world: &World) {
    for flow in &world.flows {
        for local in 0..flow.ends.paths() {
            let path = flow.first_path + local as u32;
            flow.ends.observe(local, &mut |name, value| {
                let place =
                    series.binary_search_by(|one| (one.path, &*one.name).cmp(&(path, name)));
                let place = place.unwrap_or_else(|place| {
                    let name = name.into();
                    series.insert(place, InternalSeries { path, name, values: Vec::new() });
                    place
                });
                let values = &mut series[place].values;
                values.resize(samples - 1, f64::NAN);
                values.push(value);
            });
        }
    }
    series.iter_mut().for_each(|one| one.values.resize(samples, f64::NAN));
}

fn record_paths(series: &mut PathSeries, world: &World) {
    for (report, Path { count, .. }) in reports(world).zip(&world.paths) {
        let of_member = |value: f64| if report.member { value } else { f64::NAN };
        series.cwnd_segments.push(of_member(report.cwnd));
        series.ssthresh_segments.push(of_member(report.ssthresh));
        series.srtt_s.push(report.srtt.seconds());
        series.arrived_bytes.push(count.arrived_bytes as f64);
        series.rto_s.push(if report.srtt > Span::ZERO { report.rto.seconds() } else { 0.0 });
        series.sent_packets.push(count.sent as f64);
    }
    series.taken_bytes.extend(taken(world).into_iter().map(|bytes| bytes as f64));
}
