//! CS218_ALGO: LIA whose increment is up to doubled on a path that has not lost for a while and has
//! no queue.
//!
//! Source: "Improving Multipath TCP Congestion Control", CS 218 Project Final Report, Fall 2017,
//! §3.2.3 (symbols `ackCount`, `bestRTT`, `lastRTT`, `DWND`). For each path:
//!
//! ```text
//! loss:  ackCount = 0, w/2
//! ACK:   ackCount += 1
//!        DWND = ackCount > 5 ? α · bestRTT/lastRTT : 0        ≤ α
//!        w += LIA's increment with α + DWND for α
//!        bestRTT = min(bestRTT, lastRTT)                      after its use
//! ```
//!
//! The pseudo code sets `CWND = α + DWND`, which is not a window; the text has the window increased
//! by up to "twice the amount added in RTT compensator". So the increment is LIA's,
//! `min(α/w_tot, 1/w_r)`, times `1 + DWND/α`. Where the cap binds that is up to two TCPs;
//! `cs218:capped` has `min((α + DWND)/w_tot, 1/w_r)` instead. A new smallest round trip counts as
//! one that equals it.
//!
//! ACKs of new data count, in recovery too (which ends without growth); duplicate ones do not, and
//! end nothing until a loss is inferred from them. Everything else is the shell's: slow start and
//! loss are LIA's, and a path that is alone is exactly Reno, though by the letter its α of 1 would
//! be doubled: a subflow is to "take no more capacity on a path than it would if it were a normal
//! TCP flow" (§2).
//!
//! `lastRTT` is the newest round-trip sample, not the smoothed one. With round trips that stay as
//! they are and losses much rarer than one in six segments, it is LIA with twice the increment, and
//! its windows are √2 times as large.

use super::lia::linked;
use crate::kind::{Choice, Described, Kind};
use crate::{Acked, Law, PathView, Span, usable};

/// The number of ACKs in a row beyond which increments are boosted ("upon a set of runs").
const ACKS: u32 = 5;

/// `w_r += min(α/w_tot, 1/w_r) (1 + bestRTT/lastRTT)` after `threshold` ACKs without a loss,
/// `w_r/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cs218 {
    /// Replaces the 5 of the report.
    threshold: u32,
    boost: Boost,
}

/// Where the boost applies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Boost {
    /// After the cap `1/w_r`.
    Uncapped,
    /// Before the cap.
    Capped,
}

/// The state of CS218_ALGO on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cs218Note {
    /// `DWND/α`, from 0 to 1.
    boost: f64,
    /// `bestRTT`: only ratios to other round trips have a meaning.
    best: Span,
    /// `ackCount`.
    acks: u32,
}

impl Default for Cs218Note {
    fn default() -> Self {
        Cs218Note { boost: 0.0, best: Span(u64::MAX), acks: 0 }
    }
}

impl Law for Cs218 {
    type Note = Cs218Note;

    fn growth(&self, me: usize, paths: &[PathView<Cs218Note>]) -> f64 {
        let PathView { cwnd, note, .. } = paths[me];
        if usable(paths).nth(1).is_none() {
            return 1.0 / cwnd;
        }
        match self.boost {
            Boost::Uncapped => (1.0 + note.boost) * linked(paths).min(1.0 / cwnd),
            Boost::Capped => ((1.0 + note.boost) * linked(paths)).min(1.0 / cwnd),
        }
    }

    fn note_acked(&self, note: &mut Cs218Note, ack: &Acked) {
        let last = ack.rtt;
        note.acks = note.acks.saturating_add(1);
        note.boost = 0.0;
        if last > Span::ZERO {
            let ratio = (note.best.0 as f64 / last.0 as f64).min(1.0);
            note.best = note.best.min(last);
            if note.acks > self.threshold {
                note.boost = ratio;
            }
        }
    }

    fn note_lost(&self, note: &mut Cs218Note) {
        note.acks = 0;
    }

    fn note_lost_again(&self, note: &mut Cs218Note) {
        note.acks = 0;
    }

    /// ACKs from before the event count again, because there was no loss.
    fn note_undone(&self, note: &mut Cs218Note, before: Cs218Note) {
        note.acks = note.acks.saturating_add(before.acks);
    }

    /// Round trips are constant. An ACK is boosted if the last `threshold` segments were not lost.
    fn steady_note(&self, loss: f64, _rtt: f64) -> Cs218Note {
        let boost = libm::pow(1.0 - loss, f64::from(self.threshold));
        Cs218Note { boost, ..Cs218Note::default() }
    }
}

