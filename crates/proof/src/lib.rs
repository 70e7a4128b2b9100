//! Bounded proofs about laws: over ranges of losses and round trips, no fixed point of a law takes
//! more than a part of what TCP would, or a fixed point that does is given.
//!
//! A fixed point is theory's: windows at which the drift `growth − p (w − backoff)` of every path
//! is zero, or not above zero where the window is at its floor. Where the law jumps, zero lies
//! among the mean values of the drift's values nearby.
//!
//! A [`Question`] becomes [`case::Case`]s: which paths are at the floor. Each is a tape whose steps
//! are the drifts and the claim, with ranges that hold wherever the claim does not. The search
//! bisects boxes of windows, round trips and losses, and leaves out those in which a range cannot
//! be kept: by enclosures in both directions of the tape (`contract`), by Krawczyk's operator
//! (`newton`), by the claim without its part in the drifts and, where the law jumps, by a direction
//! in which all of its branches drift (`branches`). A box that cannot be left out is asked for a
//! fixed point (`witness`), which counts only if the law's own program rests there, too.

mod branches;
mod case;
mod contract;
mod gradient;
mod linear;
mod newton;
mod question;
mod scale;
mod search;
#[cfg(test)]
mod verdicts;
mod witness;

pub use question::{Answer, Claim, FixedPoint, MOST_PATHS, Open, Question, Verdict};
pub use search::prove;
