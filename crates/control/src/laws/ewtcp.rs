//! EWTCP: every path is a TCP of reduced weight.
//!
//! Source: Honda et al., "Multipath congestion control for shared bottleneck", 2009; the literal
//! form as printed in Wischik et al., NSDI 2011, and the CS218 report. Two readings: Honda's aim,
//! one TCP's worth in a shared bottleneck, needs `a = 1/n²`, since the rate grows with `√a`; the
//! printed `a = 1/√n` takes `n^(3/4)` TCPs there.

use crate::kind::{Choice, Described, Kind};
use crate::{Law, PathView, usable};

/// `w += a/w`, `w/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ewtcp {
    /// `a = 1/n²`: one TCP's worth in total.
    Fair,
    /// `a = 1/√n`: as printed.
    Literal,
}

impl Law for Ewtcp {
    type Note = ();

    fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
        let n = usable(paths).count() as f64;
        let a = match self {
            Ewtcp::Fair => 1.0 / (n * n),
            Ewtcp::Literal => 1.0 / libm::sqrt(n),
        };
        a / paths[me].cwnd
    }
}

impl Kind for Ewtcp {
    const DESCRIBED: Described = Described {
        names: &["ewtcp"],
        summary: "Every path is a TCP of weight a.",
        formula: "growth a/w_r with a = 1/n², backoff w_r/2",
        source: "Honda et al. 2009; Wischik et al., NSDI 2011",
        ported: true,
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Ewtcp::Fair);
    const CHOICES: &'static [Choice<Self>] =
        &[Choice::word("literal", Ewtcp::Literal, "a = 1/√n, as printed")];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift;

    #[test]
    fn two_fair_paths_balance_at_one_tcp_together() {
        let w = libm::sqrt(2.0 / 0.01) / 2.0;
        let paths = [PathView { cwnd: w, srtt: 0.1, usable: true, ..Default::default() }; 2];
        assert!(drift(&Ewtcp::Fair, 0, &paths, 0.01).abs() < 1e-12);
        assert!(drift(&Ewtcp::Literal, 0, &paths, 0.01) > 0.0);
    }
}