impl Kind for Cs218 {
    const DESCRIBED: Described = Described {
        names: &["cs218"],
        aliases: &["cs218-algo"],
        summary: "CS218_ALGO: LIA that grows up to twice as fast on a path with no queue and no loss in the last five ACKs.",
        formula: "growth min(α/w_tot, 1/w_r) (1 + bestRTT/lastRTT) after five ACKs since a loss, backoff w_r/2",
        source: "CS 218 project report, 2017, §3.2.3",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Cs218 { threshold: ACKS, boost: Boost::Uncapped });
    const CHOICES: &'static [Choice<Self>] = &[
        Choice::word(
            "capped",
            Cs218 { threshold: ACKS, boost: Boost::Capped },
            "boosted growth stays within the cap 1/w_r",
        ),
        Choice::count(
            "acks-",
            0..=1000,
            &[10, 0, 1, 2, 3, 20],
            |threshold| Cs218 { threshold, boost: Boost::Uncapped },
            "growth is boosted after this many ACKs since a loss",
        ),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, CongestionController, Phase, Settings, Shell, Window};
    use alloc::vec::Vec;

    const MS: u64 = 1_000_000;

    fn law(threshold: u32, boost: Boost) -> Cs218 {
        Cs218 { threshold, boost }
    }

    /// Paths in avoidance, with these windows and smoothed round trips in ms.
    fn control(law: Cs218, paths: &[(f64, u64)]) -> Shell<Cs218> {
        let settings = Settings { initial_ssthresh: 1.0, ..Settings::default() };
        let mut control = Shell::new(law, settings, paths.len());
        for (path, (cwnd, rtt)) in paths.iter().enumerate() {
            control.on_ack(path, &Acked { segments: 0.0, ..acked(*rtt, *rtt) });
            control.restart(path, Window { cwnd: *cwnd, ssthresh: 1.0 });
        }
        control
    }

    fn acked(srtt_ms: u64, last_ms: u64) -> Acked {
        let (srtt, rtt) = (Span(srtt_ms * MS), Span(last_ms * MS));
        Acked { segments: 1.0, srtt, rtt, cwnd_limited: true, ..Acked::default() }
    }

    /// The growth of path 0 for an ACK, divided by LIA's. `paths` has windows and round trips in
    /// ms; the best round trip of the path is `best` times the last one.
    fn factor(boost: Boost, paths: &[(f64, u64)], best: f64) -> f64 {
        let grown = |threshold: u32| {
            let mut control = control(law(threshold, boost), paths);
            let (cwnd, srtt) = paths[0];
            let rtt_ns = (best * (srtt * MS) as f64) as u64;
            control.on_ack(0, &Acked { segments: 0.0, rtt: Span(rtt_ns), ..acked(srtt, srtt) });
            control.on_ack(0, &acked(srtt, srtt));
            control.window(0).cwnd - cwnd
        };
        grown(0) / grown(u32::MAX)
    }

    #[test]
    fn the_increment_is_twice_that_of_lia_at_the_best_round_trip_and_tends_to_it_at_long_ones() {
        // Two paths of 10 segments and 100 ms: α 0.5, LIA 0.025.
        let equal = [(10.0, 100), (10.0, 100)];
        for boost in [Boost::Uncapped, Boost::Capped] {
            for (best, expected) in [(1.0, 2.0), (0.5, 1.5), (1e-4, 1.0001), (1.5, 2.0)] {
                let got = factor(boost, &equal, best);
                assert!((got - expected).abs() < 1e-9, "{boost:?} {best}: {got}");
            }
        }
        let mut control = control(law(0, Boost::Uncapped), &equal);
        control.on_ack(0, &acked(100, 100));
        assert!((control.window(0).cwnd - 10.05).abs() < 1e-12, "{:?}", control.window(0));
    }

    #[test]
    fn within_the_cap_it_stays_a_tcp_where_that_binds() {
        // w (40, 2) of 200 and 20 ms: α 7/3, and the cap binds on the first path: 0.025.
        let unequal = [(40.0, 200), (2.0, 20)];
        assert!((factor(Boost::Uncapped, &unequal, 1.0) - 2.0).abs() < 1e-9);
        assert!((factor(Boost::Capped, &unequal, 1.0) - 1.0).abs() < 1e-9);
        // w (10, 10) of 50 and 200 ms: α 1.28, 0.064 each. Twice that is beyond the cap of 0.1.
        let between = [(10.0, 50), (10.0, 200)];
        assert!((factor(Boost::Uncapped, &between, 1.0) - 2.0).abs() < 1e-9);
        assert!((factor(Boost::Capped, &between, 1.0) - 0.1 / 0.064).abs() < 1e-9);
    }

    /// The number of the first ACK after a loss that adds more than LIA does.
    fn first_boosted(threshold: u32) -> Option<usize> {
        let paths = [(64.0, 100), (64.0, 100)];
        let [mut boosted, mut lia] =
            [threshold, u32::MAX].map(|t| control(law(t, Boost::Uncapped), &paths));
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
        let (law, mut note) = (law(0, Boost::Uncapped), Cs218Note::default());
        let boosts = [80, 100, 50, 100, 0].map(|rtt_ns| {
            law.note_acked(&mut note, &Acked { rtt: Span(rtt_ns), ..Acked::default() });
            note.boost
        });
        assert_eq!(boosts, [1.0, 0.8, 1.0, 0.5, 0.0]);
        assert_eq!((note.best, note.acks), (Span(50), 5));
    }

    #[test]
    fn a_loss_resets_the_count_of_its_path_and_a_spurious_one_does_not() {
        let mut control = control(law(ACKS, Boost::Uncapped), &[(10.0, 100), (10.0, 100)]);
        for path in [0, 1] {
            (0..6).for_each(|_| control.on_ack(path, &acked(100, 100)));
        }
        let before = control.window(0).cwnd;
        control.on_congestion(0, Cause::FastRetransmit);
        assert_eq!(control.window(0).ssthresh, before / 2.0);
        assert_eq!([0, 1].map(|path| control.views()[path].note.acks), [0, 7]);
        control.on_ack(0, &Acked { phase: Phase::Recovery, ..acked(100, 100) });
        assert_eq!(control.window(0).cwnd, before / 2.0);
        control.undo(0);
        assert_eq!(control.views()[0].note.acks, 8);
        control.on_congestion(0, Cause::Timeout);
        control.on_congestion(0, Cause::TimeoutAgain);
        control.undo(0);
        assert_eq!(control.views()[0].note.acks, 8);
    }

    #[test]
    fn slow_start_is_that_of_lia() {
        let mut control = control(law(0, Boost::Uncapped), &[(10.0, 100), (10.0, 100)]);
        control.restart(0, Window { cwnd: 10.0, ssthresh: 20.0 });
        control.on_ack(0, &acked(100, 100));
        assert_eq!(control.window(0).cwnd, 11.0);
    }
}
