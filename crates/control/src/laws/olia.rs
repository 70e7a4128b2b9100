//! OLIA: opportunistic linked increases.
//!
//! Source: draft-khalili-mptcp-congestion-control-02; Khalili et al., CoNEXT 2012. Symbols: `M` the
//! paths with the largest window, `B` the best paths, `l_r` segments acknowledged between losses.
//! Deviations: path quality is `l_r/rtt_r²` as in the paper and the kernel implementation;
//! `olia:draft` takes the draft's `l_r²/rtt_r`. What a recovery acknowledges counts for the
//! interval that its loss began, as in the kernel implementation. Ties are taken with a relative
//! tolerance.

use crate::kind::{Choice, Described, Kind};
use crate::{Acked, Law, PathView, See, usable};

/// `w_r += (w_r/rtt_r²)/(Σ x_s)² + α_r/w_r`, `w_r/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Olia {
    /// Quality `l/rtt²`, about half the squared rate of a TCP on the path.
    Paper,
    /// Quality `l²/rtt`, as in the text of the draft.
    Draft,
}

/// Segments acknowledged on a path, from which `l_r` is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OliaNote {
    /// Since the last loss.
    pub since_loss: f64,
    /// Between the last two losses.
    pub between_losses: f64,
}

impl OliaNote {
    /// `l_r`.
    fn l(&self) -> f64 {
        self.since_loss.max(self.between_losses)
    }
}

/// Windows and qualities within this fraction of the largest count as largest.
const TIE: f64 = 1e-6;

impl Olia {
    fn quality(&self, path: &PathView<OliaNote>) -> f64 {
        let l = path.note.l();
        match self {
            Olia::Paper => l / (path.srtt * path.srtt),
            Olia::Draft => l * l / path.srtt,
        }
    }

    /// Thresholds for membership of `M` and `B`: the largest window and the best quality, less the
    /// tolerance.
    fn bars(&self, paths: &[PathView<OliaNote>]) -> (f64, f64) {
        let most = usable(paths).map(|s| s.cwnd).fold(0.0, f64::max);
        let best = usable(paths).map(|s| self.quality(s)).fold(0.0, f64::max);
        (most * (1.0 - TIE), best * (1.0 - TIE))
    }

    /// `α_r`: moves window from the largest paths to the best ones; sums to zero over the paths.
    fn alpha(&self, me: usize, paths: &[PathView<OliaNote>]) -> f64 {
        let (most, best) = self.bars(paths);
        let in_m = |s: &PathView<OliaNote>| s.cwnd >= most;
        let collected = |s: &PathView<OliaNote>| self.quality(s) >= best && !in_m(s);
        let n = usable(paths).count() as f64;
        let n_m = usable(paths).filter(|s| in_m(s)).count() as f64;
        let n_collected = usable(paths).filter(|s| collected(s)).count() as f64;
        if n_collected == 0.0 {
            0.0
        } else if collected(&paths[me]) {
            1.0 / (n * n_collected)
        } else if in_m(&paths[me]) {
            -1.0 / (n * n_m)
        } else {
            0.0
        }
    }
}

impl Law for Olia {
    type Note = OliaNote;

    /// draft-khalili-mptcp-congestion-control: ssthresh is at least 1 MSS if several paths are
    /// established.
    fn min_ssthresh(&self) -> f64 {
        1.0
    }

    fn growth(&self, me: usize, paths: &[PathView<OliaNote>]) -> f64 {
        let x: f64 = usable(paths).map(PathView::rate).sum();
        let PathView { cwnd, srtt, .. } = paths[me];
        cwnd / (srtt * srtt) / (x * x) + self.alpha(me, paths) / cwnd
    }

    #[inline] // runs for every ACK
    fn note_acked(&self, note: &mut OliaNote, ack: &Acked) {
        note.since_loss += ack.segments;
    }

    fn note_lost(&self, note: &mut OliaNote) {
        if note.since_loss > 0.0 {
            *note = OliaNote { since_loss: 0.0, between_losses: note.since_loss };
        }
    }

    fn observe(&self, me: usize, paths: &[PathView<OliaNote>], see: See<'_>) {
        let (most, best) = self.bars(paths);
        let path = &paths[me];
        see("alpha", self.alpha(me, paths));
        see("in_best", f64::from(u8::from(self.quality(path) >= best)));
        see("in_largest", f64::from(u8::from(path.cwnd >= most)));
        see("l_segments", path.note.l());
    }

    /// One loss in `1/p` segments.
    fn steady_note(&self, loss: f64, _rtt: f64) -> OliaNote {
        OliaNote { since_loss: 0.0, between_losses: 1.0 / loss }
    }
}

