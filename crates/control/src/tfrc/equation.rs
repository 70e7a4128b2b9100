//! The response function of TCP: the rate that a loss event rate and a round-trip time allow.

use crate::{SegmentRate, Span};

/// Smallest and largest loss event rate in a search.
const LEAST: f64 = 1e-15;
const MOST: f64 = 1.0;

/// `X(p)`: the rate that a loss event rate `p` and a round-trip time allow (RFC 5348 §3.1 with b =
/// 1 and t_RTO = 4 R; Padhye et al. 1998; the form that Tse 2006, eq. 2.1 means, whose print has
/// lost a fraction stroke). Infinite for `p` = 0.
pub fn response(p: f64, rtt: Span) -> SegmentRate {
    SegmentRate(throughput(p, rtt.seconds()))
}

/// [`response`] in segments per second, with the round-trip time in seconds.
pub(crate) fn throughput(p: f64, rtt: f64) -> f64 {
    let rto = 4.0 * rtt;
    let fast = rtt * libm::sqrt(2.0 * p / 3.0);
    let timeouts = rto * 3.0 * libm::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p);
    1.0 / (fast + timeouts)
}

/// The `p` with `X(p) = rate`, within the range of the search (RFC 5348 §6.3.1); in segments per
/// second and seconds.
pub(crate) fn loss_for(rate: f64, rtt: f64) -> f64 {
    let (mut low, mut high) = (libm::log(LEAST), libm::log(MOST));
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match throughput(libm::exp(middle), rtt) > rate {
            true => low = middle,
            false => high = middle,
        }
    }
    libm::exp(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_function_gives_the_golden_rates() {
        // s = 1500 B, R = 0.1 s, b = 1, t_RTO = 0.4 s, in bytes per second
        let golden = [
            (1e-4, 1_835_465.0),
            (1e-3, 575_765.0),
            (0.01, 168_498.0),
            (0.05, 55_288.0),
            (0.1, 26_552.0),
            (0.3, 2_923.0),
            (1.0, 61.6),
        ];
        for (p, bytes) in golden {
            let rate = 1500.0 * response(p, Span::millis(100)).0;
            assert!((rate / bytes - 1.0).abs() < 1e-3, "{p}: {rate}");
        }
    }

    #[test]
    fn the_response_function_is_that_of_the_table_in_linux() {
        // f(p) = 1 / (R X(p)) in millionths (net/dccp/ccids/lib/tfrc_equation.c, up to Linux 6.15).
        let table = [
            (0.0001, 8_172.0),
            (0.001, 26_052.0),
            (0.002, 37_172.0),
            (0.01, 89_021.0),
            (0.05, 271_305.0),
            (0.1, 564_939.0),
            (0.2, 1_863_717.0),
            (1.0, 243_315_981.0),
        ];
        for (p, millionths) in table {
            let f = 1e6 / (0.1 * response(p, Span::millis(100)).0);
            assert!((f - millionths).abs() <= 1.0, "{p}: {f}"); // the table has whole numbers
        }
    }

    #[test]
    fn the_inverse_gives_the_loss_back() {
        for p in [1e-9, 1e-6, 1e-3, 0.02, 0.3] {
            assert!((loss_for(throughput(p, 0.07), 0.07) / p - 1.0).abs() < 1e-9);
        }
        assert!(loss_for(f64::INFINITY, 0.1) <= LEAST * 1.001);
        assert_eq!(loss_for(0.0, 0.1), MOST);
    }
}
