//! Detection of spurious reductions: the retransmitted data had arrived, or was only late.
//!
//! Sources: RFC 3522 §3.2 (Eifel detection by time stamps); RFC 2883 and RFC 3708 §2 (every
//! retransmission is reported to have arrived twice). The response is that of Linux: window and
//! threshold are restored.

use crate::ranges::RangeSet;
use units::Time;
use wire::{Ack, Range};

/// The state of one path.
#[derive(Debug)]
pub(crate) struct Undo {
    eifel: bool,
    dsack: bool,
    event: Option<Event>,
}

/// The last reduction.
#[derive(Clone, Debug, Default)]
struct Event {
    /// When the first retransmission after it was sent.
    first: Option<Time>,
    /// Whether the first ACK of new data has arrived since: Eifel judges only that one.
    judged: bool,
    /// Data that was retransmitted.
    resent: RangeSet,
    /// Bytes of all retransmissions. A byte retransmitted twice counts twice.
    sent: u64,
    /// Bytes reported to have arrived twice. For a lost byte with two retransmissions, only one is
    /// reported.
    duplicated: u64,
}

impl Undo {
    pub(crate) fn new(eifel: bool, dsack: bool) -> Self {
        Undo { eifel, dsack, event: None }
    }

    /// A reduction begins.
    pub(crate) fn on_reduction(&mut self) {
        self.event = Some(Event::default());
    }

    /// There is nothing left to undo.
    pub(crate) fn forget(&mut self) {
        self.event = None;
    }

    pub(crate) fn on_retransmit(&mut self, now: Time, range: Range) {
        if let Some(event) = &mut self.event {
            event.first.get_or_insert(now);
            event.resent.insert(range);
            event.sent += range.len();
        }
    }

    /// Whether this ACK shows that the reduction was spurious.
    pub(crate) fn on_ack(&mut self, ack: &Ack, advanced: bool, dsack: Option<Range>) -> bool {
        let Some(event) = &mut self.event else {
            return false;
        };
        let mut spurious = false;
        if let Some(first) = event.first.filter(|_| advanced && !event.judged) {
            // The ACK echoes the time stamp of a segment sent before the retransmission: the
            // original.
            spurious = self.eifel && ack.echo < first;
            event.judged = true;
        }
        // Duplicates of data that was never retransmitted were made by the network and prove
        // nothing.
        let of_ours = |range: &Range| event.resent.containing(range.start).is_some();
        if let Some(range) = dsack.filter(of_ours) {
            event.duplicated += range.len();
            spurious |= self.dsack && event.duplicated >= event.sent;
        }
        if spurious {
            self.event = None;
        }
        spurious
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Flags, Sacks};

    fn ack(echo: u64) -> Ack {
        let (echo, sacks) = (Time(echo), Sacks::default());
        Ack {
            ack: 2_000,
            data_ack: 2_000,
            window_edge: 1 << 20,
            echo,
            transit: units::Span::ZERO,
            sacks,
            flags: Flags::NONE,
        }
    }

    const FIRST: Range = Range { start: 1_000, end: 2_000 };

    fn reduced(eifel: bool, dsack: bool) -> Undo {
        let mut undo = Undo::new(eifel, dsack);
        undo.on_reduction();
        undo.on_retransmit(Time(50), FIRST);
        undo
    }

    #[test]
    fn an_ack_that_echoes_a_stamp_from_before_the_retransmission_is_for_the_original() {
        assert!(reduced(true, false).on_ack(&ack(49), true, None));
        assert!(!reduced(true, false).on_ack(&ack(50), true, None));
        assert!(!reduced(false, true).on_ack(&ack(49), true, None));
        let mut undo = reduced(true, false);
        assert!(!undo.on_ack(&ack(50), true, None));
        assert!(!undo.on_ack(&ack(49), true, None), "only the first ACK is judged");
    }

    #[test]
    fn when_every_retransmission_arrived_twice_none_was_needed() {
        let mut undo = reduced(false, true);
        undo.on_retransmit(Time(51), Range { start: 2_000, end: 3_000 });
        assert!(!undo.on_ack(&ack(50), true, Some(FIRST)));
        assert!(undo.on_ack(&ack(50), true, Some(Range { start: 2_000, end: 3_000 })));
    }

    #[test]
    fn what_the_network_copied_is_no_retransmission_that_arrived_twice() {
        let mut undo = reduced(false, true);
        assert!(!undo.on_ack(&ack(50), true, Some(Range { start: 7_000, end: 8_000 })));
        assert!(!undo.on_ack(&ack(50), true, Some(Range { start: 8_000, end: 9_000 })));
        assert!(undo.on_ack(&ack(50), true, Some(FIRST)));
    }

    #[test]
    fn a_loss_that_was_repaired_twice_was_a_loss() {
        let mut undo = reduced(false, true);
        undo.on_retransmit(Time(90), FIRST);
        assert!(!undo.on_ack(&ack(90), true, Some(FIRST)));
    }
}
