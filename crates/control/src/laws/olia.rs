//! OLIA: opportunistic linked increases.
//!
//! Source: draft-khalili-mptcp-congestion-control-02; Khalili et al., CoNEXT 2012. Symbols: `M` the
//! paths with the largest window, `B` the best paths, `l_r` segments acknowledged between losses.
//! Deviations: path quality is `l_r/rtt_r²` as in the paper and the kernel implementation;
//! `olia:draft` takes the draft's `l_r²/rtt_r`. Ties are taken with a relative tolerance.

use super::{Described, Registered};
use crate::{Law, Note, PathView, usable};

/// `w_r += (w_r/rtt_r²)/(Σ x_s)² + α_r/w_r`, `w_r/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Olia {
    /// Quality `l/rtt²`, about half the squared rate of a TCP on the path.
    Paper,
    /// Quality `l²/rtt`, as the draft's text has it.
    Draft,
}

/// Slots of the note: segments acknowledged since the last loss, and between the last two.
const SINCE_LOSS: usize = 0;
const BETWEEN_LOSSES: usize = 1;

/// Windows and qualities within this fraction of the largest count as largest.
const TIE: f64 = 1e-6;

impl Olia {
    fn quality(&self, path: &PathView) -> f64 {
        let l = path.note[SINCE_LOSS].max(path.note[BETWEEN_LOSSES]);
        match self {
            Olia::Paper => l / (path.srtt * path.srtt),
            Olia::Draft => l * l / path.srtt,
        }
    }

    /// `α_r`: moves window from the largest paths to the best ones; sums to zero over the paths.
    fn alpha(&self, me: usize, paths: &[PathView]) -> f64 {
        let most = usable(paths).map(|s| s.cwnd).fold(0.0, f64::max);
        let best = usable(paths).map(|s| self.quality(s)).fold(0.0, f64::max);
        let in_m = |s: &PathView| s.cwnd >= most * (1.0 - TIE);
        let collected = |s: &PathView| self.quality(s) >= best * (1.0 - TIE) && !in_m(s);
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
    fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
        let x: f64 = usable(paths).map(PathView::rate).sum();
        let PathView { cwnd, srtt, .. } = paths[me];
        cwnd / (srtt * srtt) / (x * x) + self.alpha(me, paths) / cwnd
    }

    fn note_acked(&self, note: &mut Note, segments: f64) {
        note[SINCE_LOSS] += segments;
    }

    fn note_lost(&self, note: &mut Note) {
        if note[SINCE_LOSS] > 0.0 {
            *note = [0.0, note[SINCE_LOSS]];
        }
    }

    /// A loss every `1/p` segments.
    fn steady_note(&self, loss: f64) -> Note {
        [0.0, 1.0 / loss]
    }
}

impl Registered for Olia {
    const DESCRIBED: Described = Described {
        names: &["olia"],
        options: &[("draft", "path quality l²/rtt instead of l/rtt²")],
        summary: "opportunistic linked increases: resource pooling and responsiveness together",
        formula: "growth (w_r/rtt_r²)/(Σ x_s)² + α_r/w_r, backoff w_r/2",
        source: "draft-khalili-mptcp-congestion-control-02; Khalili et al., CoNEXT 2012",
        set_valued: true,
        ported: true,
    };

    fn with_option(option: Option<&str>) -> Option<Self> {
        match option {
            None => Some(Olia::Paper),
            Some("draft") => Some(Olia::Draft),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn views(windows: &[f64], rtts: &[f64], l: &[f64]) -> Vec<PathView> {
        (0..windows.len())
            .map(|r| PathView { cwnd: windows[r], srtt: rtts[r], note: [l[r], 0.0], usable: true })
            .collect()
    }

    fn check(law: Olia, paths: &[PathView], alpha: &[f64], growth: &[f64]) {
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
    fn a_second_loss_without_progress_keeps_the_last_interval() {
        let mut note = [0.0; 2];
        Olia::Paper.note_acked(&mut note, 7.0);
        Olia::Paper.note_lost(&mut note);
        Olia::Paper.note_lost(&mut note);
        assert_eq!(note, [0.0, 7.0]);
    }
}
