//! Pacing: how far apart the segments of a path are sent.

use units::{NANOS, Span, Time};

/// The pace of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacing {
    /// The time that a byte takes in ns; zero without pacing.
    pace: f64,
    /// When the next segment may go.
    pub(crate) next_send: Time,
}

impl Pacing {
    /// So many bytes per second from now on; without a rate, or at none, nothing is held back.
    pub(crate) fn set_rate(&mut self, rate: Option<f64>) {
        self.pace = rate.filter(|rate| *rate > 0.0).map_or(0.0, |rate| NANOS as f64 / rate);
    }

    /// A segment of `bytes` was sent.
    pub(crate) fn on_sent(&mut self, now: Time, bytes: u64) {
        if self.pace > 0.0 {
            self.next_send = self.next_send.max(now) + Span((bytes as f64 * self.pace) as u64);
        }
    }

    /// What has waited for a timeout is not delayed.
    pub(crate) fn release(&mut self, now: Time) {
        self.next_send = self.next_send.min(now);
    }
}
