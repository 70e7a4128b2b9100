//! Recent acknowledgement (RACK): a segment is lost a reordering window after the arrival of a
//! segment that was sent later.
//!
//! Source: RFC 8985 §6 (symbols `RACK.xmit_ts`, `RACK.end_seq`, `RACK.rtt`, `RACK.min_RTT`,
//! `RACK.reo_wnd`, `RACK.fack`, `RACK.reo_wnd_mult`, `RACK.reo_wnd_persist`, `RACK.dsack_round`).

use super::log::{Sent, SentLog};
use crate::tcp::scoreboard::Scoreboard;
use units::{Span, Time};

/// Loss recoveries after which a reordering window widened by DSACKs is narrow again.
const REO_WND_PERSIST: u32 = 16;

/// Inputs of the reordering window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) srtt: Span,
    /// In recovery, or with three segments SACKed: the window is zero until reordering is seen.
    pub(crate) urgent: bool,
}

/// The state of one path.
#[derive(Debug)]
pub(crate) struct Rack {
    xmit_ts: Time,
    end_seq: u64,
    rtt: Span,
    min_rtt: Span,
    fack: u64,
    reordering_seen: bool,
    reo_wnd: Span,
    reo_wnd_mult: u64,
    reo_wnd_persist: u32,
    /// A DSACK has widened the window in this round trip, which ends when this byte is
    /// acknowledged.
    dsack_round: Option<u64>,
}

impl Default for Rack {
    fn default() -> Self {
        Rack {
            xmit_ts: Time::ZERO,
            end_seq: 0,
            rtt: Span::ZERO,
            min_rtt: Span(u64::MAX),
            fack: 0,
            reordering_seen: false,
            reo_wnd: Span::ZERO,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
        }
    }
}

impl Rack {
    /// Steps 1 to 3: `sent` has arrived; `echo` is the time stamp that the ACK echoes.
    pub(crate) fn on_delivered(&mut self, now: Time, sent: &Sent, echo: Time) {
        let rtt = now.since(sent.at);
        // The ACK may be for the original: then the time since the retransmission is not a sample.
        if !(sent.again && (echo < sent.at || rtt < self.min_rtt)) {
            self.min_rtt = self.min_rtt.min(rtt);
            if (sent.at, sent.range.end) > (self.xmit_ts, self.end_seq) {
                (self.xmit_ts, self.end_seq, self.rtt) = (sent.at, sent.range.end, rtt);
            }
        }
        if sent.range.end > self.fack {
            self.fack = sent.range.end;
        } else if sent.range.end < self.fack && !sent.again {
            self.reordering_seen = true;
        }
    }

