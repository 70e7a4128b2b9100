//! What is combined.

use crate::field;
use alloc::vec::Vec;

/// The bytes of a segment, or as little of it as a simulation needs: a vector over GF(256).
pub trait Symbol: Clone {
    /// The neutral element of addition.
    fn zero() -> Self;
    /// Adds `c` times `other`.
    fn add_scaled(&mut self, c: u8, other: &Self);
    /// Multiplies by `c`.
    fn scale(&mut self, c: u8);
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
}

/// A shorter one counts as filled up with zeros, so what is decoded may have more of them at its end than
/// what was sent: a segment has to carry its length.
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
}
