//! Reno: additive increase, multiplicative decrease, each path independently.
//!
//! Source: RFC 5681 §3.1. On several paths of one connection this is "uncoupled".

use crate::kind::{Described, Kind};
use crate::{Law, PathView};

/// `w += 1/w` for each acknowledged segment, `w/2` after a congestion event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reno;

impl Law for Reno {
    type Note = ();

    fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
        1.0 / paths[me].cwnd
    }

    fn coupled(&self) -> bool {
        false
    }
}

impl Kind for Reno {
    const DESCRIBED: Described = Described {
        names: &["reno", "uncoupled"],
        aliases: &["tcp", "newreno"],
        summary: "TCP's own congestion control on each path independently.",
        formula: "growth 1/w_r, backoff w_r/2",
        source: "RFC 5681 §3.1",
        ported: true,
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Reno);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift;

    #[test]
    fn drift_vanishes_at_the_square_root_law() {
        let w = libm::sqrt(2.0 / 0.01); // Mathis et al. 1997, in its ODE form
        let path = PathView { cwnd: w, srtt: 0.1, usable: true, ..Default::default() };
        assert!(drift(&Reno, 0, &[path], 0.01).abs() < 1e-12);
    }
}
