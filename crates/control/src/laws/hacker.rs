//! Reduced aggression: one TCP, and flows beside it that grow N times as slowly.
//!
//! Source: Hacker, Noble and Athey, INFOCOM 2004, which scales the growth of parallel flows by a
//! long virtual round trip; as Tse 2006 uses it for paths (§2.1 and §4.2): the first path is a TCP,
//! each of the other N − 1 has a virtual round trip of N round trips. A reduced flow halves as TCP
//! does, so its weight is `1/√N` and not `1/N`: in one bottleneck the ensemble takes `1 + (N −
//! 1)/√N` TCPs. `schemes/hacker_switching.rs` moves the TCP.

use crate::kind::{Choice, Described, Kind};
use crate::{Law, PathView, usable};

/// `w += 1/(N w)`, `w/2`; on one path `w += 1/w`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hacker {
    /// This path is a TCP. While it is not usable, the first usable path is.
    On(usize),
    /// Every path is reduced: `√N` TCPs in total (§2.1).
    All,
}

impl Law for Hacker {
    type Note = ();

    fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
        let n = usable(paths).count() as f64;
        let tcp = match *self {
            Hacker::On(base) if paths[base].usable => me == base,
            Hacker::On(_) => usable(&paths[..me]).next().is_none(),
            Hacker::All => false,
        };
        let virtual_rtts = if tcp { 1.0 } else { n };
        1.0 / (virtual_rtts * paths[me].cwnd)
    }

    fn coupled(&self) -> bool {
        false
    }
}

impl Kind for Hacker {
    const DESCRIBED: Described = Described {
        names: &["hacker"],
        summary: "Reduced aggression: a TCP on the first path; the other paths grow N times more slowly.",
        formula: "growth 1/w_1 on the first path, 1/(N w_r) on the others, backoff w_r/2",
        source: "Hacker, Noble and Athey, INFOCOM 2004; Tse 2006, §2.1",
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Hacker::On(0));
    const CHOICES: &'static [Choice<Self>] = &[Choice::word(
        "all",
        Hacker::All,
        "every path grows N times more slowly, the first one too",
    )];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drift;

    fn paths<const N: usize>(cwnd: f64) -> [PathView; N] {
        [PathView { cwnd, srtt: 0.1, usable: true, ..Default::default() }; N]
    }

    #[test]
    fn a_reduced_flow_gains_one_nth_of_a_segment_in_a_round_trip() {
        let paths = paths::<4>(8.0);
        assert_eq!(Hacker::On(0).growth(0, &paths) * 8.0, 1.0);
        assert_eq!(Hacker::On(0).growth(3, &paths) * 8.0, 0.25);
        assert_eq!(Hacker::All.growth(0, &paths) * 8.0, 0.25);
    }

    #[test]
    fn one_loss_of_four_flows_leaves_seven_eighths() {
        let paths = paths::<4>(10.0);
        let left = Hacker::All.backoff(2, &paths) + 3.0 * 10.0;
        assert_eq!(left / 40.0, 0.875);
    }

    #[test]
    fn a_reduced_flow_has_the_weight_of_one_over_root_n() {
        let w = libm::sqrt(2.0 / 0.01); // a TCP at this loss
        assert!(drift(&Hacker::On(0), 0, &paths::<16>(w), 0.01).abs() < 1e-12);
        assert!(drift(&Hacker::On(0), 5, &paths::<16>(w / 4.0), 0.01).abs() < 1e-12);
    }

    #[test]
    fn when_the_first_path_is_gone_the_next_one_is_the_tcp() {
        let mut paths = paths::<3>(8.0);
        paths[0].usable = false;
        assert_eq!(Hacker::On(0).growth(1, &paths) * 8.0, 1.0);
        assert_eq!(Hacker::On(0).growth(2, &paths) * 8.0, 0.5);
        assert_eq!(Hacker::On(2).growth(2, &paths) * 8.0, 1.0);
    }
}
