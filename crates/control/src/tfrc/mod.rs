//! TCP-Friendly Rate Control, RFC 5348, without its packets: the allowed rate of a path from its
//! receiver reports.
//!
//! Rates are in segments per second (RFC 5348 has bytes per second; `s` is one segment here), times
//! in seconds. The receiver reports loss intervals, as DCCP's does (RFC 4342 §8.6), and the sender
//! makes the loss event rate `p` of them: the first interval depends on the rate that was allowed,
//! which in a fraction of a TCP is more than what arrived.

mod allowed;
mod equation;
mod intervals;

pub(crate) use allowed::Allowed;
pub use equation::response;
pub(crate) use equation::{loss_for, throughput};
pub use intervals::{INTERVALS, LossRate, loss_event_rate};

use crate::{SegmentRate, Span, Time};

/// A report of a path's receiver, with the sender's times.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// When the report arrived.
    pub now: Time,
    /// `R`: smoothed round-trip time.
    pub rtt: Span,
    /// `R_sample`: the round-trip sample of this report.
    pub sample: Span,
    /// `X_recv`: receive rate in the last round trip.
    pub received: SegmentRate,
    /// Loss events so far.
    pub events: u64,
    /// Loss intervals in segments, the open one first, then up to [`INTERVALS`]. If there were no
    /// more events than that, the last interval is the segments received before the first event.
    pub intervals: &'a [u64],
    /// Whether the application, instead of the rate, limited sending in the whole time of this
    /// report.
    pub limited: bool,
}

/// [`Feedback`] in the units of the formulas: times in seconds, rates in segments per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report<'a> {
    pub(crate) now: f64,
    pub(crate) rtt: f64,
    pub(crate) sample: f64,
    pub(crate) received: f64,
    pub(crate) events: u64,
    pub(crate) intervals: &'a [u64],
    pub(crate) limited: bool,
}

impl<'a> From<&Feedback<'a>> for Report<'a> {
    fn from(feedback: &Feedback<'a>) -> Self {
        let Feedback { now, rtt, sample, received, events, intervals, limited } = *feedback;
        let (now, rtt, sample) = (now.seconds(), rtt.seconds(), sample.seconds());
        Report { now, rtt, sample, received: received.0, events, intervals, limited }
    }
}
