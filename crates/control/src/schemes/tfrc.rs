//! TFRC over several paths: on each by itself, a fraction of it on each, or under one master
//! (Bilevel TFRC).
//!
//! Source: Tse 2006, §2.1 (fractional), §3.2 with eq. 3.1 and 3.3 (bilevel; symbols `R_M`, `R_i`,
//! `f_M`, `f_i`). A path's own TFRC gives its nominal rate `R_i`; the path may send at a part of
//! this rate.
//!
//! RFC 5348 caps `R_i` at `2 X_recv`, twice the receive rate. A fraction 1/N sees an Nth of `R_i`
//! arrive, so its `X_recv` counts N times: otherwise the cap would let it shrink for ever, and §4.2
//! says that the nominal rate of a fraction grows to N times the rate of its path.
//!
//! For Bilevel TFRC the thesis does not mention the cap. By its text `X_recv` is used as reported:
//! "each subflow performs independent congestion control and loss calculations" (§3.2), so its TFRC
//! knows of no master, and the report has "the current receiving rate" (§3.2.1). Nothing shrinks
//! for ever, since `R_i` counts only in proportion to the others. With `bilevel-tfrc:scaled`,
//! `X_recv` counts `ΣR/R_M` times, as if the path had sent all of `R_i`.
//!
//! §3.2 leaves two more rules open. Here the master's round trip is the mean of its paths' round
//! trips, weighted by their rates. Until a path has lost a packet, the master doubles its rate
//! once a round trip. It never sends more than twice the rate at which data arrives.
//! `bilevel-tfrc:pooled` has another estimate of `f_M` (`pooled.rs`). There a path's nominal rate
//! is the larger of the rates that its own loss history and the ensemble's allow, and at most
//! `R_M`: no higher rate has been measured.

use super::pooled::Pooled;
use super::share::{Response, Share, Sums, means};
use crate::kind::{Choice, Described, Kind};
use crate::scheme::Scheme;
use crate::tfrc::{Allowed, Feedback, Report, throughput};
use crate::{Acked, Cause, CongestionController, Needs, SegmentRate, Settings, Time, Window};
use alloc::boxed::Box;

/// The rule from the allowed rates of the paths to their sending rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// Each path sends at its allowed rate.
    Alone,
    /// Each of N paths sends at 1/N of its allowed rate.
    Fractional,
    /// A master's rate is divided in proportion to the allowed rates. If `scaled`, the receive rate
    /// of a path is multiplied by its allowed rate over its sending rate.
    Bilevel { scaled: bool },
    /// The same with a master that has one loss history for all paths.
    Pooled,
}

/// `W_init` in segments: 4380 bytes (RFC 5348 §4.2), unless the connection is to begin with less.
const INITIAL_WINDOW: f64 = 3.0;
/// Least rate of the master and of what a path sends, in segments per second (`1/t_mbi`).
const SLOWEST: f64 = 1.0 / 64.0;

/// The needs of TFRC, whatever the division.
pub(super) const NEEDS: Needs = Needs { reports: true, siblings: true, ..Needs::NONE };

/// TFRC over all paths of a connection.
#[derive(Clone, Debug)]
pub(crate) struct TfrcControl {
    division: Division,
    paths: Box<[Path]>,
    /// What the division reads of each path.
    shares: Box<[Share]>,
    /// The rate at which each path sends, in segments per second. A sender reads it for each
    /// packet, and only reports and changes of members change it.
    sends: Box<[f64]>,
    /// The initial state of a path.
    fresh: Allowed,
    /// The nominal rate of a path divided by its sending rate.
    scale: f64,
    master: Master,
    /// The master's history, if it has one.
    pooled: Option<Box<Pooled>>,
    /// `W_init` in segments.
    initial: f64,
}

#[derive(Clone, Debug)]
struct Path {
    own: Allowed,
    member: bool,
    /// The rate that the master's history allows it, if that is kept.
    response: Response,
}

