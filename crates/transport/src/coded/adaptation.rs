//! Redundancy that follows what the air loses (wished for by Xue et al., TVT 2017, §VI: "by
//! choosing proper coding parameters").
//!
//! The rule:
//! * **What counts.** The receiver reports how many degrees of freedom are missing of the
//!   segments that combinations covered. Segments and missing ones are collected until nothing is
//!   missing; then the losses were the air's, and coding has repaired them. If TCP's recovery or
//!   a timeout begins first, they are congestion's, by the judgement of whatever controls the
//!   path, and neither they nor the segments sent meanwhile count.
//! * **The estimate** p is the inverse of TFRC's average loss interval (`coding::LossEstimate`).
//! * **The redundancy** is 1/(1 − p) + 0.03, at most `up_to`: 1/(1 − p) is the least that makes
//!   the loss good (Table II), and "usually a little higher" is what the paper asks for (§IV-C).
//!   That it is 0.03 higher its ledger recommends (`couple.wish.coding_parameters`). The
//!   redundant cycle ΔT follows.

use coding::LossEstimate;

/// By how much redundancy is above what the estimated loss asks for.
const MARGIN: f64 = 0.03;

/// What is known of a path's loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptation {
    /// The most redundancy.
    most: f64,
    estimate: LossEstimate,
    /// Segments covered at the last report.
    covered: u32,
    /// Segments covered since nothing was missing, and how many of them were missing.
    segments: u32,
    lost: u32,
    /// Some of what is missing is congestion's.
    spoiled: bool,
}

impl Adaptation {
    pub(super) fn new(most: f64) -> Self {
        let estimate = LossEstimate::default();
        Adaptation { most, estimate, covered: 0, segments: 0, lost: 0, spoiled: false }
    }

    /// A report: segments covered so far, how many more are missing than before, and how many in
    /// all. The redundancy to use from now on, if that is known and may have changed.
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

    /// What is missing now, and until nothing is, is congestion's.
    pub(super) fn on_congestion(&mut self) {
        self.spoiled = true;
    }

    /// The path begins again with segment `base`.
    pub(super) fn restart(&mut self, base: u32) {
        (self.covered, self.segments, self.lost, self.spoiled) = (base, 0, 0, false);
    }
}
