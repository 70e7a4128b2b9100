//! Tail-loss probes: when ACKs are missing, one segment is sent to trigger an ACK.
//!
//! Source: RFC 8985 §7 (symbols `TLP.end_seq`, `TLP.is_retrans`, `TLP.max_ack_delay`).

use units::Span;
use wire::{Ack, Range};

/// How long the peer may delay an ACK of a single segment (`TLP.max_ack_delay`).
const MAX_ACK_DELAY: Span = Span::millis(200);
/// The timeout before the first round-trip sample.
const FIRST: Span = Span::millis(1000);

/// The state of one path.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// A probe must be sent now.
    pub(crate) due: bool,
    end_seq: Option<u64>,
    is_retrans: bool,
}

impl Probe {
    /// §7.2: how long to wait for an ACK before probing; `None` while a probe is outstanding.
    pub(crate) fn timeout(&self, srtt: Span, one_segment: bool) -> Option<Span> {
        if self.end_seq.is_some() {
            return None;
        }
        Some(match srtt {
            Span::ZERO => FIRST,
            _ if one_segment => Span(2 * srtt.0) + MAX_ACK_DELAY,
            _ => Span(2 * srtt.0),
        })
    }

    /// §7.3: the probe was sent; all data below `nxt` is outstanding.
    pub(crate) fn on_sent(&mut self, nxt: u64, is_retrans: bool) {
        *self = Probe { due: false, end_seq: Some(nxt), is_retrans };
    }

    /// Recovery or a timeout takes over.
    pub(crate) fn forget(&mut self) {
        *self = Probe::default();
    }

    /// §7.4.2: returns whether the probe repaired a loss, which then counts as a loss. `advanced`:
    /// the ACK acknowledged new data, and all data below `una` is acknowledged now.
    pub(crate) fn on_ack(
        &mut self,
        una: u64,
        advanced: bool,
        ack: &Ack,
        dsack: Option<Range>,
    ) -> bool {
        let Some(end_seq) = self.end_seq.filter(|end_seq| una >= *end_seq) else {
            return false;
        };
        let both_arrived = dsack.is_some_and(|range| range.end == end_seq)
            || (!advanced && ack.ack == end_seq && ack.sacks.is_empty());
        let repaired = self.is_retrans && !both_arrived && una > end_seq;
        if !self.is_retrans || both_arrived || repaired {
            self.end_seq = None;
        }
        repaired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;
    use wire::{Flags, Sacks};

    fn ack(ack: u64, sacks: Option<Range>) -> Ack {
        let (echo, sacks) = (Time::ZERO, Sacks::new(sacks));
        Ack {
            ack,
            data_ack: ack,
            window_edge: 1 << 20,
            echo,
            transit: Span::ZERO,
            sacks,
            flags: Flags::NONE,
        }
    }

    /// Whether a probe that retransmitted 9000..10000 is found by these ACKs to have repaired a
    /// loss.
    fn repaired(acks: &[(u64, bool, Option<Range>)]) -> bool {
        let mut probe = Probe::default();
        probe.on_sent(10_000, true);
        acks.iter()
            .any(|(una, advanced, dsack)| probe.on_ack(*una, *advanced, &ack(*una, *dsack), *dsack))
    }

    #[test]
    fn a_probe_repaired_a_loss_unless_its_copy_is_reported_too() {
        let copy = Range { start: 9_000, end: 10_000 };
        assert!(repaired(&[(10_000, true, None), (11_000, true, None)]));
        assert!(!repaired(&[(10_000, true, Some(copy)), (11_000, true, None)]));
        assert!(!repaired(&[
            (10_000, true, None),
            (10_000, false, Some(copy)),
            (11_000, true, None)
        ]));
        assert!(!repaired(&[(10_000, true, None), (10_000, false, None), (11_000, true, None)]));
    }

    #[test]
    fn a_second_probe_waits_until_the_first_one_is_answered() {
        let mut probe = Probe::default();
        assert_eq!(probe.timeout(Span::millis(50), false), Some(Span::millis(100)));
        assert_eq!(probe.timeout(Span::millis(50), true), Some(Span::millis(300)));
        probe.on_sent(5_000, false);
        assert_eq!(probe.timeout(Span::millis(50), false), None);
        assert!(!probe.on_ack(5_000, true, &ack(5_000, None), None));
        assert!(probe.timeout(Span::millis(50), false).is_some());
    }
}