impl Path {
    /// The first state of a path.
    fn fresh(own: &Allowed, member: bool) -> Self {
        Path { own: own.clone(), member, response: Response::default() }
    }
}

#[derive(Clone, Debug)]
struct Master {
    /// `R_M` in segments per second.
    rate: f64,
    /// When its slow start last doubled the rate.
    doubled: f64,
}

impl TfrcControl {
    pub(crate) fn new(
        division: Division,
        discounting: bool,
        settings: Settings,
        paths: usize,
    ) -> Self {
        let initial = settings.initial_window.min(INITIAL_WINDOW);
        let fresh = Allowed::new(initial, discounting);
        let path = Path::fresh(&fresh, true);
        let master = Master { rate: paths as f64, doubled: f64::NEG_INFINITY };
        let pooled = (division == Division::Pooled).then(|| Box::new(Pooled::new(initial, paths)));
        let shares = alloc::vec![Share::of(&fresh, true); paths].into();
        let sends = alloc::vec![SLOWEST; paths].into();
        let paths = alloc::vec![path; paths].into();
        let scale = 1.0;
        let mut tfrc =
            TfrcControl { division, paths, shares, sends, fresh, scale, master, pooled, initial };
        tfrc.settle(0.0);
        tfrc
    }

    /// The TFRC of `me`, or its membership, has changed.
    fn find_share(&mut self, me: usize) {
        let Path { own, member, .. } = &self.paths[me];
        self.shares[me] = Share::of(own, *member);
    }

    /// Finds what the master's history allows each path.
    fn respond(&mut self) {
        let Some(pooled) = &self.pooled else { return };
        for (me, Path { own, response, .. }) in self.paths.iter_mut().enumerate() {
            // before that it doubles by itself
            let known = (own.loss() > 0.0).then(|| pooled.loss(me)).flatten();
            *response = response.moved(known, own.rtt());
        }
    }

    /// `R_i`: the weight of a path in the division of the master's rate.
    fn nominal(&self, me: usize) -> f64 {
        let share = &self.shares[me];
        if self.division != Division::Pooled {
            return share.rate;
        }
        let arrived = 2.0 * self.scale * share.received;
        let pooled = smaller(arrived, self.paths[me].response.rate);
        let larger = if pooled > share.rate { pooled } else { share.rate };
        smaller(larger, self.master.rate)
    }

    /// Factor on the receive rate of a path in its own TFRC.
    fn magnified(&self) -> f64 {
        match self.division {
            Division::Alone | Division::Bilevel { scaled: false } => 1.0,
            Division::Fractional | Division::Bilevel { scaled: true } | Division::Pooled => {
                self.scale
            }
        }
    }

    /// Recomputes the factor by which paths send less than their nominal rates, and the rates at
    /// which they send, after a report or a change of members.
    fn settle(&mut self, now: f64) {
        self.scale = match self.division {
            Division::Alone => 1.0,
            Division::Fractional => {
                self.paths.iter().filter(|path| path.member).count().max(1) as f64
            }
            Division::Bilevel { .. } => {
                let sums = Sums::of(&self.shares);
                self.command(now, &sums);
                self.part_of(sums.members)
            }
            Division::Pooled => {
                self.respond();
                let members = (0..self.paths.len()).filter(|&me| self.paths[me].member);
                self.part_of(members.map(|me| self.nominal(me)).sum())
            }
        };
        (0..self.sends.len()).for_each(|me| self.sends[me] = self.sending(me));
    }

    /// The factor by which paths send less than their nominal rates, whose sum is `total`.
    fn part_of(&self, total: f64) -> f64 {
        if total > 0.0 { total / self.master.rate } else { 1.0 }
    }

    /// A report of `me`, or its silence, has changed its own rate.
    fn settle_after(&mut self, me: usize, now: f64) {
        match self.division {
            Division::Alone | Division::Fractional => self.sends[me] = self.sending(me),
            Division::Bilevel { .. } | Division::Pooled => self.settle(now),
        }
    }

