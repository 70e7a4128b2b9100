//! Network elements: links with their queues, random loss, reordering and copies; and shared media.
//!
//! An element sees a packet's length, path and ECN bits, never its content. Time and randomness are
//! passed in. So the simulator gives it segments and the emulator gives it real packets.

pub mod adhoc;
pub mod dot11;
mod host;
mod link;
mod loss;
mod media;
mod mobility;
mod pages;
mod prefetch;
pub mod queue;
mod radio;
mod ring;
pub mod routing;
mod shared;
#[cfg(test)]
mod testing;

pub use link::{
    Change, Conveyed, Counters, Link, LinkSettings, Offer, Opportunities, Passage, Passing, Reorder,
};
pub use loss::{GilbertElliott, Loss, LossPlace};
pub use media::bus::Bus;
pub use media::cell::{Cell, CellUser, Direction, Fading, Scheduler};
pub use media::wifi::{RateControl, Standard};
pub use media::*;
pub use mobility::{Highway, Leg, Position, RandomWaypoint, Trajectory, uniform_position};
pub use pages::reserve_in_huge_pages;
pub use prefetch::{prefetch, prefetch_at, prefetch_whole};
pub use queue::{Backlog, DropTail, Queue};
pub use radio::Radio;
pub use shared::{
    Common, Counters as StationCounters, Ends, HopCounters, Kind, MultiHop, Outcome, Route,
    RoutingCounters, SharedMedium, Station,
};

/// An element's view of the packet that it carries: a few plain bytes that are moved by value.
pub trait Packet: Copy + Default + Send + 'static {
    /// Length in bytes with all headers.
    fn bytes(&self) -> u32;

    /// Number of its path, the same in both directions. It stands for the 5-tuple that FQ-CoDel
    /// hashes.
    fn path(&self) -> u32;

    /// Whether a queue may mark it instead of dropping it (ECT, RFC 3168 §5).
    fn ecn_capable(&self) -> bool;

    /// Sets the ECN mark (CE).
    fn mark(&mut self);

    /// Whether it is of lower effort and yields to all other packets (RFC 8622).
    fn lower_effort(&self) -> bool;
}

/// Source of an element's random numbers; one named stream for each element.
pub trait Rng {
    /// Uniform in `[0, 1)`.
    fn uniform(&mut self) -> f64;
}

impl<R: Rng + ?Sized> Rng for &mut R {
    #[inline]
    fn uniform(&mut self) -> f64 {
        (**self).uniform()
    }
}
