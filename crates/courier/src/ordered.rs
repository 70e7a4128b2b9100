//! The bytes of a connection in order, from pieces in any order.

use std::collections::{BTreeMap, VecDeque};

/// Pieces that wait for earlier bytes. They do not overlap.
#[derive(Debug)]
pub(crate) struct Ordered {
    /// Next byte expected.
    next: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
    /// Pieces in order that have not been taken.
    ready: VecDeque<Vec<u8>>,
    /// Bytes beyond `next` that may wait.
    buffer: u64,
    /// Most pieces that may wait.
    most: usize,
}

impl Ordered {
    pub(crate) fn new(buffer: u64, most: usize) -> Self {
        Ordered { next: 0, waiting: BTreeMap::new(), ready: VecDeque::new(), buffer, most }
    }

    /// Bytes from `start` on have arrived. Those beyond the buffer are dropped, by the rule of the
    /// endpoint's reassembly. Returns whether the number of pieces is within the limit.
    #[must_use]
    pub(crate) fn insert(&mut self, start: u64, mut bytes: Vec<u8>) -> bool {
        let end = start + bytes.len() as u64;
        if end <= self.next || (start > self.next && end > self.next + self.buffer) {
            return true;
        }
        if start == self.next && self.waiting.is_empty() {
            self.next = end; // the usual case
            self.ready.push_back(bytes);
            return true;
        }
        let mut at = start.max(self.next);
        bytes.drain(..(at - start) as usize);
        // The piece that begins before it may cover its front.
        if let Some((before, piece)) = self.waiting.range(..=at).next_back() {
            let covered = before + piece.len() as u64;
            let skip = covered.saturating_sub(at).min(bytes.len() as u64);
            bytes.drain(..skip as usize);
            at += skip;
        }
        while !bytes.is_empty() {
            let next = self.waiting.range(at..).next();
            let (gap, covered) = next.map_or((end, end), |(start, piece)| {
                ((*start).min(end), (start + piece.len() as u64).min(end))
            });
            let rest = bytes.split_off((gap - at) as usize);
            if !bytes.is_empty() {
                self.waiting.insert(at, bytes);
            }
            bytes = rest;
            bytes.drain(..covered.saturating_sub(gap) as usize);
            at = covered.max(gap);
        }
        while let Some(entry) = self.waiting.first_entry().filter(|it| *it.key() == self.next) {
            let piece = entry.remove();
            self.next += piece.len() as u64;
            self.ready.push_back(piece);
        }
        self.waiting.len() <= self.most
    }

    /// The next piece in order.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    /// Next byte expected.
    #[cfg(test)]
    fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(start: u64, len: u64) -> Vec<u8> {
        (start..start + len).map(|at| (at % 251) as u8).collect()
    }

    proptest! {
        #[test]
        fn pieces_in_any_order_with_any_overlap_give_the_bytes_in_order(
            pieces in prop::collection::vec((0u64..600, 1u64..90), 1..80),
        ) {
            let mut ordered = Ordered::new(10_000, 1000);
            let (mut arrived, mut read) = ([false; 700], vec![]);
            for (start, len) in pieces {
                prop_assert!(ordered.insert(start, bytes(start, len)));
                (start..start + len).for_each(|at| arrived[at as usize] = true);
                while let Some(piece) = ordered.take() {
                    read.extend(piece);
                }
                let whole = arrived.iter().take_while(|arrived| **arrived).count();
                prop_assert_eq!(ordered.next(), whole as u64);
                prop_assert_eq!(&read, &bytes(0, whole as u64));
            }
            let ends: Vec<_> = ordered.waiting.iter().map(|(at, it)| (*at, at + it.len() as u64)).collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        }
    }

    #[test]
    fn what_is_beyond_the_buffer_is_dropped_and_too_many_pieces_are_told() {
        let mut ordered = Ordered::new(100, 3);
        assert!(ordered.insert(101, vec![1]));
        assert!(ordered.waiting.is_empty());
        assert!((1..4).all(|n| ordered.insert(10 * n, vec![1])));
        assert!(!ordered.insert(50, vec![1]));
    }
}
