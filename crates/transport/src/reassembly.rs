//! Reassembly of the connection's data from all paths, in order.

use crate::ranges::RangeSet;
use std::hint::select_unpredictable;
use wire::{Data, Range};

/// Received data of a connection, and the buffer for it.
#[derive(Debug)]
pub(crate) struct Reassembly {
    /// Next byte expected.
    pub(crate) next: u64,
    /// Where the last of the ranges that wait for earlier bytes ends; the last number if there is
    /// none.
    newest: u64,
    /// The buffer announced now, in bytes.
    pub(crate) buffer: u64,
    /// Absent until a range has waited.
    beyond: Option<Box<Beyond>>,
}

/// Ranges that wait for earlier bytes.
#[derive(Debug, Default)]
struct Beyond {
    /// The last range may have grown up to `newest`.
    ranges: RangeSet,
    /// Where the first range starts; the last number if there is none.
    first: u64,
}

impl Reassembly {
    pub(crate) fn new(buffer: u64) -> Self {
        Reassembly { next: 0, newest: u64::MAX, buffer, beyond: None }
    }

    /// Adds `data` of a path that now expects `next`; the order of an `only` path is the
    /// connection's.
    #[inline(always)] // runs for every segment
    pub(crate) fn follow(&mut self, data: &Data, next: u64, only: bool) {
        match only {
            true => self.next = next,
            false => self.insert(Range { start: data.dsn, end: data.dsn + u64::from(data.len) }),
        }
    }

    /// Adds the bytes of `range`; bytes beyond the buffer are dropped.
    ///
    /// With several paths, whether data is in order or continues the newest range is as hard to
    /// predict for a processor as which path is faster: both cases take the same instructions.
    #[inline(always)] // runs for every segment
    pub(crate) fn insert(&mut self, range: Range) {
        let Reassembly { next, newest, .. } = *self;
        let first = self.beyond.as_ref().map_or(u64::MAX, |beyond| beyond.first);
        let in_order = range.start == next;
        // The last byte that it may have, and that before its first one.
        let most = select_unpredictable(in_order, first, self.edge() + 1);
        let expected = select_unpredictable(in_order, next, newest);
        if range.start != expected || range.end >= most {
            return self.insert_unusual(range);
        }
        self.next = select_unpredictable(in_order, range.end, next);
        self.newest = select_unpredictable(in_order, newest, range.end);
    }

    #[inline(never)] // keeps the code of usual data short
    fn insert_unusual(&mut self, range: Range) {
        if range.end <= self.next.max(range.start) {
            return; // nothing new, or an empty range
        }
        let edge = self.edge();
        let Beyond { ranges, first } = &mut **self.beyond.get_or_insert_default();
        ranges.extend_to(self.newest);
        if range.start <= self.next {
            self.next = ranges.take_front_at(range.end);
        } else if range.end <= edge {
            ranges.insert(range);
        }
        (*first, self.newest) = (ranges.start(), ranges.end());
    }

    /// The right edge of the receive window.
    pub(crate) fn edge(&self) -> u64 {
        self.next + self.buffer
    }

    /// Bytes that wait for earlier bytes.
    pub(crate) fn held(&self) -> u64 {
        let held = |Beyond { ranges, .. }: &Beyond| ranges.bytes() + (self.newest - ranges.end());
        self.beyond.as_deref().map_or(0, held)
    }

    /// Number of separate ranges that wait for earlier bytes.
    pub(crate) fn fragments(&self) -> usize {
        self.beyond.as_ref().map_or(0, |beyond| beyond.ranges.ranges().len())
    }

    /// Missing ranges below bytes that have arrived, lowest first.
    pub(crate) fn missing(&self) -> impl Iterator<Item = Range> + '_ {
        self.beyond.iter().flat_map(|beyond| beyond.ranges.gaps(self.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn data_in_any_order_is_reassembled_as_a_plain_list_of_bytes_says(
            inserted in prop::collection::vec((0u64..60, 0u64..12, any::<bool>()), 0..40),
        ) {
            const BUFFER: u64 = 40;
            let (mut data, mut model) = (Reassembly::new(BUFFER), [false; 120]);
            let mut newest = 0;
            for (start, len, continues) in inserted {
                let start = if continues { newest } else { start };
                let range = Range { start, end: start + len };
                data.insert(range);
                let next = |model: &[bool]| model.iter().take_while(|held| **held).count() as u64;
                let before = next(&model);
                if range.start <= before || range.end <= before + BUFFER {
                    (range.start..range.end).for_each(|byte| model[byte as usize] = true);
                    newest = range.end.min(60);
                }
                let next = next(&model);
                prop_assert_eq!(data.next, next);
                let held = model.iter().filter(|held| **held).count() as u64;
                prop_assert_eq!(data.held(), held - next);
                let starts = model.windows(2).filter(|pair| !pair[0] && pair[1]).count();
                prop_assert_eq!(data.fragments(), starts - usize::from(next == 0 && model[0]));
                let last = model.iter().rposition(|held| *held).map_or(0, |last| last as u64);
                let missing = (next..last).filter(|byte| !model[*byte as usize]);
                prop_assert!(data.missing().flat_map(|gap| gap.start..gap.end).eq(missing));
            }
        }
    }
}
