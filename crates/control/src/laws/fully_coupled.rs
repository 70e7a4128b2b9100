//! COUPLED ("fully coupled"): the whole connection behaves as one TCP on its best path.
//!
//! Source: Kelly and Voice 2005; Han et al. 2006; window form of Wischik et al., NSDI 2011, §2.4.
//! Paths of equal loss are neutrally stable, so traffic wanders between them ("flappy").

use crate::kind::{Described, Kind};
use crate::{Law, PathView, usable};

/// `w_r += 1/w_tot`, `w_r − w_tot/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FullyCoupled;

fn w_tot(paths: &[PathView]) -> f64 {
    usable(paths).map(|path| path.cwnd).sum()
}

impl Law for FullyCoupled {
    type Note = ();

    fn growth(&self, _me: usize, paths: &[PathView]) -> f64 {
        1.0 / w_tot(paths)
    }

    /// May be negative: the shell applies the floor.
    fn backoff(&self, me: usize, paths: &[PathView]) -> f64 {
        paths[me].cwnd - w_tot(paths) / 2.0
    }
}

impl Kind for FullyCoupled {
    const DESCRIBED: Described = Described {
        names: &["fully-coupled"],
        aliases: &["coupled"],
        summary: "One TCP on the path of least loss; flaps between equal paths.",
        formula: "growth 1/w_tot, backoff w_r − w_tot/2",
        source: "Kelly and Voice 2005; Wischik et al., NSDI 2011, §2.4",
        ported: true,
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(FullyCoupled);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift;

    #[test]
    fn only_the_total_is_determined_between_paths_of_equal_loss() {
        let total = libm::sqrt(2.0 / 0.01);
        for share in [0.1, 0.5, 0.9] {
            let path = |w| PathView { cwnd: w, srtt: 0.1, usable: true, ..Default::default() };
            let paths = [path(share * total), path((1.0 - share) * total)];
            assert!(drift(&FullyCoupled, 0, &paths, 0.01).abs() < 1e-12);
        }
    }
}
