//! Online random linear network coding of one path, without I/O, clock or randomness.
//!
//! A coded path sends [`Combination`]s of the segments in a sliding window instead of segments;
//! [`Redundancy`] gives their number. The [`Decoder`] acknowledges degrees of freedom: segment `k`
//! is *seen* when the arrived packets determine `p_k` plus a combination of unseen segments above
//! `k`. Every innovative packet makes exactly one more segment seen, so that a loss is one missing
//! degree of freedom, which any later combination repairs, and no segment has to be sent again
//! unchanged.
//!
//! Sources: Sundararajan, Shah, Médard, Jakubczak, Mitzenmacher and Barros, "Network coding meets
//! TCP: Theory and implementation", Proc. IEEE 99(3), 2011 (*seen*, `NUM`, `R`, `W`); Xue et al.,
//! "Migrating unfairness among subflows in MPTCP with network coding", IEEE TVT, 2017 (rank, loss
//! flag, redundant cycle); RFC 8681 (coefficients from a repair key).
//!
//! Deviations: coefficients are never 0, and do not travel: 24 bits of key stand for them. The
//! papers send them, with the ends of every segment. Acknowledgements name a segment's number
//! instead of a byte.
//!
//! ```
//! use coding::{Combination, Decoder};
//!
//! let segments = [[1u8, 2], [3, 4], [5, 6]];
//! let packet = |count, key| {
//!     let what = Combination { base: 0, count, key };
//!     (what, what.combine(segments.iter()))
//! };
//! let (mut decoder, mut decoded) = (Decoder::new(64), vec![]);
//! // The first packet, of segment 0 alone, is lost.
//! for ((what, symbol), seen) in [packet(2, 1), packet(3, 2), packet(3, 3)].into_iter().zip(1..) {
//!     decoder.on_packet(what, symbol, |number, segment| decoded.push((number, segment)));
//!     assert_eq!(decoder.first_unseen(), seen);
//! }
//! assert_eq!(decoded, [(0, [1, 2]), (1, [3, 4]), (2, [5, 6])]);
//! ```
//!
//! A packet is either whole or absent: nothing here detects a changed byte, and one in a
//! combination spoils every segment that is decoded with it. A carrier over a real network must
//! verify packets first.
#![no_std]

extern crate alloc;

mod combination;
mod decoder;
mod estimate;
pub mod field;
mod header;
mod redundancy;
mod symbol;

pub use combination::{Combination, MAX_WINDOW};
pub use decoder::Decoder;
pub use estimate::LossEstimate;
pub use header::{Acknowledgement, Header};
pub use redundancy::Redundancy;
pub use symbol::Symbol;
