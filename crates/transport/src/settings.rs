//! What a sender and its paths are told.

use crate::rtt::RtoSettings;
use crate::scheduler::Scheduler;
use crate::source::Source;
use crate::tcp::TrackingSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// What all connections of a class have in common.
#[derive(Clone, Debug)]
pub struct SenderSettings {
    /// Payload bytes of a full segment.
    pub segment: u32,
    /// Selective acknowledgements (RFC 6675); otherwise NewReno (RFC 6582).
    pub sack: bool,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// What paths track of each segment beyond the scoreboard.
    pub tracking: TrackingSettings,
    /// Proportional rate reduction in recovery; without it the window alone decides, as BBR wants
    /// it.
    pub prr: bool,
    /// What an idle time does to the window.
    pub idle: Idle,
    /// Window at the start, in segments: the largest after an idle time.
    pub initial_window: f64,
    /// Bounds of the retransmission timeout.
    pub rto: RtoSettings,
    /// The receive buffer that the peer announces at first, in bytes.
    pub receive_buffer: u64,
    /// Whether connection and joins begin with a handshake; otherwise they are there at once.
    pub handshake: bool,
    /// Which path carries the next data.
    pub scheduler: Scheduler,
    /// When the receive window is full, the data that the receiver waits for is sent on another
    /// path too.
    pub opportunistic: bool,
    /// Then also the window of the path that holds it is halved.
    pub penalise: bool,
    /// Bytes of one path that the host may hold unsent.
    pub host_limit: u64,
    /// Also no more than the path sends in this time, two segments at least.
    pub host_time: Option<Span>,
    /// Where the data comes from.
    pub source: Source,
}

/// What an idle time does to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Idle {
    /// Nothing.
    Keep,
    /// It falls to the initial window (RFC 5681 §4.1).
    Restart,
    /// It is halved for each timeout of idling, down to the initial window (RFC 2861, Linux).
    Decay,
}
