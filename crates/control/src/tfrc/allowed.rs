//! The allowed rate of one path's sender, RFC 5348 §4.

use super::{LossRate, Report, loss_for, throughput};
use alloc::collections::VecDeque;

/// `t_mbi`: even the slowest path sends a segment in this many seconds.
const SLOWEST: f64 = 64.0;
/// Upper bound of rates in segments per second. A path without loss whose rate only weighs it
/// against other paths may grow without end; the bound keeps the rate finite.
const FASTEST: f64 = 1e12;
/// Weight of the past in the mean of √R (`q2`).
const MEMORY: f64 = 0.9;
/// Factor that a report of loss applies to the receive rate of an application-limited time.
const LIMITED_DECAY: f64 = 0.85;

/// The allowed rate of one path.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    /// `X` in segments per second.
    rate: f64,
    /// `p`.
    loss: f64,
    intervals: LossRate,
    /// `X_recv_set`: receive rates reported in the last two round trips.
    received: Received,
    /// `R`; zero before the first report.
    rtt: f64,
    /// `R_sqmean`.
    root_mean: f64,
    /// `R_sqmean` over the newest √R_sample; 1 before the first report.
    damping: f64,
    /// `tld`: when slow start last doubled the rate.
    doubled: f64,
    /// Initial window in segments.
    initial: f64,
}

/// Times and receive rates of reports, in seconds and segments per second.
#[derive(Clone, Debug, Default)]
struct Received {
    /// Oldest first, without those before a report of as much: they cannot be the largest any more.
    reports: VecDeque<(f64, f64)>,
    /// The largest of the rates; zero without any. Kept, because a report of one path reads that of
    /// all paths.
    most: f64,
}

impl Received {
    /// Adds a report, and forgets those before `horizon`.
    fn push(&mut self, now: f64, rate: f64, horizon: f64) {
        while self.reports.back().is_some_and(|(_, before)| *before <= rate) {
            self.reports.pop_back();
        }
        self.reports.push_back((now, rate));
        while self.reports.front().is_some_and(|(at, _)| *at < horizon) {
            self.reports.pop_front();
        }
        self.find_most();
    }

    /// Forgets all reports but this one.
    fn replace(&mut self, now: f64, rate: f64) {
        self.reports.clear();
        self.reports.push_back((now, rate));
        self.find_most();
    }

    fn find_most(&mut self) {
        self.most = self.reports.front().map_or(0.0, |(_, rate)| *rate);
    }
}

impl Allowed {
    /// One segment per second until the first report, then `initial` segments in a round trip.
    pub(crate) fn new(initial: f64, discounting: bool) -> Self {
        Allowed {
            rate: 1.0,
            loss: 0.0,
            intervals: LossRate::new(discounting),
            received: Received::default(),
            rtt: 0.0,
            root_mean: 0.0,
            damping: 1.0,
            doubled: f64::NEG_INFINITY,
            initial,
        }
    }

    /// `X` in segments per second.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// `p`.
    pub(crate) fn loss(&self) -> f64 {
        self.loss
    }

    /// `R` in seconds; zero before the first report.
    pub(crate) fn rtt(&self) -> f64 {
        self.rtt
    }

    /// The largest rate reported in the last two round trips; zero before the first report.
    pub(crate) fn received(&self) -> f64 {
        self.received.most
    }

    /// Factor that damps oscillation of the rate with the queue: √R over its mean (§4.5).
    pub(crate) fn damping(&self) -> f64 {
        self.damping
    }