    /// The rate at which a path sends.
    fn sending(&self, me: usize) -> f64 {
        (self.nominal(me) / self.scale * self.shares[me].damping).max(SLOWEST)
    }

    /// Whether the kept values of a path are those that its state gives.
    fn is_settled(&self, me: usize) -> bool {
        let Path { own, member, response } = &self.paths[me];
        let known = self.pooled.as_ref().filter(|_| own.loss() > 0.0);
        let known = known.and_then(|pooled| pooled.loss(me));
        self.shares[me] == Share::of(own, *member)
            && *response == Response::default().moved(known, own.rtt())
            && self.sends[me] == self.sending(me)
    }

    /// The new `R_M` of the master's history after a report of `path`.
    fn pool(&mut self, path: usize, report: &Report<'_>) {
        let sums = Sums::of(&self.shares);
        let (_, rtt) = means(&self.shares, sums.heard);
        if let Some(pooled) = self.pooled.as_mut().filter(|_| rtt > 0.0) {
            let rate = pooled.on_feedback(path, report, rtt, sums.received);
            self.master.rate = rate.max(SLOWEST);
        }
    }

    /// The new `R_M` (§3.2): the response function of `f_M`, the mean of the `f_i` weighted by
    /// rates.
    fn command(&mut self, now: f64, sums: &Sums) {
        if sums.heard <= 0.0 {
            return; // no report yet
        }
        let (loss, rtt) = means(&self.shares, sums.heard);
        let limit = 2.0 * sums.received;
        let Master { rate, doubled } = &mut self.master;
        if loss > 0.0 {
            *rate = throughput(loss, rtt).min(limit);
        } else if now - *doubled >= rtt {
            *rate = (2.0 * *rate).min(limit).max(self.initial / rtt);
            *doubled = now;
        }
        *rate = rate.max(SLOWEST);
    }
}

impl CongestionController for TfrcControl {
    fn on_ack(&mut self, _path: usize, _ack: &Acked) {} // its receiver reports

    fn on_congestion(&mut self, _path: usize, _cause: Cause) {} // loss is in the reports

    fn on_recovered(&mut self, _path: usize) {}

    fn set_member(&mut self, path: usize, member: bool) {
        self.paths[path] = Path::fresh(&self.fresh, member);
        self.find_share(path);
        if let Some(pooled) = &mut self.pooled {
            pooled.forget(path);
        }
        self.settle(f64::NEG_INFINITY);
    }

    fn undo(&mut self, _path: usize) {}

    fn restart(&mut self, _path: usize, _window: Window) {}

    /// The segments that the rate keeps in the network, at least the one that is sent.
    fn window(&self, path: usize) -> Window {
        let rate = self.pacing(path).map_or(0.0, |rate| rate.0);
        Window { cwnd: (rate * self.paths[path].own.rtt()).max(1.0), ssthresh: f64::INFINITY }
    }

    fn pacing(&self, path: usize) -> Option<SegmentRate> {
        debug_assert!(self.is_settled(path), "an old rate");
        Some(SegmentRate(self.sends[path]))
    }

    fn paces(&self, paths: usize, mut see: impl FnMut(usize, Option<SegmentRate>)) {
        for (me, sends) in self.sends[..paths].iter().enumerate() {
            debug_assert!(self.is_settled(me), "an old rate");
            see(me, Some(SegmentRate(*sends)));
        }
    }

    fn on_feedback(&mut self, path: usize, feedback: &Feedback<'_>) {
        let report = Report::from(feedback);
        let magnified = self.magnified();
        self.paths[path].own.on_feedback(&report, magnified);
        self.find_share(path);
        if self.division == Division::Pooled {
            self.pool(path, &report);
        }
        self.settle_after(path, report.now);
    }

    fn on_silence(&mut self, path: usize, now: Time, idle: bool) {
        let now = now.seconds();
        let magnified = self.magnified();
        self.paths[path].own.on_silence(now, idle, magnified);
        self.find_share(path);
        let sums = Sums::of(&self.shares);
        if self.pooled.is_some() && sums.heard > 0.0 {
            self.master.rate = self.master.rate.min(2.0 * sums.received).max(SLOWEST);
        }
        self.settle_after(path, now);
    }
}

