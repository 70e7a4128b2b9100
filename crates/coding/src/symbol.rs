//! Symbols: the elements of combinations.

use crate::field::{self, GROUP};
use alloc::vec::Vec;

/// The bytes of a segment, or the part of it that a simulation needs: a vector over GF(256).
pub trait Symbol: Clone {
    /// The neutral element of addition.
    fn zero() -> Self;
    /// Adds `c` times `other`.
    fn add_scaled(&mut self, c: u8, other: &Self);
    /// Multiplies by `c`.
    fn scale(&mut self, c: u8);

    /// Adds a combination. An implementation may be faster than this one, which adds term by term;
    /// it must use every term exactly once.
    fn add_combination<'a>(&mut self, terms: impl Iterator<Item = (u8, &'a Self)>)
    where
        Self: 'a,
    {
        terms.for_each(|(c, other)| self.add_scaled(c, other));
    }
}

impl<const N: usize> Symbol for [u8; N] {
    fn zero() -> Self {
        [0; N]
    }

    fn add_scaled(&mut self, c: u8, other: &Self) {
        field::add_scaled(self, c, other);
    }

    fn scale(&mut self, c: u8) {
        field::scale(self, c);
    }

    fn add_combination<'a>(&mut self, terms: impl Iterator<Item = (u8, &'a Self)>) {
        match N <= field::SHORT {
            true => field::add_short_combination(self, terms),
            false => terms.for_each(|(c, other)| self.add_scaled(c, other)),
        }
    }
}

/// A shorter vector counts as padded with zeros, so a decoded one may have more zeros at its end
/// than the one sent: a segment must carry its length.
impl Symbol for Vec<u8> {
    fn zero() -> Self {
        Vec::new()
    }

    fn add_scaled(&mut self, c: u8, other: &Self) {
        if self.len() < other.len() {
            self.resize(other.len(), 0);
        }
        field::add_scaled(self, c, other);
    }

    fn scale(&mut self, c: u8) {
        field::scale(self, c);
    }
    fn add_combination<'a>(&mut self, mut terms: impl Iterator<Item = (u8, &'a Self)>) {
        let mut group: [(u8, &[u8]); GROUP] = [(0, &[]); GROUP];
        loop {
            let mut count = 0;
            for (place, (c, other)) in group.iter_mut().zip(&mut terms) {
                *place = (c, other);
                count += 1;
            }
            let group = &group[..count];
            let Some(longest) = group.iter().map(|(_, other)| other.len()).max() else {
                return;
            };
            if self.len() < longest {
                self.resize(longest, 0);
            }
            field::add_combination(self, group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_combined_as_term_by_term(
            terms in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..300)), 0..40),
            mut one in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut other = one.clone();
            terms.iter().for_each(|(c, term)| one.add_scaled(*c, term));
            other.add_combination(terms.iter().map(|(c, term)| (*c, term)));
            prop_assert_eq!(one, other);
        }
    }
}
