//! The loss event rate: one over a weighted mean of the last loss intervals (RFC 5348 §5.4 and
//! §5.5; Tse 2006, eq. 3.2).

/// Closed intervals that count (`n`).
pub const INTERVALS: usize = 8;

/// `w_i`, the newest interval first: 1 up to n/2, then 1 − (i − n/2)/(n/2 + 1).
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Least factor by which an old interval is discounted (`THRESHOLD`, RFC 5348 §5.5).
const LEAST_DISCOUNT: f64 = 0.25;

/// The loss event rate of intervals in segments, the open one first; zero if none is closed.
///
/// The open interval counts only if that lowers the rate. `discounts` (`DF_i`) weigh the closed
/// intervals; if the open one counts, `general` (`DF`) weighs them too.
fn rate(intervals: &[f64], discounts: &[f64; INTERVALS], general: f64) -> f64 {
    let closed = (intervals.len().max(1) - 1).min(INTERVALS);
    if closed == 0 {
        return 0.0;
    }
    let [mut with, mut with_weight, mut without, mut without_weight] = [0.0; 4];
    for i in 0..closed {
        let weight = WEIGHTS[i] * discounts[i];
        without += intervals[i + 1] * weight;
        without_weight += weight;
        let weight = match i {
            0 => WEIGHTS[0],
            _ => WEIGHTS[i] * discounts[i - 1] * general,
        };
        with += intervals[i] * weight;
        with_weight += weight;
    }
    (with_weight / with.max(1e-9)).min(without_weight / without.max(1e-9)).min(1.0)
}

/// The loss event rate of intervals in segments, the open one first, without discounting.
pub fn loss_event_rate(intervals: &[f64]) -> f64 {
    rate(intervals, &[1.0; INTERVALS], 1.0)
}

/// The sender's state of a path from which it computes the loss event rate of reported intervals.
#[derive(Clone, Debug)]
pub struct LossRate {
    /// Whether old intervals count less while the open one is long (history discounting).
    discounting: bool,
    /// Loss events reported so far.
    events: u64,
    /// Assumed length of the first interval; it replaces the segments received in slow start.
    first: f64,
    /// `DF_i` of the closed intervals.
    discounts: [f64; INTERVALS],
    /// `DF` of the closed intervals, if the open one counts.
    general: f64,
}

impl LossRate {
    /// A state without losses.
    pub fn new(discounting: bool) -> Self {
        let discounts = [1.0; INTERVALS];
        LossRate { discounting, events: 0, first: 0.0, discounts, general: 1.0 }
    }

    /// Whether `events` events are the first report of a loss: its interval must then be set.
    pub fn is_first(&self, events: u64) -> bool {
        self.first == 0.0 && events > 0
    }

    /// Sets the length of the interval before the first loss.
    pub fn set_first(&mut self, segments: f64) {
        self.first = segments.max(1.0);
    }

    /// The loss event rate after `events` events with these intervals, the open one first.
    pub fn update(&mut self, events: u64, intervals: &[u64]) -> f64 {
        let mut lengths = [0.0; INTERVALS + 1];
        let count = intervals.len().min(INTERVALS + 1);
        for (length, interval) in lengths.iter_mut().zip(intervals) {
            *length = *interval as f64;
        }
        if count == 0 || events == 0 {
            return 0.0;
        }
        if events <= INTERVALS as u64 {
            lengths[count - 1] = self.first;
        }
        self.shift(events);
        if self.discounting {
            self.general = general_discount(&lengths[..count], &self.discounts);
        }
        rate(&lengths[..count], &self.discounts, self.general)
    }

    /// Intervals have closed: their discounts move on, and the general discount becomes permanent.
    fn shift(&mut self, events: u64) {
        let by = events.saturating_sub(self.events).min(INTERVALS as u64) as usize;
        self.events = self.events.max(events);
        for _ in 0..by {
            self.discounts.copy_within(..INTERVALS - 1, 1);
            self.discounts[0] = 1.0;
            self.discounts[1..].iter_mut().for_each(|discount| *discount *= self.general);
            self.general = 1.0;
        }
    }
}

/// `DF`: how much less the closed intervals count while the open one is longer than twice their
/// mean.
fn general_discount(intervals: &[f64], discounts: &[f64; INTERVALS]) -> f64 {
    let closed = intervals[1..].iter().zip(WEIGHTS).zip(discounts);
    let (sum, weight) = closed.fold((0.0, 0.0), |(sum, total), ((length, w), discount)| {
        (sum + length * w * discount, total + w * discount)
    });
    let mean = sum / weight;
    match intervals[0] > 2.0 * mean {
        true => (2.0 * mean / intervals[0]).max(LEAST_DISCOUNT),
        false => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn mean(open: f64, closed: &[f64]) -> f64 {
        let all: Vec<f64> = core::iter::once(open).chain(closed.iter().copied()).collect();
        1.0 / loss_event_rate(&all)
    }

    #[test]
    fn the_mean_interval_is_that_of_the_golden_vectors() {
        assert!((mean(5.0, &[100.0; 8]) - 100.0).abs() < 1e-9);
        assert!((mean(1000.0, &[100.0; 8]) - 250.0).abs() < 1e-9);
        let one_short = [10.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0];
        assert!((mean(0.0, &one_short) - 85.0).abs() < 1e-9);
    }

    #[test]
    fn weights_follow_their_formula() {
        let n = INTERVALS as f64;
        for (i, weight) in (1..).map(f64::from).zip(WEIGHTS) {
            let formula = if i <= n / 2.0 { 1.0 } else { 1.0 - (i - n / 2.0) / (n / 2.0 + 1.0) };
            assert!((weight - formula).abs() < 1e-12);
        }
    }

    #[test]
    fn without_a_loss_the_rate_is_zero_and_one_interval_is_enough_for_one() {
        assert_eq!(loss_event_rate(&[50.0]), 0.0);
        assert_eq!(loss_event_rate(&[]), 0.0);
        let mut loss = LossRate::new(false);
        assert!(loss.is_first(1));
        loss.set_first(400.0);
        assert!((loss.update(1, &[3, 77]) - 1.0 / 400.0).abs() < 1e-12);
        assert!(!loss.is_first(2));
    }

    #[test]
    fn a_long_open_interval_lowers_the_rate_faster_with_discounting() {
        let intervals = [2000, 100, 100, 100, 100, 100, 100, 100, 100];
        let plain = LossRate::new(false).update(20, &intervals);
        let mut discounting = LossRate::new(true);
        let discounted = discounting.update(20, &intervals);
        // RFC 5348 §5.5 with DF = 0.25: (2000 + 0.25 · 500) / (1 + 0.25 · 5)
        assert!((1.0 / discounted - 2125.0 / 2.25).abs() < 1e-9, "{}", 1.0 / discounted);
        assert!(discounted < plain);
        // When the interval closes, the older ones keep their discounts.
        let after = discounting.update(21, &[1, 2000, 100, 100, 100, 100, 100, 100, 100]);
        let older = 0.25 * (3.0 + 0.8 + 0.6 + 0.4 + 0.2);
        assert!((1.0 / after - (2000.0 + 100.0 * older) / (1.0 + older)).abs() < 1e-9);
    }
}