/// `f64::min` in one instruction, if `other` is a number.
fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

/// The division of TFRC, and its loss history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tfrc {
    division: Division,
    /// Whether old loss intervals count less while the open one is long (RFC 5348 §5.5).
    discounting: bool,
}

impl Kind for Tfrc {
    const DESCRIBED: Described = Described {
        names: &["tfrc"],
        summary: "TFRC on each path independently: a rate from TCP's response function instead of a window.",
        formula: "X = 1 / (R √(2p/3) + 12 R √(3p/8) p (1 + 32 p²)), at most twice what arrived",
        source: "RFC 5348; fractional: Tse 2006, §2.1",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Tfrc { division: Division::Alone, discounting: false });
    const CHOICES: &'static [Choice<Self>] = &[
        Choice::word(
            "discounting",
            Tfrc { division: Division::Alone, discounting: true },
            "old loss intervals weigh less while the open interval is long",
        ),
        Choice::word(
            "fractional",
            Tfrc { division: Division::Fractional, discounting: false },
            "each of N paths sends 1/N of what TFRC allows",
        ),
        Choice::word(
            "fractional-discounting",
            Tfrc { division: Division::Fractional, discounting: true },
            "`fractional` and `discounting` together",
        ),
    ];
}

impl Scheme for Tfrc {
    type Control = TfrcControl;

    fn needs(self) -> Needs {
        NEEDS
    }

