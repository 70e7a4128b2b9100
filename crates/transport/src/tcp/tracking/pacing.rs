//! Pacing: the interval between segments of a path.

use units::{NANOS, Span, Time};

/// The pace of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacing {
    /// Time of a byte in ns; zero without pacing.
    pace: f64,
    /// When the next segment may be sent.
    pub(crate) next_send: Time,
}

impl Pacing {
    /// Sets the rate in bytes per second; without a rate, or at zero, no segment is held back.
    pub(crate) fn set_rate(&mut self, rate: Option<f64>) {
        self.pace = rate.filter(|rate| *rate > 0.0).map_or(0.0, |rate| NANOS as f64 / rate);
    }

    /// A segment of `bytes` was sent.
    pub(crate) fn on_sent(&mut self, now: Time, bytes: u64) {
        if self.pace > 0.0 {
            self.next_send = self.next_send.max(now) + Span((bytes as f64 * self.pace) as u64);
        }
    }

    /// After a timeout, retransmissions are not held back.
    pub(crate) fn release(&mut self, now: Time) {
        self.next_send = self.next_send.min(now);
    }
}
