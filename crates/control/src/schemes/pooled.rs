//! One loss history for all paths of an ensemble, for the master of Bilevel TFRC in its variant for
//! many paths.
//!
//! Ours; Tse 2006, §4.2 only proposes it. Eq. 3.3 is a mean of loss event rates that each path
//! estimates from eight loss intervals of its own. A path that sends an Nth of the packets takes N
//! times as long to forget, and for N empty paths the response function requires an interval N²
//! times as long as one path's. Here the packets of all paths are one sequence, and the estimate of
//! the same quantity remembers eight of its intervals. A loss of a packet sent before the ensemble
//! learned of an event belongs to that event, on any path.
//!
//! For the division a path has, besides the `f_i` of its own history, an `f_i` from the ensemble's
//! history: `(k_i + 1) / (n_i + 1/f_M)` with `k_i` events in `n_i` packets, its posterior mean if
//! `f_i` has an exponential prior with mean `f_M`. A path that has hardly sent is as good as the
//! others.

use crate::tfrc::{Allowed, INTERVALS, Report};
use alloc::boxed::Box;

/// The history of an ensemble, and the rate that TFRC allows it.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    allowed: Allowed,
    /// Loss events so far, and the intervals between them in segments, the open one first.
    events: u64,
    intervals: [u64; INTERVALS + 1],
    /// When the ensemble learned of the last event, in seconds.
    heard: f64,
    paths: Box<[Part]>,
}

/// A path's part of the history.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// Events and open interval of its last report.
    seen: (u64, u64),
    /// Its events and segments in each of the ensemble's intervals.
    events: [u64; INTERVALS + 1],
    segments: [u64; INTERVALS + 1],
    /// Sums of both.
    sums: (u64, u64),
}

impl Part {
    fn arrived(&mut self, segments: u64) {
        self.segments[0] = self.segments[0].saturating_add(segments);
    }

    /// Its events and segments in all intervals.
    fn sums(&self) -> (u64, u64) {
        (sum(&self.events), sum(&self.segments))
    }

    fn interval_closed(&mut self) {
        self.events.rotate_right(1);
        self.segments.rotate_right(1);
        (self.events[0], self.segments[0]) = (0, 0);
        self.sums = self.sums();
    }
}

fn sum(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
}

impl Pooled {
    /// A history without losses; `initial` segments in the first round trip. Old intervals count
    /// less while the open one is long (RFC 5348 §5.5).
    pub(super) fn new(initial: f64, paths: usize) -> Self {
        Pooled {
            allowed: Allowed::new(initial, true),
            events: 0,
            intervals: [0; INTERVALS + 1],
            heard: f64::NEG_INFINITY,
            paths: alloc::vec![Part::default(); paths].into(),
        }
    }

    /// Forgets the history of `path`, which joins or leaves.
    pub(super) fn forget(&mut self, path: usize) {
        self.paths[path] = Part::default();
    }

    /// `f_i` from the ensemble's history; `None` while that has no loss.
    pub(super) fn loss(&self, path: usize) -> Option<f64> {
        let mean = self.allowed.loss();
        let part = &self.paths[path];
        debug_assert_eq!(part.sums, part.sums(), "old sums");
        let (events, segments) = part.sums;
        let loss = || (events as f64 + 1.0) / (segments as f64 + 1.0 / mean);
        (mean > 0.0).then(|| loss().min(1.0))
    }

    /// `R_M` after a report of `path`, where all paths together have a mean round trip of `rtt`
    /// seconds and `received` segments per second arrive.
    pub(super) fn on_feedback(
        &mut self,
        path: usize,
        report: &Report<'_>,
        rtt: f64,
        received: f64,
    ) -> f64 {
        self.take_in(path, report);
        let known = self.events.min(INTERVALS as u64) as usize + 1;
        let intervals = &self.intervals[..known];
        let (sample, events) = (rtt, self.events);
        let whole = Report { rtt, sample, received, events, intervals, ..*report };
        self.allowed.on_feedback(&whole, 1.0);
        self.allowed.rate()
    }

