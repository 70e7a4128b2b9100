//! The combination of a coded packet: its segments, and their coefficients.

use crate::Symbol;

/// Most segments of a combination.
pub const MAX_WINDOW: usize = 255;

/// The used bits of a key.
const KEY: u32 = 0xFF_FFFF;

/// A coded packet: `count` segments from number `base` on, with coefficients from `key`.
///
/// Numbers do not wrap: the last segment of a path is `u32::MAX - 1`, after 6 TB in segments of
/// 1448 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Combination {
    /// The first segment.
    pub base: u32,
    /// Number of consecutive segments.
    pub count: u8,
    /// The seed of the coefficients; the upper 8 bits are not used. Two packets of one window need
    /// two keys.
    pub key: u32,
}

impl Combination {
    /// One word: base in the upper 32 bits, then 24 bits of key and 8 of count.
    pub fn pack(self) -> u64 {
        u64::from(self.base) << 32 | u64::from(self.key & KEY) << 8 | u64::from(self.count)
    }

    /// The combination in a word; every word is valid.
    pub fn unpack(word: u64) -> Self {
        let (base, key) = ((word >> 32) as u32, (word >> 8) as u32 & KEY);
        Self { base, count: word as u8, key }
    }

    /// One past the last segment; `None` without segments, or if the numbers overflow.
    pub fn end(self) -> Option<u32> {
        self.base.checked_add(u32::from(self.count)).filter(|end| *end > self.base)
    }

    /// One coefficient for each segment, uniform on 1 to 255: a function of key and position alone,
    /// as RFC 8681 §3.6 draws them from its repair key.
    ///
    /// Coefficients are never 0, so the first packet with a segment is always innovative.
    pub fn coefficients(self) -> impl Iterator<Item = u8> {
        let key = u64::from(self.key & KEY) << 8;
        (0..self.count).map(move |position| {
            let word = mix(key | u64::from(position)) >> 32;
            ((word * 255) >> 32) as u8 + 1 // word < 2³²: 0 to 254, equally likely up to 2⁻²⁴
        })
    }

    /// The combination of `symbols`, the segments from `base` on; missing segments count as zero.
    pub fn combine<'a, S: Symbol + 'a>(self, symbols: impl Iterator<Item = &'a S>) -> S {
        let mut combined = S::zero();
        combined.add_combination(self.coefficients().zip(symbols));
        combined
    }
}

/// A bijection of words in which every bit of the input affects every bit of the output: the
/// finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) after a step of its sequence.
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec::Vec};
    use proptest::prelude::*;

    fn coefficients(key: u32, count: u8) -> Vec<u8> {
        Combination { base: 0, count, key }.coefficients().collect()
    }

    #[test]
    fn coefficients_are_never_zero_and_uniform() {
        let mut times = [0u32; 256];
        let drawn = (0..4000).flat_map(|key| coefficients(key, 255));
        drawn.for_each(|c| times[usize::from(c)] += 1);
        assert_eq!(times[0], 0);
        // 4000 expected of each, standard deviation 63.
        assert!(times[1..].iter().all(|n| (3700..4300).contains(n)), "{times:?}");
    }

    #[test]
    fn different_keys_give_different_vectors() {
        let vectors: BTreeSet<_> = (0..20_000).map(|key| coefficients(key * 800, 8)).collect();
        assert_eq!(vectors.len(), 20_000);
    }

    #[test]
    fn neighbouring_keys_and_positions_are_independent() {
        // Each of 65,025 pairs is equally likely: the chance of two equal coefficients is 1/255.
        let same = (0..20_000).filter(|key| {
            let (one, next) = (coefficients(*key, 2), coefficients(key + 1, 2));
            one[0] == one[1] || one[0] == next[0] || one[1] == next[0]
        });
        assert!((180..300).contains(&same.count())); // 235 expected
    }

    #[test]
    fn base_and_count_do_not_change_coefficients() {
        let long = coefficients(77, 30);
        let other = Combination { base: 9, count: 12, key: 77 | 1 << 24 };
        assert!(other.coefficients().eq(long[..12].iter().copied()));
    }

    #[test]
    fn a_combination_is_the_sum_of_its_segments() {
        let what = Combination { base: 4, count: 3, key: 1 };
        let c: Vec<u8> = what.coefficients().collect();
        let symbols = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [9, 9, 9]];
        assert_eq!(what.combine(symbols.iter()), [c[0], c[1], c[2]]);
        assert_eq!(what.combine(symbols[..1].iter()), [c[0], 0, 0]);
    }

    #[test]
    fn numbers_end_before_they_would_wrap() {
        let end = |base, count| Combination { base, count, key: 0 }.end();
        assert_eq!((end(5, 0), end(5, 2)), (None, Some(7)));
        assert_eq!((end(u32::MAX - 1, 1), end(u32::MAX - 1, 2)), (Some(u32::MAX), None));
    }

    proptest! {
        #[test]
        fn a_word_holds_a_combination(base: u32, count: u8, key in 0..=KEY, word: u64) {
            let what = Combination { base, count, key };
            prop_assert_eq!(Combination::unpack(what.pack()), what);
            prop_assert_eq!(Combination::unpack(word).pack(), word);
        }
    }
}
