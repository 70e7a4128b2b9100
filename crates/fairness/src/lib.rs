//! Definitions of who is harmed, as functions of mean rates from any world. The rates of a call are
//! in any one unit.
//!
//! P1 and P2 are those of draft-khalili-mptcp-performance-issues-04, which has no numbers for "harm"
//! and "more than a fair share": the fractions are ours.

#![no_std]

/// Least fraction of their rate that the others lose in [`p1`].
pub const P1_HARM: f64 = 0.05;

/// Most that the upgraded users gain in [`p1`], as a fraction of their rate.
pub const P1_GAIN: f64 = 0.02;

/// Least distance from the fair rates in [`p2`], as a fraction of them.
pub const P2_MARGIN: f64 = 0.1;

/// A rate before users are upgraded to multipath, and after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Upgrade {
    /// Before it.
    pub before: f64,
    /// After it.
    pub after: f64,
}

/// Problem P1: upgrading some users harms others and does not help the upgraded (abstract and
/// Section 1). True when the others lost at least the fraction `harm` and the upgraded gained at
/// most `gain`.
pub fn p1(others: Upgrade, upgraded: Upgrade, harm: f64, gain: f64) -> bool {
    others.after <= (1.0 - harm) * others.before && upgraded.after <= (1.0 + gain) * upgraded.before
}

/// A rate, and the proportionally fair one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The rate.
    pub rate: f64,
    /// The fair rate.
    pub fair: f64,
}

/// Problem P2: multipath users take more than a proportionally fair share, TCP users get less
/// (Sections 1 and 6). True when both are off the fair rates by at least the fraction `margin`.
pub fn p2(multipath: Share, single_path: Share, margin: f64) -> bool {
    multipath.rate >= (1.0 + margin) * multipath.fair
        && single_path.rate <= (1.0 - margin) * single_path.fair
}

/// Harm to a flow beside others, for a metric of which more is better: the part of what it has
/// `alone` that it loses `beside` them. 0 is no harm, 1 is all of it, and less than 0 is a gain.
/// `alone` is above 0. The term is that of Ware and others, "Beyond Jain's Fairness Index", HotNets
/// 2019; as a fraction of `alone` it is ours.
pub fn harm(alone: f64, beside: f64) -> f64 {
    (alone - beside) / alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_upgrade_of_scenario_a_harms_and_helps_nobody_with_lia() {
        let (others, upgraded) =
            (Upgrade { before: 0.98, after: 0.7 }, Upgrade { before: 0.95, after: 0.96 });
        assert!(p1(others, upgraded, P1_HARM, P1_GAIN));
        assert!(!p1(Upgrade { after: 0.97, ..others }, upgraded, P1_HARM, P1_GAIN), "no harm");
        assert!(!p1(others, Upgrade { after: 1.2, ..upgraded }, P1_HARM, P1_GAIN), "it helps");
    }

    #[test]
    fn both_sides_are_off_the_fair_rates_in_p2() {
        let share = |rate| Share { rate, fair: 1.0 };
        assert!(p2(share(1.2), share(0.8), P2_MARGIN));
        assert!(!p2(share(1.05), share(0.8), P2_MARGIN));
        assert!(!p2(share(1.2), share(0.95), P2_MARGIN));
    }

    #[test]
    fn harm_is_the_part_that_is_lost() {
        assert_eq!([harm(10.0, 10.0), harm(10.0, 2.5), harm(10.0, 0.0)], [0.0, 0.75, 1.0]);
        assert!(harm(10.0, 12.0) < 0.0, "a gain");
    }

    proptest! {
        #[test]
        fn the_unit_does_not_matter(
            rates: [u16; 4], unit in prop::sample::select(&[1.0 / 1024.0, 2.0, 1024.0][..]),
        ) {
            let [a, b, c, d] = rates.map(f64::from);
            let one = |unit: f64| {
                let others = Upgrade { before: a * unit, after: b * unit };
                p1(others, Upgrade { before: c * unit, after: d * unit }, P1_HARM, P1_GAIN)
            };
            let two = |unit: f64| {
                let multipath = Share { rate: a * unit, fair: c * unit };
                p2(multipath, Share { rate: b * unit, fair: d * unit }, P2_MARGIN)
            };
            prop_assert_eq!((one(1.0), two(1.0)), (one(unit), two(unit)));
            prop_assert_eq!(harm(a + 1.0, b), harm((a + 1.0) * unit, b * unit));
        }
    }
}
