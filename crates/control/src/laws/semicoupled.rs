//! SEMI-COUPLED: increases linked through the total window, decreases independent on each path.
//!
//! Source: Wischik et al., NSDI 2011, §2.4. There `a` is chosen on line, which becomes LIA; here it
//! is fixed at `1/n`, one TCP's worth when all paths see the same loss.

use crate::kind::{Described, Kind};
use crate::{Law, PathView, usable};

/// `w_r += a/w_tot` with `a = 1/n`, `w_r/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SemiCoupled;

impl Law for SemiCoupled {
    type Note = ();

    fn growth(&self, _me: usize, paths: &[PathView]) -> f64 {
        let n = usable(paths).count() as f64;
        let w_tot: f64 = usable(paths).map(|path| path.cwnd).sum();
        1.0 / (n * w_tot)
    }
}

impl Kind for SemiCoupled {
    const DESCRIBED: Described = Described {
        names: &["semicoupled"],
        summary: "Linked increases of fixed aggressiveness: windows are proportional to 1/p_r.",
        formula: "growth (1/n)/w_tot, backoff w_r/2",
        source: "Wischik et al., NSDI 2011, §2.4",
        ported: true,
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(SemiCoupled);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift;

    #[test]
    fn windows_balance_in_inverse_proportion_to_loss() {
        let (p1, p2) = (0.005, 0.01);
        // w_r = sqrt(2a) (1/p_r) / sqrt(Σ 1/p_s) with a = 1/2
        let norm = libm::sqrt(1.0 / p1 + 1.0 / p2);
        let path = |p: f64| PathView {
            cwnd: 1.0 / (p * norm),
            srtt: 0.1,
            usable: true,
            ..Default::default()
        };
        let paths = [path(p1), path(p2)];
        assert!(drift(&SemiCoupled, 0, &paths, p1).abs() < 1e-12);
        assert!(drift(&SemiCoupled, 1, &paths, p2).abs() < 1e-12);
    }
}
