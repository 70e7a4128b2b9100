//! The φ-family: from fully coupled (φ → 0) over LIA (φ = 1) towards uncoupled (φ = 2).
//!
//! Source: Wischik, Handley and Raiciu 2009; Khalili draft-04 §2. This is the form compensated for
//! round-trip times: for every φ in (0, 2), the total rate equals that of one TCP on the best path,
//! and windows are proportional to `p_r^(−1/φ)`. At φ = 2 it is therefore *not* Reno per path: it
//! still normalises the total. Uncoupled TCP is `uncoupled`.

use crate::kind::{Choice, Described, Kind};
use crate::{Law, PathView, usable};

/// `w_r += w_r^(1−φ) · max_s(w_s^φ / rtt_s²) / (Σ x_s)²`, `w_r/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phi {
    phi: f64,
}

impl Law for Phi {
    type Note = ();

    fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
        let x: f64 = usable(paths).map(PathView::rate).sum();
        let best = usable(paths)
            .map(|s| libm::pow(s.cwnd, self.phi) / (s.srtt * s.srtt))
            .fold(0.0, f64::max);
        libm::pow(paths[me].cwnd, 1.0 - self.phi) * best / (x * x)
    }
}

impl Kind for Phi {
    const DESCRIBED: Described = Described {
        names: &["phi"],
        summary: "Family between fully coupled and uncoupled: windows are proportional to p_r^(−1/φ).",
        formula: "growth w_r^(1−φ) max_s(w_s^φ/rtt_s²)/(Σ x_s)², backoff w_r/2",
        source: "Khalili draft-04 §2; Wischik et al. 2009",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = None;
    const CHOICES: &'static [Choice<Self>] = &[Choice::number(
        "",
        (0.0, 2.0),
        &[0.5, 0.1, 1.0, 1.5, 2.0],
        |phi| Phi { phi },
        "φ itself",
    )];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift;

    #[test]
    fn windows_balance_as_the_loss_to_the_power_of_minus_one_over_phi() {
        let (p1, p2, rtt) = (0.002, 0.01, 0.1);
        for (phi, ratio) in [(0.5, 25.0), (1.0, 5.0), (1.5, 2.924)] {
            let total = libm::sqrt(2.0 / p1);
            let path = |w| PathView { cwnd: w, srtt: rtt, usable: true, ..Default::default() };
            let exact: f64 = libm::pow(p2 / p1, 1.0 / phi);
            assert!((exact / ratio - 1.0).abs() < 1e-3);
            let w2 = total / (1.0 + exact);
            let paths = [path(total - w2), path(w2)];
            assert!(drift(&Phi { phi }, 0, &paths, p1).abs() < 1e-12, "phi {phi}");
            assert!(drift(&Phi { phi }, 1, &paths, p2).abs() < 1e-12, "phi {phi}");
        }
    }
}