    /// Appends the report of `path` to the sequence of all packets.
    fn take_in(&mut self, path: usize, report: &Report<'_>) {
        let Some((&open, closed)) = report.intervals.split_first() else { return };
        let part = &mut self.paths[path];
        let (events, before) = core::mem::replace(&mut part.seen, (report.events, open));
        let new = report.events.saturating_sub(events);
        let ended = &closed[..closed.len().min(new as usize)];
        let arrived = sum(ended).saturating_add(open).saturating_sub(before);
        let since = if new > 0 { open.min(arrived) } else { 0 }; // the last event
        part.arrived(arrived - since);
        part.events[0] = part.events[0].saturating_add(new);
        self.intervals[0] = self.intervals[0].saturating_add(arrived - since);
        if new > 0 && report.now - report.sample >= self.heard {
            self.events += 1;
            self.heard = report.now;
            self.intervals.rotate_right(1);
            self.intervals[0] = 0;
            self.paths.iter_mut().for_each(Part::interval_closed);
        }
        self.intervals[0] = self.intervals[0].saturating_add(since);
        let part = &mut self.paths[path];
        part.arrived(since);
        part.sums = part.sums();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of `path` at `now` with loss intervals, the open one first.
    fn hear(pooled: &mut Pooled, path: usize, now: f64, events: u64, intervals: &[u64]) -> f64 {
        let (rtt, sample, received, limited) = (0.1, 0.1, 1e6, false);
        let report = Report { now, rtt, sample, received, events, intervals, limited };
        pooled.on_feedback(path, &report, rtt, 1e6)
    }

    #[test]
    fn an_interval_of_the_ensemble_has_the_packets_of_all_paths() {
        let mut pooled = Pooled::new(3.0, 2);
        hear(&mut pooled, 0, 1.0, 0, &[10]);
        hear(&mut pooled, 1, 1.0, 0, &[20]);
        hear(&mut pooled, 0, 1.2, 1, &[5, 30]); // 20 more before the loss, and 5 after it
        hear(&mut pooled, 1, 1.3, 0, &[27]);
        assert_eq!((pooled.events, &pooled.intervals[..2]), (1, &[12, 50][..]));
        hear(&mut pooled, 1, 1.5, 1, &[1, 40]);
        assert_eq!((pooled.events, &pooled.intervals[..3]), (2, &[1, 25, 50][..]));
    }

    #[test]
    fn what_was_sent_before_an_event_was_known_belongs_to_it() {
        let mut pooled = Pooled::new(3.0, 2);
        hear(&mut pooled, 0, 1.0, 1, &[1, 50]);
        hear(&mut pooled, 1, 1.09, 1, &[1, 50]); // sent at 0.99
        assert_eq!((pooled.events, pooled.intervals[0]), (1, 52));
        hear(&mut pooled, 1, 1.11, 2, &[1, 20, 50]);
        assert_eq!(pooled.events, 2);
    }

    #[test]
    fn the_ensemble_forgets_as_fast_as_one_path_of_all_its_packets() {
        let mut pooled = Pooled::new(3.0, 16);
        for event in 1..=20_u32 {
            hear(&mut pooled, 0, f64::from(event), event.into(), &[0, 100]);
        }
        let before = pooled.allowed.loss();
        for path in 1..16 {
            hear(&mut pooled, path, 21.0, 0, &[100]); // 1500 segments without a loss
        }
        assert!(pooled.allowed.loss() < before / 5.0, "{before} {}", pooled.allowed.loss());
    }

    #[test]
    fn a_path_that_has_hardly_sent_is_as_good_as_the_others_and_losses_count_against_it() {
        let mut pooled = Pooled::new(3.0, 3);
        assert_eq!(pooled.loss(0), None);
        for event in 1..=20_u32 {
            let now = f64::from(event);
            hear(&mut pooled, 1, now - 0.1, 0, &[100 * u64::from(event)]);
            hear(&mut pooled, 0, now, event.into(), &[0, 100]);
        }
        let mean = pooled.allowed.loss();
        let [lossy, clean, idle] = [0, 1, 2].map(|path| pooled.loss(path).unwrap());
        assert!((idle / mean - 1.0).abs() < 1e-9);
        assert!(lossy > 1.5 * mean && clean < 0.3 * mean, "{mean}: {lossy} {clean}");
    }

    #[test]
    fn a_path_that_joins_again_has_no_history() {
        let mut pooled = Pooled::new(3.0, 1);
        hear(&mut pooled, 0, 1.0, 3, &[10, 20, 20, 20]);
        pooled.forget(0);
        hear(&mut pooled, 0, 2.0, 0, &[7]);
        assert_eq!((pooled.events, pooled.intervals[0]), (1, 17));
    }
}
