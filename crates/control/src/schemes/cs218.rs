//! CS218_ALGO: LIA whose increment is up to doubled on a path that has not lost for a while and has no queue.
//!
//! Source: "Improving Multipath TCP Congestion Control", CS 218 Project Final Report, Fall 2017, §3.2.3 (symbols
//! `ackCount`, `bestRTT`, `lastRTT`, `DWND`). For each path:
//!
//! ```text
//! loss:  ackCount = 0, w/2
//! ACK:   ackCount += 1
//!        DWND = ackCount > 5 ? α · bestRTT/lastRTT : 0        ≤ α
//!        w += LIA's increment with α + DWND for α
//!        bestRTT = min(bestRTT, lastRTT)                      after its use
//! ```
//!
//! The pseudo code sets `CWND = α + DWND`, which is no window; the text has the window increased by up to "twice the
//! amount added in RTT compensator". So the increment is LIA's, `min(α/w_tot, 1/w_r)`, times `1 + DWND/α`. Where the
//! cap binds that is up to two TCPs; `cs218:capped` has `min((α + DWND)/w_tot, 1/w_r)` instead. A new smallest round
//! trip counts as one that equals it.
//!
//! ACKs of new data count, in recovery too (which ends without growth); duplicate ones do not, and end nothing until
//! a loss is inferred from them. Everything else is the shell's: slow start and loss are LIA's, and a path that is alone
//! is exactly Reno, though by the letter its α of 1 would be doubled: a subflow is to "take no more capacity on a path
//! than it would if it were a normal TCP flow" (§2).
//!
//! It is no law because of `lastRTT`: a law sees smoothed round trips and two numbers of its own for a path, and this
//! needs three. With round trips that stay as they are and losses much rarer than one in six segments, it is LIA with
//! twice the increment, and its windows are √2 times as large.

use crate::laws::boosted;
use crate::{Acked, Cause, CongestionController, Settings, Shell, Window};
use alloc::boxed::Box;

/// The number of ACKs in a row beyond which increments are boosted ("upon a set of runs").
pub(crate) const ACKS: u32 = 5;

/// LIA over all paths, and what boosts it on each.
#[derive(Clone, Debug)]
pub(crate) struct Cs218 {
    /// In the place of the 5.
    threshold: u32,
    /// Has `DWND/α` as the first note of each path.
    lia: Shell,
    paths: Box<[Path]>,
}

#[derive(Clone, Copy, Debug)]
struct Path {
    /// `ackCount`, and what it was before the last congestion event, should that have been none.
    acks: u32,
    before: u32,
    /// `bestRTT` in nanoseconds: only its ratio to others means anything.
    best: u64,
}

impl Default for Path {
    fn default() -> Self {
        Path { acks: 0, before: 0, best: u64::MAX }
    }
}

impl Path {
    /// Takes in an ACK with round trip `last`; returns `DWND/α`.
    fn count(&mut self, threshold: u32, last: u64) -> f64 {
        self.acks = self.acks.saturating_add(1);
        if last == 0 {
            return 0.0; // nothing was measured
        }
        let ratio = (self.best as f64 / last as f64).min(1.0);
        self.best = self.best.min(last);
        if self.acks > threshold { ratio } else { 0.0 }
    }
}

impl Cs218 {
    pub(crate) fn new(threshold: u32, capped: bool, settings: Settings, paths: usize) -> Self {
        Cs218 {
            threshold,
            lia: Shell::new(boosted(capped), settings, paths),
            paths: alloc::vec![Path::default(); paths].into(),
        }
    }
}

impl CongestionController for Cs218 {
    fn on_ack(&mut self, path: usize, ack: &Acked) {
        let ratio = self.paths[path].count(self.threshold, ack.rtt_ns);
        self.lia.annotate(path, [ratio, 0.0]);
        self.lia.on_ack(path, ack);
    }

    fn on_congestion(&mut self, path: usize, cause: Cause) {
        let side = &mut self.paths[path];
        if cause != Cause::TimeoutAgain {
            side.before = side.acks;
        }
        side.acks = 0;
        self.lia.on_congestion(path, cause);
    }

    fn on_recovered(&mut self, path: usize) {
        self.lia.on_recovered(path);
    }

    fn set_member(&mut self, path: usize, member: bool) {
        self.paths[path] = Path::default();
        self.lia.set_member(path, member);
    }

    /// ACKs from before the event count again, for there was no loss between.
    fn undo(&mut self, path: usize) {
        let side = &mut self.paths[path];
        side.acks = side.acks.saturating_add(core::mem::take(&mut side.before));
        self.lia.undo(path);
    }

    fn restart(&mut self, path: usize, window: Window) {
        self.lia.restart(path, window);
    }

