//! Suspension of a path: the path stays in the connection and carries only an occasional probe.
//!
//! A probe is the oldest outstanding segment, sent again. It carries no new data, so that the
//! receiver needs no knowledge of suspension, and the answer to a probe moves the path's
//! acknowledgement.

use super::Path;
use super::timer::TimerKind;
use control::Phase;
use units::{Span, Time};
use wire::Range;

/// Time between two probes. The ledger of Xue et al. 2017 recommends it
/// (`couple.wish.path_selection`); it is also the first timeout of RFC 6298 §2.1, for a path
/// without a round-trip sample.
const PROBES_EVERY: Span = Span::millis(1000);

/// Whether a path is suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Suspension {
    /// It is in use.
    #[default]
    No,
    /// It waits for the next probe, or for an answer.
    Waits,
    /// A probe must be sent now.
    Probes,
}

impl Path {
    /// Suspends the path: it carries only probes. Outstanding data counts as lost.
    pub(crate) fn suspend(&mut self, now: Time) {
        self.suspension = Suspension::Waits;
        (self.standing.usable, self.standing.ready) = (false, false);
        (self.recovery.phase, self.standing.calm) = (Phase::Loss, false);
        self.recovery.point = self.board.nxt;
        self.recovery.dupacks = 0;
        self.wait_for_probe(now);
    }

    /// Resumes the path: unacknowledged data is sent again.
    pub(crate) fn resume(&mut self, now: Time) {
        self.suspension = Suspension::No;
        self.timer.kind = TimerKind::Retransmission;
        self.timer.deadline = now; // an acknowledgement restarts it; without one it is a timeout
        self.standing.calm = false;
        self.board.lose_all();
    }

    pub(crate) fn suspended(&self) -> bool {
        self.suspension != Suspension::No
    }

    /// The next probe is due.
    pub(super) fn probe_again(&mut self, now: Time) {
        self.suspension = Suspension::Probes;
        self.standing.calm = false;
        self.board.lose_all();
        self.wait_for_probe(now);
    }

    fn wait_for_probe(&mut self, now: Time) {
        self.timer.backoff = 0;
        self.timer.kind = TimerKind::Suspension;
        self.timer.deadline = now + PROBES_EVERY;
    }

    /// The segment of a probe that is due.
    pub(crate) fn poll_suspended(&mut self, segment: u32) -> Option<Range> {
        if self.suspension != Suspension::Probes {
            return None;
        }
        self.suspension = Suspension::Waits;
        let range = self.next_retransmission(segment)?;
        self.tally.probes += 1;
        self.board.on_retransmitted(range);
        Some(range)
    }
}
