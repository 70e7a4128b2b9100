//! A packet that is sent again until it is answered, with a timeout that doubles.

use units::{Span, Time};

/// The repetition of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    /// When it is sent again; never if it waits for nothing.
    pub(crate) at: Time,
    wait: Span,
    /// How often it was sent.
    pub(crate) count: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Retry::OFF
    }
}

impl Retry {
    /// Nothing is repeated.
    pub(crate) const OFF: Retry = Retry { at: Time::NEVER, wait: Span::ZERO, count: 0 };

    /// A packet that was sent at `now`, and again after `wait`.
    pub(crate) fn begin(now: Time, wait: Span) -> Self {
        Retry { at: now + wait, wait, count: 1 }
    }

    /// Whether it is due; then it counts as sent at `now`.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        let due = self.at <= now;
        if due {
            self.wait = Span(self.wait.0.saturating_mul(2)).min(Span::millis(120_000));
            self.at = now + self.wait;
            self.count += 1;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_each_time() {
        let mut retry = Retry::begin(Time::ZERO, Span::millis(100));
        let mut at = Vec::new();
        for ms in 0..1000 {
            if retry.is_due(Time::ZERO + Span::millis(ms)) {
                at.push(ms);
            }
        }
        assert_eq!((at, retry.count), (vec![100, 300, 700], 4));
        assert_eq!(Retry::OFF.at, Time::NEVER);
    }
}