    /// Step 4: a DSACK shows that reordering lasts longer than the reordering window.
    pub(crate) fn on_duplicate(&mut self, una: u64, nxt: u64) {
        if self.dsack_round.is_some_and(|end| una >= end) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() {
            self.dsack_round = Some(nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REO_WND_PERSIST;
        }
    }

    /// A recovery has ended.
    pub(crate) fn on_recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// Step 5: marks lost segments; returns when the last of the late ones will be lost too.
    pub(crate) fn detect(
        &mut self,
        now: Time,
        log: &SentLog,
        board: &mut Scoreboard,
        patience: Patience,
    ) -> Option<Time> {
        self.reo_wnd = match patience.urgent && !self.reordering_seen {
            true => Span::ZERO,
            false => {
                let quarter = Span(self.reo_wnd_mult.saturating_mul(self.min_rtt.0 / 4));
                // Before the first sample of an ACK in order there is no SRTT to bound it.
                if patience.srtt == Span::ZERO { quarter } else { quarter.min(patience.srtt) }
            }
        };
        let mut timeout = None;
        for sent in log.sent().filter(|sent| !sent.arrived) {
            if (sent.at, sent.range.end) > (self.xmit_ts, self.end_seq) {
                match sent.again {
                    true => continue,
                    false => break, // later segments were sent later
                }
            }
            match self.overdue(now, sent) {
                true => board.lose(sent.range),
                false => timeout = timeout.max(Some(sent.at + self.rtt + self.reo_wnd)),
            }
        }
        timeout
    }

    /// Whether a segment has been out for longer than the newest round trip and the reordering
    /// window.
    pub(crate) fn overdue(&self, now: Time, sent: &Sent) -> bool {
        sent.at + self.rtt + self.reo_wnd <= now
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::Stamp;
    use super::*;
    use wire::Range;

    const MS: u64 = 1_000_000;

    fn range(i: u64) -> Range {
        Range { start: 1000 * i, end: 1000 * i + 1000 }
    }

    /// Ten segments, one each ms.
    fn sent() -> (SentLog, Scoreboard) {
        let mut log = SentLog::default();
        (0..10).for_each(|i| log.on_transmit(Time(i * MS), range(i), Stamp::default()));
        (log, Scoreboard::outstanding_below(10_000))
    }

    fn sack(rack: &mut Rack, log: &mut SentLog, board: &mut Scoreboard, ms: u64, i: u64) {
        board.on_ack(0, &[range(i)]);
        log.on_ack(0, &[range(i)], |sent| rack.on_delivered(Time(ms * MS), sent, sent.at));
    }

    const CALM: Patience = Patience { srtt: Span::millis(40), urgent: false };

    #[test]
    fn a_segment_is_lost_a_quarter_of_the_round_trip_after_a_later_one_has_arrived() {
        let (mut log, mut board) = sent();
        let mut rack = Rack::default();
        sack(&mut rack, &mut log, &mut board, 41, 1); // round trip 40 ms
        let timeout = rack.detect(Time(41 * MS), &log, &mut board, CALM);
        assert_eq!(timeout, Some(Time(50 * MS))); // sent at 0, and 40 + 10 ms
        assert_eq!(board.next_lost(), None);
        assert_eq!(rack.detect(Time(50 * MS), &log, &mut board, CALM), None);
        assert_eq!(board.next_lost(), Some(range(0)));
    }

    #[test]
    fn in_recovery_nothing_is_waited_for_until_reordering_has_been_seen() {
        let urgent = Patience { urgent: true, ..CALM };
        let (mut log, mut board) = sent();
        let mut rack = Rack::default();
        sack(&mut rack, &mut log, &mut board, 43, 3);
        assert_eq!(rack.detect(Time(43 * MS), &log, &mut board, urgent), None);
        assert_eq!(board.next_lost(), Some(Range { start: 0, end: 3000 }));

        let (mut log, mut board) = sent();
        let mut rack = Rack::default();
        sack(&mut rack, &mut log, &mut board, 43, 3);
        sack(&mut rack, &mut log, &mut board, 44, 1); // an original from below: reordering
        assert!(rack.detect(Time(44 * MS), &log, &mut board, urgent).is_some());
        assert_eq!(board.next_lost(), None);
    }

    #[test]
    fn a_retransmission_that_is_lost_is_found_without_a_timeout() {
        let urgent = Patience { urgent: true, ..CALM };
        let (mut log, mut board) = sent();
        let mut rack = Rack::default();
        sack(&mut rack, &mut log, &mut board, 43, 3);
        rack.detect(Time(43 * MS), &log, &mut board, urgent);
        for i in 0..3 {
            log.on_transmit(Time((44 + i) * MS), range(i), Stamp::default());
            board.on_retransmitted(range(i));
        }
        assert_eq!(board.next_lost(), None);
        sack(&mut rack, &mut log, &mut board, 86, 2); // the third retransmission arrives
        assert_eq!(rack.detect(Time(86 * MS), &log, &mut board, urgent), None);
        assert_eq!(board.next_lost(), Some(Range { start: 0, end: 2000 }));
        let pipe = board.pipe();
        board.on_retransmitted(range(0));
        assert_eq!(board.pipe(), pipe + 1000);
        assert_eq!(board.next_lost(), Some(range(1)));
    }

    #[test]
    fn duplicates_widen_the_window_once_a_round_trip_and_recoveries_narrow_it_again() {
        let mut rack = Rack { min_rtt: Span::millis(40), ..Rack::default() };
        rack.on_duplicate(0, 10);
        rack.on_duplicate(5, 12);
        assert_eq!(rack.reo_wnd_mult, 2);
        rack.on_duplicate(10, 20);
        assert_eq!(rack.reo_wnd_mult, 3);
        (0..16).for_each(|_| rack.on_recovered());
        assert_eq!(rack.reo_wnd_mult, 1);
    }
}
