//! The scoreboard of a path's sender: the state of its outstanding bytes, and the pipe.
//!
//! Source: RFC 6675 §2 to §4 (HighRxt, IsLost, NextSeg, SetPipe), RFC 6582 without SACK. The state
//! is kept as edges instead of a mark for each segment. This works because losses are retransmitted
//! lowest first:
//!
//! ```text
//!   una              rexmit_edge           lost_edge                         nxt
//!    │ lost, retransmitted │ lost, to retransmit │ not lost (yet): in the pipe │
//!    └──── everywhere except in the SACKed ranges, which have arrived ─────────┘
//! ```
//!
//! Loss detection by time (RACK) also finds retransmissions that were lost: they are kept apart, in
//! `again`, until they are sent once more.
//!
//! Not implemented: NextSeg rules 3 and 4 (retransmissions without evidence of loss).

use crate::ranges::RangeSet;
use wire::Range;

/// `DupThresh`.
const DUP_THRESH: u64 = 3;

/// Outstanding bytes of one path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    /// Oldest byte not acknowledged cumulatively (SND.UNA).
    pub(crate) una: u64,
    /// Next byte to send for the first time (SND.NXT).
    pub(crate) nxt: u64,
    lost_edge: u64,
    rexmit_edge: u64,
    sacked: RangeSet,
    /// Without SACK: bytes that have left the network, as reported by duplicate ACKs.
    dup_bytes: u64,
    /// Lost retransmissions: below `rexmit_edge`, and so below `lost_edge`.
    again: RangeSet,
    /// Bytes found lost so far, if they are counted: few senders need it.
    lost_total: Option<Box<u64>>,
}

/// The changes by an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Progress {
    /// Bytes newly acknowledged cumulatively.
    pub(crate) acked: u64,
    /// Bytes newly known to have arrived, cumulatively or selectively (DeliveredData).
    pub(crate) delivered: u64,
}

impl Scoreboard {
    /// All bytes below `nxt` are outstanding.
    #[cfg(test)]
    pub(crate) fn outstanding_below(nxt: u64) -> Self {
        Scoreboard { nxt, ..Scoreboard::default() }
    }

    /// A board that counts the bytes that it finds lost if `counts`.
    pub(crate) fn new(counts: bool) -> Self {
        Scoreboard { lost_total: counts.then(Box::default), ..Scoreboard::default() }
    }

    /// Counts bytes found lost; `lost` is computed only if losses are counted.
    fn count(&mut self, lost: impl FnOnce(&Scoreboard) -> u64) {
        if self.lost_total.is_some() {
            let found = lost(self);
            self.lost_total.as_deref_mut().into_iter().for_each(|total| *total += found);
        }
    }

    pub(crate) fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// RFC 6675 §4, SetPipe: bytes thought to be in the network.
    pub(crate) fn pipe(&self) -> u64 {
        let outstanding = self.outstanding();
        if self.is_clean() {
            return outstanding;
        }
        let arrived = self.sacked.bytes() + self.dup_bytes;
        let to_retransmit = self.gaps_between(self.rexmit_edge.max(self.una), self.lost_edge);
        outstanding.saturating_sub(arrived + to_retransmit + self.again.bytes())
    }

    /// Whether no outstanding byte is SACKed or lost, so that the pipe is all of them.
    #[inline(always)] // runs for every ACK
    pub(crate) fn is_clean(&self) -> bool {
        self.sacked.is_empty() && self.lost_edge <= self.una && self.dup_bytes == 0
    }

    pub(crate) fn rexmit_edge(&self) -> u64 {
        self.rexmit_edge
    }

    /// Outstanding bytes below `edge` that have not arrived.
    pub(crate) fn missing_below(&self, edge: u64) -> u64 {
        self.gaps_between(self.una, edge)
    }

    /// Bytes found lost so far; a byte lost twice counts twice.
    pub(crate) fn lost_total(&self) -> u64 {
        self.lost_total.as_deref().copied().unwrap_or(0)
    }

    /// Whether at least `DupThresh` segments have arrived out of order.
    pub(crate) fn many_sacked(&self, segment: u64) -> bool {
        self.sacked.bytes() > (DUP_THRESH - 1) * segment
    }

    pub(crate) fn nothing_sacked(&self) -> bool {
        self.sacked.is_empty()
    }

    /// Bytes in `from..to` that have not arrived.
    fn gaps_between(&self, from: u64, to: u64) -> u64 {
        if to <= from {
            return 0;
        }
        (to - from) - (self.sacked.bytes_below(to) - self.sacked.bytes_below(from))
    }

