//! BLEST, blocking estimation: a slow path is used only if the fast one will not need the send
//! window for itself.
//!
//! Source: Ferlin, Alay, Mehani and Boreli, "BLEST: Blocking Estimation-based MPTCP Scheduler for
//! Heterogeneous Networks", IFIP Networking 2016, §IV. Data sent on the slow path `S` stays in the
//! send window `M` of the connection for RTT_S. Meanwhile the fast path `F`, whose window is full
//! now, could send
//!
//! ```text
//! X = MSS (CWND_F + (rtts − 1)/2) rtts,    rtts = RTT_S/RTT_F
//! ```
//!
//! because its window grows by one segment in a round trip. If λ X > M − MSS (inflight_S + 1), the
//! scheduler waits for F. λ corrects the estimate once in RTT_S: it grows if the send window has
//! blocked the connection since, and falls otherwise.
//!
//! The steps of λ are those of the authors' implementation (multipath-tcp.org v0.95,
//! `mptcp_blest.c`): it starts at 1.2, grows by 0.04, falls by 0.01, and stays from 1 to 1.3. Where
//! it differs from that: round-trip times are the smoothed ones, not an average of the extremes,
//! and the estimate ignores a slow start of F. The scheduler does not wait for a path without a
//! round-trip sample or without data in flight.

use super::ecf::fastest_of_all;
use super::min_rtt::fastest;
use super::{Choice, Described, Kind, Schedule, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

/// Like min-rtt, but it waits for the fastest path if a slower one would block the send window.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blest {}

impl Kind for Blest {
    const DESCRIBED: Described = Described {
        names: &["blest"],
        summary: "Like min-rtt, but waits rather than let a slow path block the send window.",
        source: "Ferlin et al., IFIP Networking 2016, §IV",
    };

    type State = Box<Estimate>;

    fn example() -> Self {
        Blest {}
    }

    fn start(&self, _paths: usize) -> Box<Estimate> {
        Box::new(Estimate { lambda: 1200, blocked: false, corrected: Time::ZERO })
    }
}

/// The correction of the estimate.
#[derive(Debug)]
pub(crate) struct Estimate {
    /// λ in thousandths.
    lambda: u64,
    /// The send window has blocked the connection since the last correction of λ.
    blocked: bool,
    corrected: Time,
}

impl Schedule for Estimate {
    #[inline(never)] // keeps the common case small
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        let slow = fastest(view)?;
        self.blocked |= view.edge().saturating_sub(view.data_nxt()) < view.segment();
        match fastest_of_all(view) {
            Some(fast) if fast != slow && self.waits(view, fast, slow) => None,
            _ => Some(Choice::New(slow)),
        }
    }
}

impl Estimate {
    fn waits(&mut self, view: &impl View, fast: usize, slow: usize) -> bool {
        let (f, s) = (view.path(fast), view.path(slow));
        if f.outstanding == 0 || s.srtt.0 == 0 {
            return false;
        }
        if view.now() >= self.corrected + s.srtt {
            self.correct(view.now());
        }
        let rtts = s.srtt.seconds() / f.srtt.seconds();
        let x = (f.cwnd as f64 + view.segment() as f64 * (rtts - 1.0) / 2.0) * rtts;
        let window = view.edge().saturating_sub(view.data_una());
        let room = window.saturating_sub(s.outstanding + view.segment());
        x * self.lambda as f64 / 1000.0 > room as f64
    }

    fn correct(&mut self, now: Time) {
        self.lambda = match self.blocked {
            true => (self.lambda + 40).min(1300),
            false => (self.lambda - 10).max(1000),
        };
        (self.blocked, self.corrected) = (false, now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Connection;
    use super::*;

    #[test]
    fn the_slow_path_is_used_as_long_as_the_send_window_has_room_for_what_the_fast_one_will_send() {
        let mut seen = Connection::with_srtts(&[10, 100]);
        seen.fill(0);
        // X = (10 + 4.5) 10 segments = 145; with λ = 1.2 and the new segment, 175 segments of
        // window suffice.
        seen.edge = 175_000;
        assert_eq!(Blest {}.start(2).choose(&mut seen), Some(Choice::New(1)));
        seen.edge = 174_000;
        assert_eq!(Blest {}.start(2).choose(&mut seen), None);
    }

    #[test]
    fn the_estimate_grows_when_the_window_blocks_and_falls_when_it_does_not() {
        let mut blest = Blest {}.start(2);
        let mut seen = Connection::with_srtts(&[10, 100]);
        seen.fill(0);
        for (round, lambda) in [(1, 1190), (2, 1180), (3, 1220), (4, 1210)] {
            seen.now = Time(round * 100_000_000);
            seen.data_nxt = if round == 3 { seen.edge } else { 0 };
            blest.choose(&mut seen);
            assert_eq!(blest.lambda, lambda);
        }
    }
}
