//! The loss estimate of a path, from the intervals between losses.
//!
//! Source: RFC 5348 §5.4, the average loss interval of TFRC: the last eight intervals with its
//! weights, and with the open one if that makes the average longer. There an interval ends with a
//! loss event, a round trip with losses. Here it ends with a lost packet, because redundancy has to
//! repair each one.

/// Number of averaged intervals.
const INTERVALS: usize = 8;
/// Their weights, the newest first (RFC 5348 §5.4).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Intervals between losses, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossEstimate {
    /// Closed intervals, newest first; zero for missing ones.
    closed: [u32; INTERVALS],
    /// Packets since the last loss.
    open: u32,
    /// A packet was lost before: the packets before the first loss are not an interval.
    begun: bool,
}

impl LossEstimate {
    /// `packets` packets were sent and `lost` of them were lost, evenly spread.
    pub fn on_packets(&mut self, packets: u32, lost: u32) {
        let lost = lost.min(packets);
        for left in (0..lost).rev() {
            let share = (packets - lost) / lost + u32::from(left < (packets - lost) % lost);
            self.on_loss(share);
        }
        if lost == 0 {
            self.open = self.open.saturating_add(packets);
        }
    }

    /// A loss after `arrived` more packets.
    fn on_loss(&mut self, arrived: u32) {
        if self.begun {
            self.closed.rotate_right(1);
            self.closed[0] = self.open.saturating_add(arrived).saturating_add(1);
        }
        (self.open, self.begun) = (0, true);
    }

    /// The probability that a packet is lost; `None` before an interval is closed.
    pub fn loss(&self) -> Option<f64> {
        let average = |newest: Option<u32>| {
            let intervals = newest.into_iter().chain(self.closed).filter(|packets| *packets > 0);
            let (sum, weights) = intervals
                .zip(WEIGHTS)
                .fold((0.0, 0.0), |(sum, all), (x, w)| (sum + w * f64::from(x), all + w));
            (weights > 0.0).then(|| sum / weights)
        };
        let closed = average(None)?;
        let open = average(Some(self.open).filter(|open| *open > 0)).unwrap_or(closed);
        Some(1.0 / closed.max(open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(every: u32, times: u32) -> LossEstimate {
        let mut estimate = LossEstimate::default();
        (0..times).for_each(|_| estimate.on_packets(every, 1));
        estimate
    }

    #[test]
    fn nothing_is_known_before_the_second_loss() {
        assert_eq!(after(1000, 1).loss(), None);
        assert_eq!(after(20, 2).loss(), Some(0.05));
    }

    #[test]
    fn it_follows_eight_losses_and_a_long_time_without_any() {
        let mut estimate = after(100, 20);
        assert_eq!(estimate.loss(), Some(0.01));
        (0..8).for_each(|_| estimate.on_packets(10, 1));
        assert_eq!(estimate.loss(), Some(0.1));
        estimate.on_packets(9, 0); // not longer than the others: not counted
        assert_eq!(estimate.loss(), Some(0.1));
        estimate.on_packets(591, 0);
        assert!((estimate.loss().unwrap() - 6.0 / (5.0 * 10.0 + 600.0)).abs() < 0.002);
    }

    #[test]
    fn losses_together_are_intervals_of_their_own() {
        let mut estimate = after(10, 8);
        estimate.on_packets(12, 4); // 2 arrived before each
        assert_eq!(estimate.closed[..5], [3, 3, 3, 3, 10]);
    }

    proptest! {
        #[test]
        fn it_is_a_probability_and_no_packet_is_forgotten(
            reports in prop::collection::vec((0_u32..500, 0_u32..20), 0..60),
        ) {
            let mut estimate = LossEstimate::default();
            for (packets, lost) in reports {
                estimate.on_packets(packets, lost);
                prop_assert!(estimate.loss().is_none_or(|p| 0.0 < p && p <= 1.0));
            }
        }
    }
}
