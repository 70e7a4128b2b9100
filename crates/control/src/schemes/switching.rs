//! The choice of the base path by TCP's response function: the base flow belongs on the path with
//! the highest rate.
//!
//! Source: Tse 2006, §4.3.1, §4.4 and §5.2, which proposes it without a rule. Here loss is the
//! inverse mean length of the intervals between congestion events, the open one included (RFC 5348
//! §5.4 without its synthetic first one), and another path must be a quarter better for ten of its
//! round trips.

use crate::{Acked, Cause};
use alloc::boxed::Box;

/// Factor by which another path must be better.
const BETTER: f64 = 1.25;
/// Round trips of that path for which it must be better.
const FOR: f64 = 10.0;
/// Loss intervals that are remembered, and the weight of each, newest first (RFC 5348 §5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

#[derive(Clone, Copy, Debug, Default)]
struct Path {
    /// Segments since the last congestion event, and between the events before it, newest first.
    open: f64,
    closed: [f64; WEIGHTS.len()],
    srtt: f64,
    /// Since when it has been better than the base.
    better_since: Option<f64>,
}

/// Measurements of all paths.
#[derive(Clone, Debug)]
pub(super) struct Switching(Box<[Path]>);

impl Path {
    /// Mean loss interval, in segments; the open one can only make it longer.
    fn interval(&self) -> f64 {
        let known = self.closed.iter().take_while(|length| **length > 0.0);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (length, weight) in known.zip(WEIGHTS) {
            (sum, weights) = (sum + length * weight, weights + weight);
        }
        let closed = if weights > 0.0 { sum / weights } else { 0.0 };
        let newest = self.closed.iter().take(WEIGHTS.len() - 1).zip(&WEIGHTS[1..]);
        let (mut sum, mut weights) = (self.open, WEIGHTS[0]);
        for (length, weight) in newest.filter(|(length, _)| **length > 0.0) {
            (sum, weights) = (sum + length * weight, weights + weight);
        }
        (sum / weights).max(closed).max(1.0)
    }

    /// Rate of a TCP on this path in segments per second; `None` on a path that does not answer
    /// (Padhye et al. 1998, with `t_RTO = 4 R` and `b = 1`).
    fn rate(&self) -> f64 {
        if self.srtt == 0.0 {
            return 0.0;
        }
        let (p, r) = (1.0 / self.interval(), self.srtt);
        let halving = r * libm::sqrt(2.0 * p / 3.0);
        let timeouts = 4.0 * r * 3.0 * libm::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p);
        1.0 / (halving + timeouts)
    }
}

impl Switching {
    pub(super) fn new(paths: usize) -> Self {
        Switching(alloc::vec![Path::default(); paths].into())
    }

    pub(super) fn forget(&mut self, path: usize) {
        self.0[path] = Path::default();
    }

    pub(super) fn on_ack(&mut self, path: usize, ack: &Acked) {
        self.0[path].open += ack.segments;
        self.0[path].srtt = ack.srtt.seconds();
    }

    pub(super) fn on_congestion(&mut self, path: usize, cause: Cause) {
        let path = &mut self.0[path];
        if cause == Cause::TimeoutAgain {
            path.srtt = 0.0; // the path may be dead: no rate until an ACK arrives
        } else {
            path.closed.rotate_right(1);
            path.closed[0] = path.open.max(1.0);
            path.open = 0.0;
        }
    }

    /// The measured path with the highest rate among those that `may` accepts.
    pub(super) fn best(&self, may: impl Fn(usize) -> bool) -> Option<usize> {
        let known = (0..self.0.len()).filter(|&me| self.0[me].srtt > 0.0 && may(me));
        known.max_by(|&a, &b| self.0[a].rate().total_cmp(&self.0[b].rate()))
    }

    /// Round trip of `path` in seconds; zero while it does not answer.
    pub(super) fn srtt(&self, path: usize) -> f64 {
        self.0[path].srtt
    }

    /// Round trip of the slowest path, in seconds.
    pub(super) fn slowest(&self) -> f64 {
        self.0.iter().map(|path| path.srtt).fold(0.0, f64::max)
    }

    /// The path that becomes the base, if it has been better than `base` for long enough.
    pub(super) fn better(&mut self, base: usize, now: f64) -> Option<usize> {
        let level = BETTER * self.0[base].rate();
        let mut best: Option<(usize, f64)> = None;
        for (me, path) in self.0.iter_mut().enumerate() {
            let better = me != base && path.srtt > 0.0 && path.rate() > level;
            path.better_since = better.then(|| path.better_since.unwrap_or(now));
            let waited = path.better_since.is_some_and(|since| now - since > FOR * path.srtt);
            if waited && best.is_none_or(|(_, rate)| path.rate() > rate) {
                best = Some((me, path.rate()));
            }
        }
        let (to, _) = best?;
        self.0.iter_mut().for_each(|path| path.better_since = None);
        Some(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    fn acked(segments: f64, srtt: f64) -> Acked {
        Acked { segments, srtt: Span::from_seconds(srtt), ..Acked::default() }
    }

    #[test]
    fn the_mean_interval_is_that_of_rfc_5348() {
        let mut path = Path { closed: [100.0; 8], open: 5.0, ..Path::default() };
        assert_eq!(path.interval(), 100.0);
        path.open = 1000.0;
        assert_eq!(path.interval(), 250.0);
        path = Path::default();
        path.closed = [10.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0];
        assert!((path.interval() - 85.0).abs() < 1e-9);
    }

    #[test]
    fn a_path_must_be_a_quarter_better_for_ten_round_trips() {
        let mut switching = Switching::new(2);
        for path in 0..2 {
            for _ in 0..9 {
                switching.on_ack(path, &acked(if path == 0 { 100.0 } else { 170.0 }, 0.1));
                switching.on_congestion(path, Cause::FastRetransmit);
            }
            switching.on_ack(path, &acked(1.0, 0.1));
        }
        assert_eq!(switching.better(0, 5.0), None);
        assert_eq!(switching.better(0, 5.9), None);
        assert_eq!(switching.better(0, 6.1), Some(1));
        assert_eq!(switching.better(1, 60.0), None);
    }

    #[test]
    fn a_path_that_is_hardly_better_never_takes_over() {
        let mut switching = Switching::new(2);
        for (path, interval) in [(0, 100.0), (1, 140.0)] {
            (0..9).for_each(|_| {
                switching.on_ack(path, &acked(interval, 0.1));
                switching.on_congestion(path, Cause::FastRetransmit);
            });
        }
        for second in 0..100 {
            assert_eq!(switching.better(0, f64::from(second)), None);
        }
    }
}
