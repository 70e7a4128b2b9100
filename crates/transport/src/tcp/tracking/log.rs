//! The log of outstanding segments, with the times at which they were sent.

use std::collections::VecDeque;
use units::Time;
use wire::{MAX_SACKS, Range};

/// A segment as first sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) range: Range,
    /// When it was last sent.
    pub(crate) at: Time,
    /// Whether it was sent more than once.
    pub(crate) again: bool,
    /// Whether it is known to have arrived.
    pub(crate) arrived: bool,
    pub(crate) stamp: Stamp,
}

/// State of the delivery rate's estimator when a segment was sent; symbols as in `rate.rs`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamp {
    /// `P.delivered`, in bytes.
    pub(super) delivered: u64,
    /// `P.delivered_time`.
    pub(super) delivered_time: Time,
    /// `P.first_sent_time`.
    pub(super) first_sent_time: Time,
    /// `P.is_app_limited`.
    pub(super) app_limited: bool,
}

/// Outstanding segments in the order of their bytes.
#[derive(Debug, Default)]
pub(crate) struct SentLog {
    sent: VecDeque<Sent>,
}

impl SentLog {
    pub(crate) fn sent(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter()
    }

    /// One past the last byte sent; zero if nothing is outstanding.
    pub(crate) fn end(&self) -> u64 {
        self.sent.back().map_or(0, |sent| sent.range.end)
    }

    pub(crate) fn on_transmit(&mut self, now: Time, range: Range, stamp: Stamp) {
        if range.start >= self.end() {
            self.sent.push_back(Sent { range, at: now, again: false, arrived: false, stamp });
            return;
        }
        let first = self.sent.partition_point(|sent| sent.range.end <= range.start);
        for sent in self.sent.iter_mut().skip(first).take_while(|it| it.range.start < range.end) {
            (sent.at, sent.again, sent.stamp) = (now, true, stamp);
        }
    }

    /// Marks segments below `una` and in `sacks` as arrived; calls `tell` once for each of them.
    pub(crate) fn on_ack(&mut self, una: u64, sacks: &[Range], mut tell: impl FnMut(&Sent)) {
        while let Some(sent) = self.sent.front().filter(|sent| sent.range.end <= una) {
            if !sent.arrived {
                tell(sent);
            }
            self.sent.pop_front();
        }
        // In the order of their bytes: the newest block comes first, and would make older ones look
        // reordered.
        let mut blocks = [Range::default(); MAX_SACKS];
        let blocks = &mut blocks[..sacks.len()];
        blocks.copy_from_slice(sacks);
        blocks.sort_unstable_by_key(|block| block.start);
        for block in blocks {
            let first = self.sent.partition_point(|sent| sent.range.start < block.start);
            let inside = self.sent.iter_mut().skip(first);
            for sent in inside.take_while(|it| it.range.end <= block.end).filter(|it| !it.arrived) {
                sent.arrived = true;
                tell(sent);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_segment_is_told_of_once_when_it_has_arrived() {
        let mut log = SentLog::default();
        let range = |i: u64| Range { start: 10 * i, end: 10 * i + 10 };
        (0..5).for_each(|i| log.on_transmit(Time(i), range(i), Stamp::default()));
        log.on_transmit(Time(9), range(1), Stamp::default());
        let mut told = Vec::new();
        let sacks = [Range { start: 20, end: 40 }];
        log.on_ack(10, &sacks, |sent| told.push((sent.range.start, sent.again)));
        log.on_ack(10, &sacks, |sent| told.push((sent.range.start, sent.again)));
        log.on_ack(50, &[], |sent| told.push((sent.range.start, sent.again)));
        assert_eq!(told, [(0, false), (20, false), (30, false), (10, true), (40, false)]);
        assert_eq!(log.end(), 0);
    }
}
