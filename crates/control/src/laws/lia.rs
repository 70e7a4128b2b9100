//! LIA: linked increases, also called RTT Compensator; `coupled` of the old MPTCP kernel.
//!
//! Source: RFC 6356 §3, with its cap; `lia:uncapped` leaves the cap out ("Linked Increases").
//! Deviation: alpha is recomputed on every ACK instead of once a round trip; RFC 6356 §4.1 allows
//! it.

use crate::kind::{Choice, Described, Kind};
use crate::{Law, PathView, See, Terms, usable};

/// `w_r += min(α/w_tot, 1/w_r)` with `α = w_tot · max_s(w_s/rtt_s²) / (Σ x_s)²`, `w_r/2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lia {
    /// With the cap: never faster than TCP on any path.
    Capped,
    /// Without the cap.
    Uncapped,
}

/// `x_s` and `w_s/rtt_s²`.
fn terms<N>(path: &PathView<N>) -> Terms {
    [path.rate(), path.cwnd / (path.srtt * path.srtt)]
}

/// RFC 6356 §3 eq. (2), divided by `w_tot`: what one acknowledged segment adds.
fn linked_by(terms: impl Iterator<Item = Terms>) -> f64 {
    let (x, best) = terms.fold((0.0, 0.0), |(x, best), [rate, other]| {
        (x + rate, if best > other { best } else { other })
    });
    best / (x * x)
}

pub(super) fn linked<N>(paths: &[PathView<N>]) -> f64 {
    linked_by(usable(paths).map(terms))
}

impl Law for Lia {
    type Note = ();

    fn growth(&self, me: usize, paths: &[PathView]) -> f64 {
        self.growth_of(me, paths, usable(paths).map(terms))
    }

    const TERMS: bool = true;

    fn terms(&self, path: &PathView) -> Terms {
        terms(path)
    }

    #[inline(always)] // runs for every ACK
    fn growth_of(&self, me: usize, paths: &[PathView], terms: impl Iterator<Item = Terms>) -> f64 {
        match self {
            Lia::Capped => {
                let (linked, cap) = (linked_by(terms), 1.0 / paths[me].cwnd);
                if linked < cap { linked } else { cap } // neither is NaN, which `min` would check
            }
            Lia::Uncapped => linked_by(terms),
        }
    }

    fn observe(&self, _me: usize, paths: &[PathView], see: See<'_>) {
        let w_tot: f64 = usable(paths).map(|s| s.cwnd).sum();
        see("alpha", w_tot * linked(paths));
    }
}

impl Kind for Lia {
    const DESCRIBED: Described = Described {
        names: &["lia"],
        aliases: &["rtt-compensator", "coupled"],
        summary: "Linked increases: MPTCP's standard control.",
        formula: "growth min(max_s(w_s/rtt_s²)/(Σ x_s)², 1/w_r), backoff w_r/2",
        source: "RFC 6356 §3",
        ported: true,
        ..Described::DEFAULT
    };
    const PLAIN: Option<Self> = Some(Lia::Capped);
    const CHOICES: &'static [Choice<Self>] =
        &[Choice::word("uncapped", Lia::Uncapped, "without the cap 1/w_r")
            .aliased(&["linked-increases"])];
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn views(windows: &[f64], rtts: &[f64]) -> Vec<PathView> {
        windows
            .iter()
            .zip(rtts)
            .map(|(&cwnd, &srtt)| PathView { cwnd, srtt, usable: true, ..Default::default() })
            .collect()
    }

    proptest! {
        #[test]
        fn growth_from_kept_terms_is_the_same_number(
            paths in prop::collection::vec((1.0..1e4, 1e-4..10.0, any::<bool>()), 1..70),
        ) {
            let view = |&(cwnd, srtt, usable)| PathView { cwnd, srtt, usable, note: () };
            let views: Vec<PathView> = paths.iter().map(view).collect();
            for law in [Lia::Capped, Lia::Uncapped] {
                let terms = views.iter().map(|view| if view.usable { law.terms(view) } else { [0.0; 2] });
                let kept = law.growth_of(0, &views, terms);
                prop_assert_eq!(kept.to_bits(), law.growth(0, &views).to_bits());
            }
        }
    }

    #[test]
    fn growth_follows_the_golden_vectors() {
        // windows (segments), RTTs (s), alpha, growth on each path: computed by hand from eq. (2)
        type Vector<'a> = (&'a [f64], &'a [f64], f64, &'a [f64]);
        let vectors: [Vector<'_>; 6] = [
            (&[10.0], &[0.1], 1.0, &[0.1]),
            (&[10.0, 10.0], &[0.1, 0.1], 0.5, &[0.025, 0.025]),
            (&[10.0, 20.0], &[0.1, 0.1], 2.0 / 3.0, &[0.0222222222, 0.0222222222]),
            (&[10.0, 10.0], &[0.05, 0.2], 1.28, &[0.064, 0.064]),
            (&[2.0, 40.0], &[0.02, 0.2], 7.0 / 3.0, &[0.0555555556, 0.025]),
            (&[10.0, 20.0, 30.0], &[0.1; 3], 0.5, &[0.0083333333; 3]),
        ];
        for (windows, rtts, alpha, growth) in vectors {
            let paths = views(windows, rtts);
            let w_tot: f64 = windows.iter().sum();
            assert!((linked(&paths) * w_tot - alpha).abs() < 1e-9, "alpha of {windows:?}");
            for (me, expected) in growth.iter().enumerate() {
                let got = Lia::Capped.growth(me, &paths);
                assert!((got / expected - 1.0).abs() < 1e-6, "{windows:?} path {me}: {got}");
            }
        }
    }

    #[test]
    fn the_cap_binds_on_the_slow_path_of_very_unequal_round_trips() {
        let paths = views(&[1.0, 200.0], &[0.001, 0.2]);
        assert!((linked(&paths) * 201.0 - 50.25).abs() < 1e-9);
        assert_eq!(Lia::Capped.growth(1, &paths), 1.0 / 200.0);
    }
}