    /// Applies a cumulative and selective acknowledgement; impossible values are ignored.
    #[inline(always)] // one caller, which runs for every ACK
    pub(crate) fn on_ack(&mut self, ack: u64, sacks: &[Range]) -> Progress {
        if ack > self.nxt {
            return Progress::default(); // RFC 9293 §3.10.7.4: acknowledges data never sent
        }
        let mut progress = Progress::default();
        if ack > self.una {
            progress.acked = ack - self.una;
            self.una = ack;
            if !self.sacked.is_empty() {
                progress.delivered = progress.acked - self.sacked.remove_below(ack);
            } else {
                progress.delivered = progress.acked - self.dup_bytes.min(progress.acked);
                self.dup_bytes -= self.dup_bytes.min(progress.acked);
            }
        }
        for block in sacks {
            let clipped = Range { start: block.start.max(self.una), end: block.end.min(self.nxt) };
            if !clipped.is_empty() {
                progress.delivered += self.sacked.insert(clipped);
            }
        }
        if !self.again.is_empty() {
            self.again.remove_below(self.una);
            sacks.iter().for_each(|block| self.again.remove(*block));
        }
        progress
    }

    /// Declares a single segment lost (RACK), with all data first sent before it; if it was sent
    /// again already, declares that retransmission lost.
    pub(crate) fn lose(&mut self, range: Range) {
        let from = range.start.max(self.una);
        if from < self.rexmit_edge {
            let end = range.end.min(self.rexmit_edge);
            let mut gap = self.sacked.first_gap(from, end);
            while let Some(lost) = gap {
                let found = self.again.insert(lost);
                self.count(|_| found);
                gap = self.sacked.first_gap(lost.end, end);
            }
        }
        if range.end > self.rexmit_edge {
            self.lose_below(range.end.min(self.nxt));
        }
    }

    /// Data first sent below `edge` that has not arrived is lost.
    fn lose_below(&mut self, edge: u64) {
        let from = self.lost_edge.max(self.rexmit_edge).max(self.una);
        self.count(|board| board.gaps_between(from, edge));
        self.lost_edge = self.lost_edge.max(edge);
    }

    /// Declares all outstanding data below `edge` lost and not retransmitted (timeout under RACK).
    pub(crate) fn lose_all_below(&mut self, edge: u64) {
        self.lose_all();
        self.lost_edge = edge.clamp(self.una, self.nxt);
    }

    /// Declares that no data is lost.
    pub(crate) fn unlose(&mut self) {
        self.lost_edge = self.rexmit_edge.max(self.una);
        self.again.clear();
    }

    /// RFC 2018 §8: if the oldest outstanding byte is SACKed and still not acknowledged, the
    /// receiver has discarded SACKed data, and its reports no longer count.
    pub(crate) fn on_reneging(&mut self) {
        if self.sacked.containing(self.una).is_some() {
            self.sacked.clear();
        }
    }

    /// A duplicate ACK without SACK: one more segment has left the network.
    pub(crate) fn on_duplicate(&mut self, segment: u64) {
        let most = self.outstanding().saturating_sub(segment);
        self.dup_bytes = (self.dup_bytes + segment).min(most);
    }

    /// RFC 6675 §4, IsLost: bytes below an edge with `DupThresh` ranges, or more than
    /// `DupThresh − 1` segments, SACKed above it. Returns whether there is one to retransmit.
    #[inline] // runs for every ACK in a recovery
    pub(crate) fn detect_loss(&mut self, segment: u64) -> bool {
        let mut above = 0;
        for (count, range) in self.sacked.ranges().iter().rev().enumerate() {
            above += range.len();
            if above > (DUP_THRESH - 1) * segment || count as u64 + 1 >= DUP_THRESH {
                self.lose_below(range.start);
                break;
            }
        }
        self.next_lost().is_some()
    }

    /// Declares the oldest segment lost (fast retransmit and partial ACK without SACK).
    pub(crate) fn lose_oldest(&mut self, segment: u64) {
        self.lost_edge = (self.una + segment).min(self.nxt);
        self.rexmit_edge = self.una;
    }

    /// Declares all outstanding data lost and not retransmitted (timeout).
    pub(crate) fn lose_all(&mut self) {
        self.count(Scoreboard::pipe);
        self.lost_edge = self.nxt;
        self.rexmit_edge = self.una;
        self.dup_bytes = 0;
        self.again.clear();
    }

    /// Forgets the counts of duplicate ACKs (recovery is over).
    pub(crate) fn forget_duplicates(&mut self) {
        self.dup_bytes = 0;
    }

