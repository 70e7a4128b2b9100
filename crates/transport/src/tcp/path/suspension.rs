//! A path that is suspended: it stays in the connection and carries nothing but a probe at times.
//!
//! A probe is the oldest segment that is outstanding, sent again. Nothing new travels, so that a
//! receiver need not know of it, and an answer to it moves the path's acknowledgement.

use super::Path;
use super::timer::TimerKind;
use control::Phase;
use units::{Span, Time};
use wire::Range;

/// Time between two probes. The ledger of Xue et al. 2017 recommends it
/// (`couple.wish.path_selection`); it is also the first timeout of RFC 6298 §2.1, what TCP waits
/// for on a path of which it knows nothing.
const PROBES_EVERY: Span = Span::millis(1000);

/// Whether a path is suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Suspension {
    /// It is in use.
    #[default]
    No,
    /// It waits for the next probe, or for an answer.
    Waits,
    /// A probe is to be sent now.
    Probes,
}

impl Path {
    /// From now on the path carries only probes. What is outstanding counts as lost.
    pub(crate) fn suspend(&mut self, now: Time) {
        self.suspension = Suspension::Waits;
        (self.standing.usable, self.standing.ready) = (false, false);
        self.recovery.phase = Phase::Loss;
        self.recovery.point = self.board.nxt;
        self.recovery.dupacks = 0;
        self.wait_for_probe(now);
    }

    /// The path is used again, with what has not been acknowledged to be sent again.
    pub(crate) fn resume(&mut self, now: Time) {
        self.suspension = Suspension::No;
        self.timer.kind = TimerKind::Retransmission;
        self.timer.deadline = now; // an acknowledgement restarts it; without one it is a timeout
        self.board.lose_all();
    }

    pub(crate) fn suspended(&self) -> bool {
        self.suspension != Suspension::No
    }

    /// The time of the next probe has come.
    pub(super) fn probe_again(&mut self, now: Time) {
        self.suspension = Suspension::Probes;
        self.board.lose_all();
        self.wait_for_probe(now);
    }

    fn wait_for_probe(&mut self, now: Time) {
        self.timer.backoff = 0;
        self.timer.kind = TimerKind::Suspension;
        self.timer.deadline = now + PROBES_EVERY;
    }

    /// What a probe that is due sends again.
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
