//! Timeouts that need not have been: after one, the next ACKs are for data that was not sent again.
//!
//! Source: RFC 5682 §3.1. After the first retransmission and one ACK of new data, new segments are sent
//! instead of more retransmissions; if then an ACK covers what was never sent again, nothing was lost.

use crate::scoreboard::{Progress, Scoreboard};

/// The state of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Frto {
    /// No timeout is in doubt.
    #[default]
    Off,
    /// One segment was sent again.
    First,
    /// It was acknowledged alone: new data is sent now.
    Second,
}

impl Frto {
    /// Step 1: the timer fired; not for the first time, it is in no doubt.
    pub(crate) fn on_timeout(&mut self, first: bool) {
        *self = if first { Frto::First } else { Frto::Off };
    }

    pub(crate) fn forget(&mut self) {
        *self = Frto::Off;
    }

    /// Whether retransmissions are held back.
    pub(crate) fn holds_back(self) -> bool {
        self == Frto::Second
    }

    /// Steps 2 and 3; whether the timeout was spurious: more was delivered than had been sent again.
    pub(crate) fn on_ack(&mut self, board: &Scoreboard, progress: Progress) -> bool {
        let una_before = board.una - progress.acked;
        let sent_again = board.rexmit_edge().saturating_sub(una_before);
        let advanced = progress.acked > 0;
        let others = progress.delivered > sent_again && (advanced || *self == Frto::Second);
        let spurious = *self != Frto::Off && others;
        *self = match self {
            Frto::First if advanced && !spurious => Frto::Second,
            _ => Frto::Off,
        };
        spurious
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Range;

    const MSS: u64 = 1_000;

    /// Ten segments were out, the timer fired, and the first of them was sent again.
    fn after_timeout() -> (Scoreboard, Frto) {
        let mut board = Scoreboard::outstanding_below(10 * MSS);
        board.lose_all();
        board.on_retransmitted(Range { start: 0, end: MSS });
        let mut frto = Frto::default();
        frto.on_timeout(true);
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
        assert_eq!(frto, Frto::Off);
        let (board, mut frto) = after_timeout();
        assert!(!frto.on_ack(&board, Progress::default()));
        assert_eq!(frto, Frto::Off);
    }

    #[test]
    fn what_had_arrived_before_the_timeout_proves_nothing() {
        let mut board = Scoreboard::outstanding_below(10 * MSS);
        board.on_ack(0, &[Range { start: MSS, end: 5 * MSS }]);
        board.lose_all();
        board.on_retransmitted(Range { start: 0, end: MSS });
        let mut frto = Frto::First;
        let progress = board.on_ack(5 * MSS, &[]); // the hole is filled, by the retransmission
        assert!(!frto.on_ack(&board, progress));
    }
}
