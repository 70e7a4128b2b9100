//! What elements that several stations share have in common: a medium of 802.11, a bus, a cell.
//!
//! Each has *lanes*, from one station to another: `offer` a packet to a lane, `wake` the element when it wants it
//! (`next_wake`), and take the [`Outcome`]s. It has one event pending, the next instant at which something happens.

use units::Span;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome<F> {
    /// The receiver of a lane has it; of a broadcast, this station.
    Arrived {
        /// Number of the lane.
        lane: u32,
        /// The station that has it.
        at: u32,
        /// The packet.
        frame: F,
    },
    /// The sender is done with it: there is room in its queue.
    Left {
        /// Number of the lane.
        lane: u32,
        /// The packet.
        frame: F,
        /// Whether it was given up and has not been received.
        lost: bool,
    },
}

/// What the interface of a station counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that came to the queue.
    pub offered: u64,
    /// Packets for which it had no room.
    pub queue_drops: u64,
    /// Transmissions.
    pub attempts: u64,
    /// Transmissions that were not acknowledged.
    pub unanswered: u64,
    /// Packets given up after the last attempt.
    pub failures: u64,
    /// Packets that were acknowledged, or broadcast.
    pub acknowledged: u64,
    /// Time spent sending data.
    pub airtime: Span,
}
