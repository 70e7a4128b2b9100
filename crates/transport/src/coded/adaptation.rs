//! Redundancy adapted to the losses of the radio link (wished for by Xue et al., TVT 2017, §VI: "by
//! choosing proper coding parameters").
//!
//! The rule:
//! * **What counts.** The receiver reports how many degrees of freedom are missing of the
//!   segments that combinations covered. Segments and missing ones are collected until nothing is
//!   missing; then the radio link caused the losses, and coding has repaired them. If TCP's
//!   recovery or a timeout begins first, the path's congestion control has judged them to be
//!   congestion. Then neither these losses nor the segments sent meanwhile count.
//! * **The estimate** p is the inverse of TFRC's average loss interval (`coding::LossEstimate`).
//! * **The redundancy** is 1/(1 − p) + 0.03, at most `up_to`: 1/(1 − p) is the least redundancy
//!   that repairs the loss (Table II), and "usually a little higher" is what the paper asks for
//!   (§IV-C). That it is 0.03 higher its ledger recommends (`couple.wish.coding_parameters`). The
//!   redundant cycle ΔT follows.

use coding::LossEstimate;

/// Margin of the redundancy over the least value for the estimated loss.
const MARGIN: f64 = 0.03;

/// The loss estimate of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptation {
    /// Largest redundancy.
    most: f64,
    estimate: LossEstimate,
    /// Segments covered at the last report.
    covered: u32,
    /// Segments covered since nothing was missing, and the number of them that were missing.
    segments: u32,
    lost: u32,
    /// Some of the missing segments were lost to congestion.
    spoiled: bool,
}

impl Adaptation {
    pub(super) fn new(most: f64) -> Self {
        let estimate = LossEstimate::default();
        Adaptation { most, estimate, covered: 0, segments: 0, lost: 0, spoiled: false }
    }

    /// A report: segments covered so far, increase of the missing ones, and their total. Returns
    /// the redundancy to use from now on, if it is known and may have changed.
    pub(super) fn on_report(&mut self, covered: u32, newly: u32, missing: u32) -> Option<f64> {
        let segments = covered.saturating_sub(self.covered);
        self.covered = self.covered.max(covered);
        self.segments = self.segments.saturating_add(segments);
        self.lost = self.lost.saturating_add(newly);
        if missing > 0 || self.segments == 0 {
            return None;
        }
        if !self.spoiled {
            self.estimate.on_packets(self.segments, self.lost);
        }
        (self.segments, self.lost, self.spoiled) = (0, 0, false);
        self.estimate.loss().map(|p| (1.0 / (1.0 - p) + MARGIN).min(self.most))
    }

    /// The segments missing now count as lost to congestion, until nothing is missing.
    pub(super) fn on_congestion(&mut self) {
        self.spoiled = true;
    }

    /// The path restarts with segment `base`.
    pub(super) fn restart(&mut self, base: u32) {
        (self.covered, self.segments, self.lost, self.spoiled) = (base, 0, 0, false);
    }
}
