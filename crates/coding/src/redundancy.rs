//! Redundancy: the number of combinations sent for each segment (`NUM` of Sundararajan et al.
//! 2011).

/// Unit of `R`: millionths.
const PARTS: u64 = 1_000_000;
/// Largest redundancy that a path needs.
const MOST: f64 = 1000.0;

/// `R` times as many combinations as segments, as evenly as whole numbers allow.
///
/// `R` is kept in millionths, so that it does not drift and cycles have whole lengths: 1.25 gives
/// 1, 1, 1, 2 and repeats; 1.05 gives 2 for every 20th segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redundancy {
    /// Millionths of a combination for each segment.
    each: u64,
    /// The remainder in millionths, below one combination.
    credit: u64,
}

impl Redundancy {
    /// `r` between 1 and 1000; smaller values and NaN count as 1.
    pub fn new(r: f64) -> Self {
        Self { each: millionths(r), credit: 0 }
    }

    /// Sets a new `r`. The remainder, less than one combination, is kept.
    pub fn set(&mut self, r: f64) {
        self.each = millionths(r);
    }

    /// A segment is sent: returns the number of combinations for it, at least one.
    pub fn on_segment(&mut self) -> u32 {
        self.credit += self.each;
        let whole = self.credit / PARTS;
        self.credit %= PARTS;
        whole as u32 // at most 1000
    }

    /// The redundant cycle: the number of packets in which there is one more packet than segments
    /// (Xue et al. 2017, §IV-C: `r/(r − 1)`), rounded up. `None` if `r` adds nothing.
    ///
    /// It is computed from the same millionths, so that 1.05 gives 21; `1.05 / 0.05` would not.
    pub fn cycle(r: f64) -> Option<u32> {
        let each = millionths(r);
        (each > PARTS).then(|| each.div_ceil(each - PARTS).min(u64::from(u32::MAX)) as u32)
    }
}

fn millionths(r: f64) -> u64 {
    let r = if r >= 1.0 { r.min(MOST) } else { 1.0 }; // NaN counts as 1
    (r * PARTS as f64 + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn first(r: f64, segments: usize) -> Vec<u32> {
        let mut redundancy = Redundancy::new(r);
        (0..segments).map(|_| redundancy.on_segment()).collect()
    }

    #[test]
    fn the_fifth_packet_is_redundant_at_1_25() {
        assert_eq!(first(1.25, 8), [1, 1, 1, 2, 1, 1, 1, 2]);
        assert_eq!(Redundancy::cycle(1.25), Some(5));
    }

    #[test]
    fn the_twenty_first_packet_is_redundant_at_1_05() {
        let twice: Vec<_> = (1..=100).zip(first(1.05, 100)).filter(|(_, n)| *n == 2).collect();
        assert_eq!(twice, [(20, 2), (40, 2), (60, 2), (80, 2), (100, 2)]);
        assert_eq!(Redundancy::cycle(1.05), Some(21));
    }

    #[test]
    fn a_cycle_that_is_not_whole_is_rounded_up() {
        assert_eq!(Redundancy::cycle(1.15), Some(8), "23/3");
        assert_eq!(first(1.15, 20).iter().sum::<u32>(), 23);
    }

    #[test]
    fn without_redundancy_every_segment_gives_one_packet() {
        for r in [1.0, 0.5, 0.0, -3.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(first(r, 3), [1, 1, 1]);
            assert_eq!(Redundancy::cycle(r), None);
        }
        assert_eq!(first(f64::INFINITY, 2), [1000, 1000]);
    }

    proptest! {
        #[test]
        fn packets_stay_within_one_of_r_times_segments(thousandths in 1000u64..4000, segments in 1usize..3000) {
            let sent: u32 = first(thousandths as f64 / 1000.0, segments).iter().sum();
            prop_assert_eq!(u64::from(sent), thousandths * segments as u64 / 1000);
        }
    }
}