    /// Whether [`Scoreboard::next_lost`] is something.
    #[inline(always)] // runs for every segment
    pub(crate) fn has_lost(&self) -> bool {
        let some = self.lost_edge > self.una
            && (self.lost_edge > self.rexmit_edge || !self.again.is_empty());
        some && self.next_lost().is_some()
    }

    /// RFC 6675 §4, NextSeg rule 1: the lowest lost bytes that were not retransmitted.
    pub(crate) fn next_lost(&self) -> Option<Range> {
        if self.lost_edge <= self.una {
            return None;
        }
        if let Some(lost) = self.again.ranges().first() {
            return Some(*lost);
        }
        let from = self.rexmit_edge.max(self.una);
        if self.lost_edge <= from {
            return None;
        }
        self.sacked.first_gap(from, self.lost_edge)
    }

    /// The first part of [`Scoreboard::next_lost`] was retransmitted.
    pub(crate) fn on_retransmitted(&mut self, range: Range) {
        if range.end <= self.rexmit_edge {
            self.again.remove(range);
        } else {
            self.rexmit_edge = range.end;
        }
    }

    /// Outstanding bytes that are not SACKed, as ranges.
    pub(crate) fn missing(&self) -> impl Iterator<Item = Range> + '_ {
        let mut from = self.una;
        std::iter::from_fn(move || {
            let gap = self.sacked.first_gap(from, self.nxt)?;
            from = gap.end;
            Some(gap)
        })
    }

    /// Forgets all outstanding data (the path left the connection).
    pub(crate) fn abandon(&mut self) {
        self.una = self.nxt;
        self.sacked.clear();
        self.again.clear();
        self.dup_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Ten segments outstanding.
    fn board() -> Scoreboard {
        Scoreboard { nxt: 10 * MSS, ..Scoreboard::default() }
    }

    fn sack(board: &mut Scoreboard, first: u64, last: u64) -> Progress {
        board.on_ack(board.una, &[Range { start: first * MSS, end: (last + 1) * MSS }])
    }

    #[test]
    fn a_segment_is_lost_when_three_segments_above_it_have_arrived() {
        let mut board = board();
        sack(&mut board, 1, 2);
        assert!(!board.detect_loss(MSS));
        sack(&mut board, 3, 3);
        assert!(board.detect_loss(MSS));
        assert_eq!(board.next_lost(), Some(Range { start: 0, end: MSS }));
        // 10 outstanding, 3 arrived, 1 lost
        assert_eq!(board.pipe(), 6 * MSS);
        board.on_retransmitted(Range { start: 0, end: MSS });
        assert_eq!(board.pipe(), 7 * MSS);
        assert_eq!(board.next_lost(), None);
    }

    #[test]
    fn three_separate_ranges_are_evidence_even_when_they_are_short() {
        let mut board = board();
        for at in [1, 3, 5] {
            board.on_ack(0, &[Range { start: at * MSS, end: at * MSS + 10 }]);
        }
        assert!(board.detect_loss(MSS));
        assert_eq!(board.next_lost().unwrap().end, MSS);
    }

    #[test]
    fn delivered_counts_every_byte_once() {
        let mut board = board();
        assert_eq!(sack(&mut board, 2, 4).delivered, 3 * MSS);
        assert_eq!(sack(&mut board, 2, 5).delivered, MSS);
        let progress = board.on_ack(7 * MSS, &[]);
        assert_eq!((progress.acked, progress.delivered), (7 * MSS, 3 * MSS));
    }

    #[test]
    fn an_ack_of_what_was_never_sent_changes_nothing() {
        let mut board = board();
        assert_eq!(board.on_ack(11 * MSS, &[]), Progress::default());
        assert_eq!(board.una, 0);
    }

    #[test]
    fn after_a_timeout_only_the_gaps_are_sent_again() {
        let mut board = board();
        sack(&mut board, 4, 5);
        board.lose_all();
        assert_eq!(board.pipe(), 0);
        assert_eq!(board.next_lost(), Some(Range { start: 0, end: 4 * MSS }));
        board.on_retransmitted(Range { start: 0, end: 4 * MSS });
        assert_eq!(board.next_lost(), Some(Range { start: 6 * MSS, end: 10 * MSS }));
        assert_eq!(board.pipe(), 4 * MSS);
    }

    #[test]
    fn a_receiver_that_renounces_what_it_reported_is_sent_everything_again() {
        let mut board = board();
        sack(&mut board, 0, 9); // SACKs all data, and acknowledges none in order
        board.lose_all();
        assert_eq!(board.next_lost(), None);
        board.on_reneging();
        assert_eq!(board.next_lost(), Some(Range { start: 0, end: 10 * MSS }));
    }
}
