//! F-RTO: detects spurious timeouts from the next ACKs, for data that was not retransmitted.
//!
//! Source: RFC 5682 §3.1. After the first retransmission and one ACK of new data, new segments are
//! sent instead of more retransmissions. If an ACK then covers data that was never retransmitted,
//! nothing was lost.

use crate::tcp::scoreboard::{Progress, Scoreboard};

/// The stage of the check of a timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doubt {
    /// No timeout is being checked.
    #[default]
    None,
    /// One segment was sent again.
    First,
    /// It was acknowledged alone: new data is sent now.
    Second,
}

/// The state of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frto {
    doubt: Doubt,
    /// Data outstanding at the timeout lies below this byte.
    recover: u64,
    /// Bytes of that data that have not arrived.
    missing: u64,
}

impl Frto {
    /// Step 1: the timer fired. A repeated timeout is not checked.
    pub(crate) fn on_timeout(&mut self, board: &Scoreboard, first: bool) {
        let recover = board.nxt;
        let missing = board.missing_below(recover);
        let doubt = if first { Doubt::First } else { Doubt::None };
        *self = Frto { doubt, recover, missing };
    }

    pub(crate) fn forget(&mut self) {
        self.doubt = Doubt::None;
    }

    /// Whether retransmissions are held back.
    pub(crate) fn holds_back(self) -> bool {
        self.doubt == Doubt::Second
    }

    /// Steps 2 and 3; returns whether the timeout was spurious: of the data outstanding at the
    /// timeout, more has arrived than was retransmitted.
    pub(crate) fn on_ack(&mut self, board: &Scoreboard, progress: Progress) -> bool {
        if self.doubt == Doubt::None {
            return false;
        }
        let before = std::mem::replace(&mut self.missing, board.missing_below(self.recover));
        let arrived = before.saturating_sub(self.missing);
        let sent_again = board.rexmit_edge().saturating_sub(board.una - progress.acked);
        let advanced = progress.acked > 0;
        let spurious = arrived > sent_again && (advanced || self.doubt == Doubt::Second);
        self.doubt = match self.doubt {
            Doubt::First if advanced && !spurious => Doubt::Second,
            _ => Doubt::None,
        };
        spurious
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Range;

    const MSS: u64 = 1_000;

    /// Ten segments were outstanding, the timer fired, and the first of them was retransmitted.
    fn after_timeout() -> (Scoreboard, Frto) {
        let mut board = Scoreboard::outstanding_below(10 * MSS);
        board.lose_all();
        let mut frto = Frto::default();
        frto.on_timeout(&board, true);
        board.on_retransmitted(Range { start: 0, end: MSS });
        (board, frto)
    }

    #[test]
    fn an_ack_of_what_was_not_sent_again_shows_a_spurious_timeout() {
        let (mut board, mut frto) = after_timeout();
        let progress = board.on_ack(MSS, &[]);
        assert!(!frto.on_ack(&board, progress));
        assert!(frto.holds_back());
        board.nxt += 2 * MSS; // two new segments
        let progress = board.on_ack(2 * MSS, &[]);
        assert!(frto.on_ack(&board, progress));
    }

    #[test]
    fn duplicate_acks_show_a_real_one() {
        let (mut board, mut frto) = after_timeout();
        let progress = board.on_ack(MSS, &[]);
        frto.on_ack(&board, progress);
        assert!(!frto.on_ack(&board, Progress::default()));
        assert_eq!(frto.doubt, Doubt::None);
        let (board, mut frto) = after_timeout();
        assert!(!frto.on_ack(&board, Progress::default()));
        assert_eq!(frto.doubt, Doubt::None);
    }

    #[test]
    fn what_had_arrived_before_the_timeout_proves_nothing() {
        let mut board = Scoreboard::outstanding_below(10 * MSS);
        board.on_ack(0, &[Range { start: MSS, end: 5 * MSS }]);
        board.lose_all();
        let mut frto = Frto::default();
        frto.on_timeout(&board, true);
        board.on_retransmitted(Range { start: 0, end: MSS });
        let progress = board.on_ack(5 * MSS, &[]); // the retransmission fills the hole
        assert!(!frto.on_ack(&board, progress));
    }

    #[test]
    fn what_was_sent_after_the_timeout_proves_nothing() {
        let (mut board, mut frto) = after_timeout();
        let progress = board.on_ack(MSS, &[]);
        frto.on_ack(&board, progress);
        board.nxt += 2 * MSS;
        let progress = board.on_ack(MSS, &[Range { start: 10 * MSS, end: 11 * MSS }]);
        assert!(!frto.on_ack(&board, progress));
        assert_eq!(frto.doubt, Doubt::None);
    }
}