    /// Applies a report of the receiver (§4.3). The path may send `scale` times less than this
    /// rate, so that its receive rate counts `scale` times: in the cap, and in the rate that sets
    /// the first loss interval.
    pub(crate) fn on_feedback(&mut self, report: &Report<'_>, scale: f64) {
        let first = self.rtt == 0.0;
        self.rtt = report.rtt;
        let root = libm::sqrt(report.sample);
        self.root_mean = match first {
            true => root,
            false => MEMORY * self.root_mean + (1.0 - MEMORY) * root,
        };
        self.damping = if root > 0.0 { self.root_mean / root } else { 1.0 };
        if self.intervals.is_first(report.events) {
            let target = scale * report.received.max(self.received());
            self.intervals.set_first(1.0 / loss_for(target, self.rtt));
        }
        let before = self.loss;
        self.loss = self.intervals.update(report.events, report.intervals);
        if first && self.loss == 0.0 {
            self.rate = self.initial_rate();
            self.doubled = report.now;
            return;
        }
        let limit = scale * self.limit(report, self.loss > before);
        self.set_rate(report.now, limit);
    }

    /// `recv_limit`: the limit on the rate from recent receive rates.
    fn limit(&mut self, report: &Report<'_>, worse: bool) -> f64 {
        if !report.limited {
            self.received.push(report.now, report.received, report.now - 2.0 * self.rtt);
            return 2.0 * self.received();
        }
        // The receive rate of an idle application does not measure the path: the largest report
        // stays.
        let (most, factor) = match worse {
            true => ((self.received() / 2.0).max(LIMITED_DECAY * report.received), 1.0),
            false => (self.received().max(report.received), 2.0),
        };
        self.received.replace(report.now, most);
        factor * most
    }

    fn set_rate(&mut self, now: f64, limit: f64) {
        if self.loss > 0.0 {
            self.rate = throughput(self.loss, self.rtt).min(limit).max(1.0 / SLOWEST);
        } else if now - self.doubled >= self.rtt {
            self.rate = (2.0 * self.rate).min(limit).max(self.initial_rate());
            self.doubled = now;
        }
        self.rate = self.rate.min(FASTEST);
    }

    fn initial_rate(&self) -> f64 {
        self.initial / self.rtt
    }

