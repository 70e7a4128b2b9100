//! What a sender and its paths are told.

use crate::rtt::RtoSettings;
use crate::scheduler::Scheduler;
use crate::source::Source;

/// What all connections of a class have in common.
#[derive(Clone, Debug)]
pub struct SenderSettings {
    /// Payload bytes of a full segment.
    pub segment: u32,
    /// Selective acknowledgements (RFC 6675); otherwise NewReno (RFC 6582).
    pub sack: bool,
    /// New data on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Bounds of the retransmission timeout.
    pub rto: RtoSettings,
    /// The receive buffer that the peer announced, in bytes.
    pub receive_buffer: u64,
    /// Which path carries the next data.
    pub scheduler: Scheduler,
    /// Bytes of one path that the host may hold unsent.
    pub host_limit: u64,
    /// Where the data comes from.
    pub source: Source,
}
