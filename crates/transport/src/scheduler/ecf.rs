//! ECF, "earliest completion first": a slow path is used only if it shortens the completion of the
//! data.
//!
//! Source: Lim, Nahum, Towsley and Gibbens, "ECF: An MPTCP Path Scheduler to Manage Heterogeneous
//! Paths", CoNEXT 2017, §4, Algorithm 1. With `k` unsent bytes, the fast path `f` (smallest
//! round-trip time, window full) completes them in about `(1 + k/CWND_f) RTT_f`, and the slow path
//! `s` takes at least `RTT_s`:
//!
//! ```text
//! if (1 + k/CWND_f) RTT_f < (1 + waiting β)(RTT_s + δ)    the fast path is through sooner
//!   if k/CWND_s RTT_s ≥ 2 RTT_f + δ    wait, waiting = 1
//! else                                 waiting = 0
//! ```
//!
//! δ is the larger deviation of the two round-trip times, β = 0.25. In all other cases the slow
//! path sends.
//!
//! Deviations: `k` is all unsent data of the application, because there is no send buffer; δ is
//! RTTVAR, as in the authors' implementation (multipath-tcp.org v0.95, `mptcp_ecf.c`). The
//! scheduler does not wait for a path without a round-trip sample or without data in flight.

use super::min_rtt::fastest;
use super::{Choice, Described, Kind, Schedule, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hysteresis of the decision to wait.
const BETA: f64 = 0.25;

/// Like min-rtt, but it waits for the fastest path if a slower one would finish later.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ecf {}

impl Kind for Ecf {
    const DESCRIBED: Described = Described {
        names: &["ecf"],
        summary: "Like min-rtt, but waits if the fastest path alone finishes sooner.",
        source: "Lim et al., CoNEXT 2017, §4",
    };

    type State = Waiting;

    fn example() -> Self {
        Ecf {}
    }

    fn start(&self, _paths: usize) -> Waiting {
        Waiting(false)
    }
}

/// Whether it waited for the fastest path at its last choice.
#[derive(Debug)]
pub(crate) struct Waiting(bool);

impl Schedule for Waiting {
    #[inline(never)] // keeps the common case small
    fn choose(&mut self, view: &mut impl View) -> Option<Choice> {
        let slow = fastest(view)?;
        match fastest_of_all(view) {
            Some(fast) if fast != slow && self.waits(view, fast, slow) => None,
            _ => Some(Choice::New(slow)),
        }
    }
}

impl Waiting {
    fn waits(&mut self, view: &impl View, fast: usize, slow: usize) -> bool {
        let (f, s) = (view.path(fast), view.path(slow));
        if f.outstanding == 0 {
            return false;
        }
        let k = view.written().saturating_sub(view.data_nxt()) as f64;
        let rounds = |cwnd: u64| k / cwnd.max(view.segment()) as f64;
        let (rtt_f, rtt_s) = (f.srtt.seconds(), s.srtt.seconds());
        let delta = f.rttvar.max(s.rttvar).seconds();
        let margin = if self.0 { 1.0 + BETA } else { 1.0 };
        if (1.0 + rounds(f.cwnd)) * rtt_f >= margin * (rtt_s + delta) {
            self.0 = false;
            return false;
        }
        let waits = rounds(s.cwnd) * rtt_s >= 2.0 * rtt_f + delta;
        self.0 |= waits;
        waits
    }
}

/// The fastest path in use that has a round-trip sample, whether its window has room or not.
pub(super) fn fastest_of_all(view: &impl View) -> Option<usize> {
    let measured = |path: &usize| view.is_used(*path) && view.srtt(*path).0 > 0;
    (0..view.paths()).filter(measured).min_by_key(|path| view.srtt(*path))
}

#[cfg(test)]
mod tests {
    use super::super::tests::Connection;
    use super::*;

    /// A full path of 10 ms beside an idle one of 200 ms, with this many segments to send.
    fn with_rest(segments: u64) -> Connection {
        let mut seen = Connection::with_srtts(&[10, 200]);
        seen.fill(0);
        seen.written = 1000 * segments;
        seen
    }

    #[test]
    fn a_short_rest_waits_for_the_fast_path_and_a_long_one_uses_both() {
        let mut ecf = Waiting(false);
        // Two windows of the fast path: complete after 30 ms there, and not before 200 ms on the
        // slow path.
        assert_eq!(ecf.choose(&mut with_rest(20)), None);
        // 300 windows: 3 s on the fast path alone.
        assert_eq!(ecf.choose(&mut with_rest(3000)), Some(Choice::New(1)));
    }

    #[test]
    fn who_waits_goes_on_waiting_up_to_a_quarter_beyond_the_break_even_point() {
        let mut rest = with_rest(210); // (1 + 21) 10 ms on the fast path: between 200 ms and 250 ms
        assert_eq!(Waiting(false).choose(&mut rest), Some(Choice::New(1)));
        let mut waiting = Waiting(true);
        assert_eq!(waiting.choose(&mut rest), None);
        assert_eq!(waiting.choose(&mut with_rest(250)), Some(Choice::New(1)));
        assert_eq!(waiting.choose(&mut rest), Some(Choice::New(1)));
    }

    #[test]
    fn a_slow_path_that_is_hardly_slower_is_used() {
        let mut seen = with_rest(1);
        seen.paths[1].1.srtt = units::Span::millis(12);
        assert_eq!(Waiting(false).choose(&mut seen), Some(Choice::New(1)));
    }
}
