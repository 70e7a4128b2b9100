//! Measurements during an emulation: the same measures at the same times as in the simulator.

use crate::packet::Packet;
use crate::report::{PathResult, Series};
use network::Link;
use scenario::Plan;
use topology::{LinkMeter, LinkResult, MeasuredLink, SharedMedia, StationResult};
use units::{Span, Time};

/// Packets and bytes in the direction of data on one path since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathCount {
    /// Packets that entered.
    pub(crate) sent: u64,
    /// Packets dropped or lost.
    pub(crate) lost: u64,
    /// IP bytes that came out.
    pub(crate) arrived_bytes: u64,
}

/// Measures one emulation.
pub(crate) struct Meter {
    links: LinkMeter,
    warmup: Time,
    sample: Span,
    next_sample: Time,
    warm: bool,
    /// Counts of each path at the end of the warm-up.
    baseline: Vec<PathCount>,
    /// Class, user and path of each path.
    owners: Vec<(u32, u32, u32)>,
    series: Option<Box<Series>>,
}

/// The measurements.
pub(crate) struct Rows {
    pub(crate) links: Vec<LinkResult>,
    pub(crate) stations: Vec<StationResult>,
    pub(crate) paths: Vec<PathResult>,
    pub(crate) series: Option<Box<Series>>,
}

impl Meter {
    pub(crate) fn new(plan: &Plan, planned: Vec<u32>, series: bool) -> Self {
        let owners = plan.classes.iter().zip(0..).flat_map(|(class, index)| {
            let paths = class.paths.len() as u32;
            (0..class.count).flat_map(move |user| (0..paths).map(move |path| (index, user, path)))
        });
        Meter {
            links: LinkMeter::new(plan, planned),
            warmup: Time::from(plan.warmup),
            sample: plan.sample,
            next_sample: Time::ZERO,
            warm: false,
            baseline: Vec::new(),
            owners: owners.collect(),
            series: series.then(Box::default),
        }
    }

    /// When the next sample is due.
    pub(crate) fn next(&self) -> Time {
        if self.warm { self.next_sample } else { self.next_sample.min(self.warmup) }
    }

    /// Takes a sample of the network at `now`, which is [`Meter::next`].
    pub(crate) fn look(
        &mut self,
        now: Time,
        links: &mut [Link<Packet>],
        media: &SharedMedia<Packet>,
        counts: &[PathCount],
    ) {
        if !self.warm && now >= self.warmup {
            self.start(links, media, counts);
        }
        if now < self.next_sample {
            return;
        }
        self.next_sample = self.next_sample + self.sample;
        if self.warm {
            self.links.sample(
                links.iter_mut().map(|link| link as &mut dyn MeasuredLink),
                media,
                now,
            );
        }
        if let Some(series) = &mut self.series {
            series.t_s.push(now.seconds());
            series.arrived_bytes.extend(counts.iter().map(|count| count.arrived_bytes as f64));
            let links = links.iter_mut().map(|link| link as &mut dyn MeasuredLink);
            self.links.record(&mut series.links, links, media, now);
        }
    }

    /// The warm-up is over.
    fn start(&mut self, links: &[Link<Packet>], media: &SharedMedia<Packet>, counts: &[PathCount]) {
        self.warm = true;
        self.links.start(links.iter().map(|link| link as &dyn MeasuredLink), media);
        self.baseline = counts.to_vec();
    }

    /// The results at `now`. Before the end of the warm-up counts are zero and rates `NaN`.
    pub(crate) fn finish(
        mut self,
        now: Time,
        links: &[Link<Packet>],
        media: &SharedMedia<Packet>,
        counts: &[PathCount],
    ) -> Rows {
        if !self.warm {
            self.start(links, media, counts);
        }
        let seconds = now.since(self.warmup).seconds();
        let links = links.iter().map(|link| link as &dyn MeasuredLink);
        let rows = counts.iter().zip(&self.baseline).zip(&self.owners);
        let rows = rows.map(|((now, then), (class, user, path))| PathResult {
            class: *class,
            user: *user,
            path: *path,
            throughput_bps: 8.0 * (now.arrived_bytes - then.arrived_bytes) as f64 / seconds,
            sent_packets: now.sent - then.sent,
            lost_packets: now.lost - then.lost,
        });
        Rows {
            links: self.links.results(links, media, seconds),
            stations: self.links.stations(media, seconds),
            paths: rows.collect(),
            series: self.series,
        }
    }
}