    fn control(self, settings: Settings, paths: usize) -> TfrcControl {
        TfrcControl::new(self.division, self.discounting, settings, paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_seconds(seconds)
    }

    fn tfrc(division: Division, paths: usize) -> TfrcControl {
        TfrcControl::new(division, false, Settings::default(), paths)
    }

    /// A report of loss intervals that are all `interval` long, with more than enough arrived.
    fn lossy(now: f64, interval: u64, rtt: f64) -> impl Fn(&mut TfrcControl, usize) {
        move |tfrc, path| {
            let intervals = [interval; 9];
            let report = Feedback {
                now: at(now),
                rtt: Span::from_seconds(rtt),
                sample: Span::from_seconds(rtt),
                received: SegmentRate(1e6),
                events: 20,
                intervals: &intervals,
                limited: false,
            };
            tfrc.on_feedback(path, &report);
        }
    }

    fn rate(tfrc: &TfrcControl, path: usize) -> f64 {
        tfrc.pacing(path).unwrap().0
    }

    #[test]
    fn a_fraction_of_n_paths_sends_an_nth_on_each() {
        let mut tfrc = tfrc(Division::Fractional, 4);
        (0..4).for_each(|path| lossy(1.0, 100, 0.1)(&mut tfrc, path));
        for path in 0..4 {
            assert!((rate(&tfrc, path) - throughput(0.01, 0.1) / 4.0).abs() < 1e-9);
        }
    }

    #[test]
    fn like_paths_share_what_one_path_of_their_loss_would_have() {
        let mut tfrc = tfrc(Division::Bilevel { scaled: false }, 4);
        for round in 1..4 {
            (0..4).for_each(|path| lossy(f64::from(round), 100, 0.1)(&mut tfrc, path));
        }
        let sum: f64 = (0..4).map(|path| rate(&tfrc, path)).sum();
        assert!((sum - throughput(0.01, 0.1)).abs() < 1e-9, "{sum}"); // f_M = f_i, not their sum
        assert!((rate(&tfrc, 0) - sum / 4.0).abs() < 1e-9);
    }

    #[test]
    fn the_master_divides_its_rate_as_the_nominal_rates_are_and_weighs_losses_with_them() {
        let mut tfrc = tfrc(Division::Bilevel { scaled: false }, 2);
        for round in 1..4 {
            lossy(f64::from(round), 100, 0.1)(&mut tfrc, 0);
            lossy(f64::from(round), 1000, 0.2)(&mut tfrc, 1);
        }
        let nominal = [throughput(0.01, 0.1), throughput(0.001, 0.2)];
        let total: f64 = nominal.iter().sum();
        let part = nominal.map(|rate| rate / total);
        let loss = part[0] * 0.01 + part[1] * 0.001; // eq. 3.3
        let master = throughput(loss, part[0] * 0.1 + part[1] * 0.2);
        for (path, part) in part.into_iter().enumerate() {
            assert!((rate(&tfrc, path) - master * part).abs() < 1e-9); // eq. 3.1
        }
    }

    #[test]
    fn with_one_history_paths_that_lose_alike_share_alike_and_none_is_worth_more_than_all() {
        let mut tfrc = tfrc(Division::Pooled, 4);
        for round in 1..40 {
            (0..3).for_each(|path| lossy(f64::from(round), 100, 0.1)(&mut tfrc, path));
        }
        let rates = [0, 1, 2, 3].map(|path| rate(&tfrc, path));
        assert!((rates[0] / rates[1] - 1.0).abs() < 0.1, "{rates:?}");
        assert!(rates.iter().sum::<f64>() <= 1.0001 * tfrc.master.rate, "{rates:?}");
        assert!((0..4).all(|path| tfrc.nominal(path) <= tfrc.master.rate));
    }

    #[test]
    fn with_one_history_silence_on_every_path_slows_all_of_them_down() {
        let mut tfrc = tfrc(Division::Pooled, 2);
        (0..2).for_each(|path| lossy(1.0, 100, 0.1)(&mut tfrc, path));
        for round in 2..60 {
            (0..2).for_each(|path| tfrc.on_silence(path, at(f64::from(round)), false));
        }
        assert!((0..2).all(|path| rate(&tfrc, path) < 0.1), "{}", rate(&tfrc, 0));
    }

    /// Two paths. The first one starts to lose packets after a long time; everything sent on the
    /// second arrives.
    fn one_lossless(scaled: bool) -> TfrcControl {
        let mut tfrc = tfrc(Division::Bilevel { scaled }, 2);
        for round in 1..2000 {
            let now = f64::from(round);
            lossy(now, 50, 0.1)(&mut tfrc, 0);
            let report = Feedback {
                now: at(now),
                rtt: Span::millis(100),
                sample: Span::millis(100),
                received: SegmentRate(rate(&tfrc, 1)),
                events: 0,
                intervals: &[1000],
                limited: false,
            };
            tfrc.on_feedback(1, &report);
        }
        tfrc
    }

    #[test]
    fn a_path_without_loss_is_allowed_twice_what_arrives_on_it_and_no_more() {
        let tfrc = one_lossless(false);
        let arrived = tfrc.paths[1].own.received();
        assert!(tfrc.nominal(1) <= 2.0 * arrived, "{} of {arrived}", tfrc.nominal(1));
        assert!(rate(&tfrc, 1) > rate(&tfrc, 0));
    }

    #[test]
    fn with_what_arrives_scaled_a_path_without_loss_draws_the_traffic_and_stays_finite() {
        let tfrc = one_lossless(true);
        assert!(rate(&tfrc, 1).is_finite() && rate(&tfrc, 1) > 1000.0 * rate(&tfrc, 0));
    }

    #[test]
    fn a_path_that_falls_silent_leaves_its_part_to_the_others() {
        let mut tfrc = tfrc(Division::Bilevel { scaled: false }, 2);
        (0..2).for_each(|path| lossy(1.0, 100, 0.1)(&mut tfrc, path));
        for round in 2..12 {
            lossy(f64::from(round), 100, 0.1)(&mut tfrc, 0);
            tfrc.on_silence(1, at(f64::from(round)), false);
        }
        assert!(rate(&tfrc, 0) > 0.99 * throughput(0.01, 0.1));
        assert!(rate(&tfrc, 1) < 0.01 * rate(&tfrc, 0));
    }
}
