//! The smoothed round trip of a path as a sign that its bottleneck queue grows.

use crate::Acked;

/// The smoothed round trip of a path in seconds, with its extremes since the path joined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delay {
    /// Zero before the first sample.
    pub(crate) smoothed: f64,
    base: f64,
    max: f64,
    /// When the previous round trip began, and when this one did.
    rounds: [f64; 2],
    /// This round trip ends when all bytes below are acknowledged.
    turn: u64,
    /// When the last sample was taken, in seconds.
    at: f64,
}

impl Default for Delay {
    fn default() -> Self {
        let base = f64::INFINITY;
        Delay { smoothed: 0.0, base, max: 0.0, rounds: [f64::INFINITY; 2], turn: 0, at: 0.0 }
    }
}

impl Delay {
    pub(crate) fn sample(&mut self, ack: &Acked) {
        (self.smoothed, self.at) = (ack.srtt.seconds(), ack.now.seconds());
        if self.known() {
            self.base = self.base.min(ack.srtt.seconds());
            self.max = self.max.max(ack.srtt.seconds());
        }
        if ack.una >= self.turn {
            self.turn = ack.nxt;
            self.rounds = [self.rounds[1], ack.srtt.seconds()];
        }
    }

    pub(crate) fn known(&self) -> bool {
        self.smoothed > 0.0
    }

    /// Whether it exceeds `threshold` of the way between its extremes, and exceeds its value at the
    /// start of the previous round trip. Samples from before `since` do not count.
    pub(crate) fn increased(&self, threshold: f64, since: f64) -> bool {
        let above = self.smoothed > self.base + threshold * (self.max - self.base);
        above && self.smoothed > self.rounds[0] && self.at >= since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, Time};

    /// One sample per round trip.
    fn sampled(delays: &[f64]) -> Delay {
        let mut delay = Delay::default();
        for (srtt, round) in delays.iter().zip(0..) {
            let (una, nxt, now_ns) = (round, round + 1, round * 100_000_000);
            let srtt = Span::from_seconds(*srtt);
            delay.sample(&Acked { srtt, una, nxt, now: Time(now_ns), ..Acked::default() });
        }
        delay
    }

    #[test]
    fn a_delay_is_increased_beyond_the_middle_of_its_extremes_and_while_it_rises() {
        assert!(sampled(&[0.1, 0.2, 0.1, 0.12, 0.16]).increased(0.5, 0.0));
        assert!(!sampled(&[0.1, 0.2, 0.1, 0.12, 0.14]).increased(0.5, 0.0), "below");
        assert!(!sampled(&[0.1, 0.2, 0.19, 0.18, 0.17]).increased(0.5, 0.0), "it falls");
        assert!(!sampled(&[0.1; 5]).increased(0.5, 0.0), "it never changed");
        assert!(!Delay::default().increased(0.5, 0.0), "it is not known");
    }

    #[test]
    fn what_was_sampled_too_long_ago_says_nothing() {
        assert!(!sampled(&[0.1, 0.2, 0.1, 0.12, 0.16]).increased(0.5, 0.41));
    }
}