impl Kind for Olia {
    const DESCRIBED: Described = Described {
        names: &["olia"],
        summary: "Opportunistic linked increases: combines resource pooling with responsiveness.",
        formula: "growth (w_r/rtt_r²)/(Σ x_s)² + α_r/w_r, backoff w_r/2",
        source: "draft-khalili-mptcp-congestion-control-02; Khalili et al., CoNEXT 2012",
        set_valued: true,
        ported: true,
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Olia::Paper);
    const CHOICES: &'static [Choice<Self>] =
        &[Choice::word("draft", Olia::Draft, "path quality l²/rtt instead of l/rtt²")];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, CongestionController, Phase, Settings, Shell, Span};
    use alloc::borrow::ToOwned;
    use alloc::vec::Vec;

    fn views(windows: &[f64], rtts: &[f64], l: &[f64]) -> Vec<PathView<OliaNote>> {
        let note = |r: usize| OliaNote { since_loss: l[r], between_losses: 0.0 };
        (0..windows.len())
            .map(|r| PathView { cwnd: windows[r], srtt: rtts[r], note: note(r), usable: true })
            .collect()
    }

    fn check(law: Olia, paths: &[PathView<OliaNote>], alpha: &[f64], growth: &[f64]) {
        for me in 0..paths.len() {
            assert!((law.alpha(me, paths) - alpha[me]).abs() < 1e-12, "alpha of path {me}");
            assert!((law.growth(me, paths) - growth[me]).abs() < 6e-7, "growth of path {me}");
        }
        assert!((0..paths.len()).map(|me| law.alpha(me, paths)).sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn growth_follows_the_golden_vectors() {
        let equal = [0.1, 0.1];
        let paths = views(&[20.0, 10.0], &equal, &[100.0, 400.0]);
        check(Olia::Paper, &paths, &[-0.5, 0.5], &[-0.002778, 0.061111]);
        let paths = views(&[20.0, 10.0], &equal, &[400.0, 100.0]);
        check(Olia::Paper, &paths, &[0.0, 0.0], &[0.022222, 0.011111]);
        let paths = views(&[20.0, 20.0, 5.0], &[0.1; 3], &[100.0, 100.0, 900.0]);
        let sixth = 1.0 / 6.0;
        let growth = [0.001543, 0.001543, 0.069136];
        check(Olia::Paper, &paths, &[-sixth, -sixth, 1.0 / 3.0], &growth);
    }

    #[test]
    fn the_two_path_qualities_disagree_when_round_trips_differ() {
        let paths = views(&[20.0, 10.0], &[0.1, 0.2], &[100.0, 300.0]);
        check(Olia::Paper, &paths, &[0.0, 0.0], &[0.032, 0.004]);
        check(Olia::Draft, &paths, &[-0.5, 0.5], &[0.007, 0.054]);
    }

    #[test]
    fn what_the_law_publishes_is_what_it_grows_by() {
        let paths = views(&[20.0, 10.0], &[0.1, 0.1], &[100.0, 400.0]);
        let mut seen = Vec::new();
        Olia::Paper.observe(1, &paths, &mut |name, value| seen.push((name.to_owned(), value)));
        let expected =
            [("alpha", 0.5), ("in_best", 1.0), ("in_largest", 0.0), ("l_segments", 400.0)]
                .map(|(name, value)| (name.to_owned(), value));
        assert_eq!(seen, expected);
    }

    /// The draft counts what is acknowledged since the last loss. Data below a hole is acknowledged
    /// when the hole is filled. That is after the loss was found, so the data belongs to the new
    /// interval.
    #[test]
    fn l_counts_what_recovery_acknowledges_and_one_loss_once() {
        let mut shell = Shell::new(Olia::Paper, Settings::default(), 2);
        let note = |since_loss, between_losses| OliaNote { since_loss, between_losses };
        let ack = |segments, phase| {
            let srtt = Span::millis(100);
            Acked { segments, srtt, phase, cwnd_limited: true, ..Acked::default() }
        };
        shell.on_ack(0, &ack(8.0, Phase::Open));
        shell.on_congestion(0, Cause::FastRetransmit);
        assert_eq!(shell.views()[0].note, note(0.0, 8.0));
        shell.on_ack(0, &ack(3.0, Phase::Recovery));
        shell.on_ack(0, &ack(9.0, Phase::Recovery));
        shell.on_recovered(0);
        assert_eq!(shell.views()[0].note, note(12.0, 8.0));
        shell.on_congestion(0, Cause::Timeout);
        assert_eq!(shell.views()[0].note, note(0.0, 12.0));
        shell.on_congestion(0, Cause::TimeoutAgain);
        shell.on_ack(0, &ack(1.0, Phase::Loss));
        assert_eq!(shell.views()[0].note, note(1.0, 12.0));
    }

    #[test]
    fn a_second_loss_without_progress_keeps_the_last_interval() {
        let mut note = OliaNote::default();
        Olia::Paper.note_acked(&mut note, &Acked { segments: 7.0, ..Acked::default() });
        Olia::Paper.note_lost(&mut note);
        Olia::Paper.note_lost(&mut note);
        assert_eq!(note, OliaNote { since_loss: 0.0, between_losses: 7.0 });
    }
}