    fn window(&self, path: usize) -> Window {
        self.lia.window(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Phase;
    use alloc::vec::Vec;

    const MS: u64 = 1_000_000;

    /// Paths in avoidance, with these windows and smoothed round trips in ms.
    fn control(threshold: u32, capped: bool, paths: &[(f64, u64)]) -> Cs218 {
        let settings = Settings { initial_ssthresh: 1.0, ..Settings::default() };
        let mut control = Cs218::new(threshold, capped, settings, paths.len());
        for (path, (cwnd, rtt)) in paths.iter().enumerate() {
            control.lia.on_ack(path, &Acked { segments: 0.0, ..acked(*rtt, *rtt) });
            control.restart(path, Window { cwnd: *cwnd, ssthresh: 1.0 });
        }
        control
    }

    fn acked(srtt_ms: u64, last_ms: u64) -> Acked {
        let (srtt, rtt_ns) = (srtt_ms as f64 / 1e3, last_ms * MS);
        Acked { segments: 1.0, srtt, rtt_ns, cwnd_limited: true, ..Acked::default() }
    }

    /// What an ACK adds to path 0, of these windows and round trips in ms, over what it adds under LIA; the best round
    /// trip of the path is `best` of the last one.
    fn factor(capped: bool, paths: &[(f64, u64)], best: f64) -> f64 {
        let grown = |threshold: u32| {
            let mut control = control(threshold, capped, paths);
            let (cwnd, srtt) = paths[0];
            control.paths[0].best = (best * (srtt * MS) as f64) as u64;
            control.on_ack(0, &acked(srtt, srtt));
            control.window(0).cwnd - cwnd
        };
        grown(0) / grown(u32::MAX)
    }

    #[test]
    fn the_increment_is_twice_that_of_lia_at_the_best_round_trip_and_tends_to_it_at_long_ones() {
        // Two paths of 10 segments and 100 ms: α 0.5, LIA 0.025.
        let equal = [(10.0, 100), (10.0, 100)];
        for capped in [false, true] {
            for (best, expected) in [(1.0, 2.0), (0.5, 1.5), (1e-4, 1.0001), (1.5, 2.0)] {
                let got = factor(capped, &equal, best);
                assert!((got - expected).abs() < 1e-9, "{capped} {best}: {got}");
            }
        }
        let mut control = control(0, false, &equal);
        control.on_ack(0, &acked(100, 100));
        assert!((control.window(0).cwnd - 10.05).abs() < 1e-12, "{:?}", control.window(0));
    }

    #[test]
    fn within_the_cap_it_stays_a_tcp_where_that_binds() {
        // w (40, 2) of 200 and 20 ms: α 7/3, and the cap binds on the first path: 0.025.
        let unequal = [(40.0, 200), (2.0, 20)];
        assert!((factor(false, &unequal, 1.0) - 2.0).abs() < 1e-9);
        assert!((factor(true, &unequal, 1.0) - 1.0).abs() < 1e-9);
        // w (10, 10) of 50 and 200 ms: α 1.28, 0.064 each. Twice that is beyond the cap of 0.1.
        let between = [(10.0, 50), (10.0, 200)];
        assert!((factor(false, &between, 1.0) - 2.0).abs() < 1e-9);
        assert!((factor(true, &between, 1.0) - 0.1 / 0.064).abs() < 1e-9);
    }

    /// The number of the first ACK after a loss that adds more than LIA does.
    fn first_boosted(threshold: u32) -> Option<usize> {
        let paths = [(64.0, 100), (64.0, 100)];
        let [mut boosted, mut lia] = [threshold, u32::MAX].map(|t| control(t, false, &paths));
        let both = [&mut boosted, &mut lia];
        let windows = both.map(|control| -> Vec<f64> {
            (0..20).for_each(|_| control.on_ack(0, &acked(100, 100)));
            control.restart(0, Window { cwnd: 64.0, ssthresh: 1.0 });
            control.on_congestion(0, Cause::FastRetransmit);
            control.on_recovered(0);
            let ack = |_| {
                control.on_ack(0, &acked(100, 100));
                control.window(0).cwnd
            };
            (0..40).map(ack).collect()
        });
        windows[0].iter().zip(&windows[1]).position(|(a, b)| a > b).map(|before| before + 1)
    }

    #[test]
    fn the_sixth_acknowledgement_after_a_loss_is_the_first_that_is_boosted() {
        assert_eq!(first_boosted(ACKS), Some(6));
        for threshold in [0, 1, 2, 10, 20] {
            assert_eq!(first_boosted(threshold), Some(threshold as usize + 1));
        }
    }

    #[test]
    fn the_best_round_trip_is_used_before_it_is_updated_and_counts_for_one_at_most() {
        let mut path = Path::default();
        assert_eq!(
            [80, 100, 50, 100, 0].map(|last| path.count(0, last)),
            [1.0, 0.8, 1.0, 0.5, 0.0]
        );
        assert_eq!((path.best, path.acks), (50, 5));
    }

    #[test]
    fn a_loss_of_one_path_begins_its_count_anew_and_one_that_was_none_does_not() {
        let mut control = control(ACKS, false, &[(10.0, 100), (10.0, 100)]);
        for path in [0, 1] {
            (0..7).for_each(|_| control.on_ack(path, &acked(100, 100)));
        }
        let before = control.window(0).cwnd;
        control.on_congestion(0, Cause::FastRetransmit);
        assert_eq!(control.window(0).ssthresh, before / 2.0);
        assert_eq!([0, 1].map(|path| control.paths[path].acks), [0, 7]);
        control.on_ack(0, &Acked { phase: Phase::Recovery, ..acked(100, 100) });
        assert_eq!(control.window(0).cwnd, before / 2.0);
        control.undo(0);
        assert_eq!(control.paths[0].acks, 8);
        control.on_congestion(0, Cause::Timeout);
        control.on_congestion(0, Cause::TimeoutAgain);
        control.undo(0);
        assert_eq!(control.paths[0].acks, 8);
    }

    #[test]
    fn slow_start_is_that_of_lia() {
        let mut control = control(0, false, &[(10.0, 100), (10.0, 100)]);
        control.restart(0, Window { cwnd: 10.0, ssthresh: 20.0 });
        control.on_ack(0, &acked(100, 100));
        assert_eq!(control.window(0).cwnd, 11.0);
    }
}
