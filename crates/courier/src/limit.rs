//! A limit on the rate at which a connection sends payload.

use units::{NANOS, Rate, Span, Time};

/// Time that an idle connection may catch up on.
const BURST: Span = Span::millis(10);

/// Time for which a connection that has to wait earns before it sends again: a call sends many
/// datagrams for hardly more than the cost of one. Below [`BURST`], or it would cost rate.
const QUANTUM: Span = Span::millis(2);

/// Spaces datagrams so that their bytes stay below a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    rate: Rate,
    /// When all bytes so far have been earned.
    earned: Time,
    /// Datagrams had to wait when last asked.
    held: bool,
}

impl Limit {
    pub(crate) fn new(rate: Rate) -> Self {
        Limit { rate, earned: Time::ZERO, held: false }
    }

    /// When to ask again, if datagrams had to wait when last asked; otherwise never.
    pub(crate) fn next_deadline(&self) -> Time {
        if self.held { self.earned + QUANTUM } else { Time::NEVER }
    }

    /// Whether datagrams have to wait now.
    pub(crate) fn holds(&mut self, now: Time) -> bool {
        let from = if self.held { self.earned + QUANTUM } else { self.earned };
        self.held = now < from;
        self.held
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
            if !limit.holds(now) {
                limit.on_sent(now, 1000);
                sent += 1000;
            }
            now = now + Span(100_000);
        }
        assert!((1_000_000..=1_012_000).contains(&sent), "{sent}");
    }

    #[test]
    fn a_connection_that_has_to_wait_sends_many_datagrams_at_a_time_at_the_same_rate() {
        let mut limit = Limit::new(Rate(80_000_000)); // 10 B each µs
        let (mut now, mut sent, mut wakes) = (Time(3 * NANOS), 0, 0);
        while now < Time(4 * NANOS) {
            wakes += 1;
            while !limit.holds(now) {
                limit.on_sent(now, 1000);
                sent += 1000;
            }
            assert!(limit.next_deadline() > now);
            now = limit.next_deadline();
        }
        assert!((9_980_000..=10_130_000).contains(&sent), "{sent}");
        assert!(wakes <= 501, "{wakes}");
    }
}