    /// The nofeedback timer expired: no report came for four round trips (§4.4); `idle`: nothing
    /// was sent meanwhile. `scale` is as in [`Allowed::on_feedback`].
    pub(crate) fn on_silence(&mut self, now: f64, idle: bool, scale: f64) {
        let received = scale * self.received();
        let recover = if self.rtt > 0.0 { self.initial_rate() } else { f64::INFINITY };
        let slow = match self.loss > 0.0 {
            true => received < recover,
            false => self.rate < 2.0 * recover,
        };
        if idle && slow {
            return;
        }
        if self.loss == 0.0 {
            self.rate = (self.rate / 2.0).max(1.0 / SLOWEST);
            return;
        }
        let calculated = throughput(self.loss, self.rtt);
        let limit = match calculated > 2.0 * received {
            true => received,
            false => calculated / 2.0,
        };
        let limit = limit.max(1.0 / SLOWEST);
        self.received.replace(now, limit / 2.0 / scale);
        self.set_rate(now, limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn report(now: f64, received: f64, events: u64, intervals: &[u64]) -> Report<'_> {
        let (rtt, sample, limited) = (0.1, 0.1, false);
        Report { now, rtt, sample, received, events, intervals, limited }
    }

    fn begun() -> Allowed {
        let mut allowed = Allowed::new(3.0, false);
        allowed.on_feedback(&report(1.0, 0.0, 0, &[1]), 1.0);
        allowed
    }

    proptest! {
        #[test]
        fn the_largest_receive_rate_is_that_of_all_reports_in_two_round_trips(
            reports in prop::collection::vec((0..4_u8, 0..6_u8, 1..6_u8, any::<bool>()), 0..40),
        ) {
            let (mut received, mut all, mut now) = (Received::default(), Vec::new(), 0.0);
            for (later, rate, span, replaces) in reports {
                now += f64::from(later);
                let (rate, horizon) = (f64::from(rate), now - f64::from(span));
                if replaces {
                    received.replace(now, rate);
                    all.clear();
                } else {
                    received.push(now, rate, horizon);
                    all.retain(|(at, _)| *at >= horizon);
                }
                all.push((now, rate));
                prop_assert_eq!(received.most, all.iter().fold(0.0, |most, it| it.1.max(most)));
            }
        }
    }

    #[test]
    fn the_first_report_allows_the_initial_window_and_each_round_trip_doubles_it() {
        let mut allowed = begun();
        assert_eq!(allowed.rate(), 30.0);
        allowed.on_feedback(&report(1.05, 30.0, 0, &[3]), 1.0);
        assert_eq!(allowed.rate(), 30.0); // only half a round trip
        allowed.on_feedback(&report(1.1, 30.0, 0, &[4]), 1.0);
        assert_eq!(allowed.rate(), 60.0);
        allowed.on_feedback(&report(1.25, 40.0, 0, &[9]), 1.0);
        assert_eq!(allowed.rate(), 80.0); // twice the receive rate
    }

    #[test]
    fn the_first_loss_leaves_the_rate_that_arrived() {
        let mut allowed = begun();
        allowed.on_feedback(&report(1.2, 200.0, 1, &[2, 50]), 1.0);
        assert!((allowed.rate() / 200.0 - 1.0).abs() < 0.01, "{}", allowed.rate());
        let mut fraction = begun();
        fraction.on_feedback(&report(1.2, 200.0, 1, &[2, 50]), 16.0);
        assert!((fraction.rate() / 3200.0 - 1.0).abs() < 0.01, "{}", fraction.rate());
    }

    #[test]
    fn with_loss_the_rate_is_the_response_function_up_to_twice_what_arrived() {
        let mut allowed = begun();
        let hundred = [100; 9];
        allowed.on_feedback(&report(2.0, 400.0, 20, &hundred), 1.0);
        assert!((allowed.rate() - throughput(0.01, 0.1)).abs() < 1e-9);
        let mut allowed = begun();
        allowed.on_feedback(&report(2.0, 20.0, 20, &hundred), 1.0);
        assert_eq!(allowed.rate(), 40.0);
    }

    #[test]
    fn silence_halves_the_rate_down_to_a_segment_in_64_seconds() {
        let mut allowed = begun();
        allowed.on_silence(1.5, false, 1.0);
        assert_eq!(allowed.rate(), 15.0);
        for _ in 0..30 {
            allowed.on_silence(2.0, false, 1.0);
        }
        assert_eq!(allowed.rate(), 1.0 / 64.0);
        let mut lossy = begun();
        lossy.on_feedback(&report(2.0, 400.0, 20, &[100; 9]), 1.0);
        let before = lossy.rate();
        lossy.on_silence(3.0, false, 1.0);
        assert!((lossy.rate() - before / 2.0).abs() < 1e-9);
        for at in 4..40 {
            lossy.on_silence(f64::from(at), false, 1.0);
        }
        assert_eq!(lossy.rate(), 1.0 / 64.0);
    }

    #[test]
    fn an_idle_sender_keeps_its_initial_rate() {
        let mut allowed = begun();
        allowed.on_silence(1.5, true, 1.0);
        assert_eq!(allowed.rate(), 30.0);
    }

    #[test]
    fn a_longer_round_trip_slows_sending_down_at_once() {
        let mut allowed = begun();
        assert_eq!(allowed.damping(), 1.0);
        allowed.on_feedback(&Report { sample: 0.4, ..report(1.2, 30.0, 0, &[4]) }, 1.0);
        let mean = 0.9 * libm::sqrt(0.1) + 0.1 * libm::sqrt(0.4);
        assert!((allowed.damping() - mean / libm::sqrt(0.4)).abs() < 1e-12);
    }

    #[test]
    fn what_arrives_while_the_application_limits_sending_does_not_lower_the_cap() {
        let mut allowed = begun();
        allowed.on_feedback(&report(2.0, 400.0, 20, &[10_000; 9]), 1.0);
        let before = allowed.rate();
        let idle = Report { limited: true, ..report(3.0, 5.0, 20, &[10_000; 9]) };
        allowed.on_feedback(&idle, 1.0);
        assert_eq!(allowed.rate(), before);
    }
}
