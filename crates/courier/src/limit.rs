//! A limit on the rate at which a connection sends payload.

use units::{NANOS, Rate, Span, Time};

/// Time that an idle connection may catch up on.
const BURST: Span = Span::millis(10);

/// Spaces datagrams so that their bytes stay below a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    rate: Rate,
    /// When all bytes so far have been earned.
    earned: Time,
}

impl Limit {
    pub(crate) fn new(rate: Rate) -> Self {
        Limit { rate, earned: Time::ZERO }
    }

    /// When the next datagram may leave.
    pub(crate) fn free(&self) -> Time {
        self.earned
    }

    /// A datagram of `bytes` leaves.
    pub(crate) fn on_sent(&mut self, now: Time, bytes: usize) {
        let cost = bytes as u64 * 8 * NANOS / self.rate.0.max(1);
        let from = self.earned.max(Time(now.0.saturating_sub(BURST.0)));
        self.earned = from + Span(cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_a_second_no_more_than_the_rate_and_a_burst_leave() {
        let mut limit = Limit::new(Rate(8_000_000)); // 1 B each µs
        let (mut now, mut sent) = (Time(3 * NANOS), 0);
        while now < Time(4 * NANOS) {
            if limit.free() <= now {
                limit.on_sent(now, 1000);
                sent += 1000;
            }
            now = now + Span(100_000);
        }
        assert!((1_000_000..=1_012_000).contains(&sent), "{sent}");
    }
}
