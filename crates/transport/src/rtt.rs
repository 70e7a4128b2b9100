//! Round-trip time and retransmission timeout.
//!
//! Source: RFC 6298 §2 (symbols SRTT, RTTVAR, RTO), in the scaled integers of Jacobson and Karels
//! 1988, so that no fraction is lost.

use crate::options::{Options, RtoFloor};
use units::Span;

/// The estimator of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rtt {
    /// 8 · SRTT in ns; zero before the first sample.
    srtt8: u64,
    /// 4 · RTTVAR in ns.
    rttvar4: u64,
    /// The newest sample.
    latest: Span,
}

impl Rtt {
    #[inline(always)] // runs for every ACK
    pub(crate) fn sample(&mut self, rtt: Span) {
        let r = rtt.0.max(1); // a sample below the clock's resolution counts as one tick
        self.latest = Span(r);
        if self.srtt8 == 0 {
            self.srtt8 = 8 * r;
            self.rttvar4 = 2 * r;
        } else {
            self.rttvar4 = self.rttvar4 - self.rttvar4 / 4 + (self.srtt8 / 8).abs_diff(r);
            self.srtt8 = self.srtt8 - self.srtt8 / 8 + r;
        }
    }

    pub(crate) fn srtt(&self) -> Span {
        Span(self.srtt8 / 8)
    }

    pub(crate) fn rttvar(&self) -> Span {
        Span(self.rttvar4 / 4)
    }

    pub(crate) fn latest(&self) -> Span {
        self.latest
    }

    /// The timeout after `backoff` doublings.
    #[inline(always)] // runs for every ACK
    pub(crate) fn rto(&self, options: &Options, backoff: u32) -> Span {
        let once = match self.srtt8 {
            0 => options.rto_initial,
            _ => self.rto_once(options),
        };
        let doubled = match backoff {
            0 => once, // the usual case
            _ => Span(once.0.saturating_mul(1 << backoff.min(20))),
        };
        doubled.min(options.rto_max)
    }

    /// The timeout after a sample.
    #[inline(always)] // runs for every ACK
    pub(crate) fn rto_once(&self, options: &Options) -> Span {
        debug_assert!(self.srtt8 > 0, "there is no sample");
        let variance = Span(self.rttvar4);
        let once = match options.rto_floor {
            RtoFloor::Variance => self.srtt() + variance.max(options.rto_min),
            RtoFloor::Total => (self.srtt() + variance).max(options.rto_min),
        };
        once.min(options.rto_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_follows_the_worked_example_of_the_rfc_order() {
        // SRTT .100, RTTVAR .050, sample .120: RTTVAR .0425, SRTT .1025, RTO .2725 before any
        // floor.
        let mut rtt = Rtt::default();
        rtt.sample(Span::millis(100));
        rtt.sample(Span::millis(120));
        assert_eq!(rtt.srtt(), Span(102_500_000));
        let settings =
            Options { rto_min: Span::ZERO, rto_floor: RtoFloor::Total, ..Options::default() };
        assert_eq!(rtt.rto(&settings, 0), Span(272_500_000));
        assert_eq!(rtt.rto(&settings, 1), Span(545_000_000));
    }

    #[test]
    fn the_two_floors_differ_by_the_smoothed_round_trip() {
        let mut rtt = Rtt::default();
        (0..200).for_each(|_| rtt.sample(Span::millis(100)));
        let variance = Options::default();
        let total = Options { rto_floor: RtoFloor::Total, ..Options::default() };
        assert_eq!(rtt.rto(&variance, 0), Span::millis(300));
        assert_eq!(rtt.rto(&total, 0), Span::millis(200));
        assert_eq!(rtt.rto(&variance, 30), variance.rto_max);
    }
}
