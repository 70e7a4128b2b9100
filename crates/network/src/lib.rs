//! Network elements: links with their queues and random loss.
//!
//! An element sees a frame (its length), never what is inside, and is told the time and handed its
//! randomness. So the simulator gives it parcels and, later, the emulator gives it real packets.

mod link;
mod queue;
mod red;
mod ring;

pub use link::{Change, Counters, Delivery, Link, LinkSettings, Loss, LossPlace, Offer};
pub use queue::{Backlog, Queue, Verdict};
pub use red::{Red, RedSettings, Spacing};

/// What an element may know of what it carries: a few plain bytes that are moved by value.
pub trait Frame: Copy + Default {
    /// Length in bytes with all headers.
    fn bytes(&self) -> u32;
}

/// Where an element takes its random numbers from; one named stream for each element.
pub trait Chance {
    /// Uniform in `[0, 1)`.
    fn uniform(&mut self) -> f64;
}
