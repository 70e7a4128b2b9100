//! TCP-Friendly Rate Control, RFC 5348, without its packets: what a path may send by what its receiver
//! reports.
//!
//! Rates are in segments per second (RFC 5348 has bytes per second; `s` is one segment here), times in
//! seconds. The receiver reports loss intervals, as DCCP's does (RFC 4342 §8.6), and the sender makes the
//! loss event rate `p` of them: the first interval depends on the rate that was allowed, which in a fraction of
//! a TCP is more than what arrived.

mod allowed;
mod equation;
mod intervals;

pub use allowed::Allowed;
pub use equation::{loss_for, response};
pub use intervals::{INTERVALS, LossRate, loss_event_rate};

/// What a receiver reports of a path, and what the sender knows of the time.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// Seconds since the beginning of time.
    pub now: f64,
    /// `R`: smoothed round-trip time in seconds.
    pub rtt: f64,
    /// `R_sample`: the round-trip sample of this report in seconds.
    pub sample: f64,
    /// `X_recv`: segments per second that arrived in the last round trip.
    pub received: f64,
    /// Loss events so far.
    pub events: u64,
    /// Loss intervals in segments, the open one first, then up to [`INTERVALS`]; if there were no more events
    /// than that, the last one is what arrived before the first event.
    pub intervals: &'a [u64],
    /// Whether the application, and not the rate, limited all of what this reports.
    pub limited: bool,
}
