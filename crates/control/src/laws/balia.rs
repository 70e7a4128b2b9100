//! BALIA: balanced linked adaptation.
//!
//! Source: draft-walid-mptcp-congestion-control; Peng, Walid, Hwang and Low 2016.
//! Deviation from Linux: `α_r` is a real number in the decrease too, where Linux divides integers.

use crate::kind::{Described, Kind};
use crate::{Law, PathView, See, usable};

/// `w_r += x_r/(rtt_r (Σ x)²) · (1+α_r)/2 · (4+α_r)/5`, `w_r − (w_r/2) · min(α_r, 1.5)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balia;

/// `α_r = max_s x_s / x_r`, at least 1.
fn alpha(me: usize, paths: &[PathView]) -> f64 {
    usable(paths).map(PathView::rate).fold(0.0, f64::max) / paths[me].rate()
}

impl Law for Balia {
    type Note = ();

    /// draft-walid-mptcp-congestion-control: ssthresh is at least 1 MSS if several paths are
    /// established.
    fn min_ssthresh(&self) -> f64 {
        1.0
    }

    fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
        let x: f64 = usable(paths).map(PathView::rate).sum();
        let a = alpha(me, paths);
        paths[me].rate() / (paths[me].srtt * x * x) * ((1.0 + a) / 2.0) * ((4.0 + a) / 5.0)
    }

    fn backoff(&self, me: usize, paths: &[PathView]) -> f64 {
        let w = paths[me].cwnd;
        w - w / 2.0 * alpha(me, paths).min(1.5)
    }

    fn observe(&self, me: usize, paths: &[PathView], see: See<'_>) {
        see("alpha", alpha(me, paths));
    }
}

impl Kind for Balia {
    const DESCRIBED: Described = Described {
        names: &["balia"],
        summary: "Balanced linked adaptation: balances friendliness and responsiveness.",
        formula: "growth x_r/(rtt_r (Σ x_s)²) (1+α_r)/2 (4+α_r)/5, backoff w_r (1 − min(α_r, 1.5)/2)",
        source: "draft-walid-mptcp-congestion-control-04; Peng et al. 2016",
        ported: true,
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Balia);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_and_decrease_follow_the_golden_vectors() {
        let path = |w| PathView { cwnd: w, srtt: 0.1, usable: true, ..Default::default() };
        // (window, other window, growth, decrease), computed by hand
        let vectors = [
            (20.0, 10.0, 0.022222, 10.0),
            (10.0, 20.0, 0.02, 7.5),
            (30.0, 10.0, 0.01875, 15.0),
            (10.0, 30.0, 0.0175, 7.5),
        ];
        for (w, other, growth, decrease) in vectors {
            let paths = [path(w), path(other)];
            assert!((Balia.growth(0, &paths) - growth).abs() < 6e-7, "growth at {w}, {other}");
            assert_eq!(w - Balia.backoff(0, &paths), decrease);
        }
        assert!((Balia.growth(0, &[path(10.0)]) - 0.1).abs() < 1e-12);
    }
}
