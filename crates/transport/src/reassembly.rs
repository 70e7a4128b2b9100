//! Reassembly of the connection's data from all paths, in order.

use crate::ranges::RangeSet;
use wire::Range;

/// Received data of a connection, and the buffer for it.
#[derive(Debug)]
pub(crate) struct Reassembly {
    /// Next byte expected.
    pub(crate) next: u64,
    out_of_order: RangeSet,
    /// The buffer announced now, in bytes.
    pub(crate) buffer: u64,
}

impl Reassembly {
    pub(crate) fn new(buffer: u64) -> Self {
        Reassembly { next: 0, out_of_order: RangeSet::default(), buffer }
    }

    /// Adds the bytes of `range`; bytes beyond the buffer are dropped.
    #[inline(always)] // runs for every segment
    pub(crate) fn insert(&mut self, range: Range) {
        if range.end <= self.next.max(range.start) {
            return; // nothing new, or an empty range
        }
        if range.start <= self.next {
            self.next = match self.out_of_order.is_empty() {
                true => range.end,
                false => self.out_of_order.take_front_at(range.end),
            };
        } else if range.end <= self.next + self.buffer {
            self.out_of_order.insert(range);
        }
    }

    /// The right edge of the receive window.
    pub(crate) fn edge(&self) -> u64 {
        self.next + self.buffer
    }

    /// Bytes that wait for earlier bytes.
    pub(crate) fn held(&self) -> u64 {
        self.out_of_order.bytes()
    }

    /// Number of separate ranges that wait for earlier bytes.
    pub(crate) fn fragments(&self) -> usize {
        self.out_of_order.ranges().len()
    }

    /// Missing ranges below bytes that have arrived, lowest first.
    pub(crate) fn missing(&self) -> impl Iterator<Item = Range> + '_ {
        self.out_of_order.gaps(self.next)
    }
}
