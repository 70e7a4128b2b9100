//! What BBR of Linux adds to the draft.
//!
//! Source: Linux v6.18, net/ipv4/tcp_bbr.c: `bbr_quantization_budget`, `bbr_tso_segs_goal`,
//! `bbr_update_ack_aggregation`, `bbr_ack_aggregation_cwnd` and `bbr_pacing_margin_percent`. Left
//! out are its search for policers (`bbr_lt_bw_sampling`) and its disregard of round trips of
//! delayed acknowledgements. A segment counts as 1500 bytes where the kernel counts bytes.

/// Rounds over which each of two maxima of [`Aggregation`] is taken (`bbr_extra_acked_win_rtts`).
const ROUNDS: u32 = 5;
/// Longest silence in seconds for which the window makes up (`bbr_extra_acked_max_us`).
const LONGEST: f64 = 0.1;
/// The part of the rate at which it paces (`bbr_pacing_margin_percent` is 1).
pub(super) const MARGIN: f64 = 0.99;
/// Segments per second below which the kernel sends single segments (`bbr_min_tso_rate`).
const SLOW: f64 = 1.2e6 / (8.0 * 1500.0);
/// Most segments that the kernel hands down at once: 64 KiB.
const MOST: f64 = 43.0;

/// What arrived beyond the rate, since ACKs come together (`extra_acked`).
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// When the epoch began, in seconds, and segments acknowledged since.
    since: f64,
    acked: f64,
    /// The most of these rounds and of the [`ROUNDS`] before.
    most: [f64; 2],
    rounds: u32,
}

impl Aggregation {
    /// An ACK of `segments` at `now` s, at a delivery rate of `rate` segments/s.
    pub(super) fn on_ack(
        &mut self,
        now: f64,
        segments: f64,
        rate: f64,
        cwnd: f64,
        new_round: bool,
    ) {
        if new_round {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                (self.rounds, self.most) = (0, [0.0, self.most[0]]);
            }
        }
        if self.acked <= rate * (now - self.since) {
            (self.since, self.acked) = (now, 0.0);
        }
        self.acked += segments;
        let extra = self.acked - rate * (now - self.since);
        self.most[0] = self.most[0].max(extra.min(cwnd));
    }

    /// Segments by which the window is larger at this rate.
    pub(super) fn window(&self, rate: f64) -> f64 {
        self.most[0].max(self.most[1]).min(rate * LONGEST)
    }
}

/// Window `w` in whole segments, with what segmentation offload and, if `probing`, the faster phase
/// need.
pub(super) fn quantized(w: f64, pacing_rate: f64, probing: bool) -> f64 {
    let least = if pacing_rate < SLOW { 1.0 } else { 2.0 };
    let offload = ((pacing_rate / 1024.0) as u32 as f64).clamp(least, MOST);
    let whole = (w + 3.0 * offload) as u64 + 1; // rounded up, unless it is whole
    (whole.div_ceil(2) * 2) as f64 + if probing { 2.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_at_the_rate_widen_the_window_by_one_of_them() {
        let mut aggregation = Aggregation::default();
        for ack in 1..1000 {
            aggregation.on_ack(f64::from(ack) * 2e-3, 2.0, 1000.0, 100.0, ack % 50 == 0);
        }
        assert!((aggregation.window(1000.0) - 2.0).abs() < 1e-6);
    }

    #[test]
    fn acknowledgements_that_come_together_widen_it_by_what_was_late_for_ten_rounds() {
        let mut aggregation = Aggregation::default();
        for _ in 0..8 {
            aggregation.on_ack(1.0, 2.0, 1000.0, 100.0, false);
        }
        assert_eq!(aggregation.window(1000.0), 16.0);
        assert_eq!(aggregation.window(100.0), 10.0); // at most 100 ms
        for round in 1..=10 {
            assert_eq!(aggregation.window(1000.0), 16.0);
            aggregation.on_ack(1.0 + f64::from(round), 2.0, 1000.0, 100.0, true);
        }
        assert_eq!(aggregation.window(1000.0), 2.0);
    }

    #[test]
    fn windows_are_even_and_leave_room_for_three_times_what_is_handed_down_at_once() {
        assert_eq!(quantized(50.5, 90.0, false), 54.0);
        assert_eq!(quantized(50.5, 1500.0, false), 58.0);
        assert_eq!(quantized(50.5, 1500.0, true), 60.0);
        assert_eq!(quantized(50.5, 8200.0, false), 76.0);
    }
}
