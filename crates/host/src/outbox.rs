//! Bytes that are to be sent, until they are acknowledged.
//!
//! A connection has them from the write of the application until the peer's connection has
//! acknowledged them, and each subflow those that it has sent until they are acknowledged on it
//! (RFC 8684 §3.3.2): a subflow that was overtaken by another one still sends its own bytes again.

use std::collections::VecDeque;
use wire::Range;

/// A send buffer.
#[derive(Debug)]
pub(crate) struct Outbox {
    bytes: VecDeque<u8>,
    /// Number of the first byte in it.
    start: u64,
    /// Most bytes in it.
    limit: usize,
}

impl Outbox {
    /// A buffer for at most `limit` bytes, the first of which will have the number `start`.
    pub(crate) fn new(start: u64, limit: usize) -> Self {
        Outbox { bytes: VecDeque::new(), start, limit }
    }

    /// Takes as many of `bytes` as there is room for, and returns how many.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        self.bytes.extend(&bytes[..taken]);
        taken
    }

    /// Bytes for which there is room.
    pub(crate) fn room(&self) -> usize {
        self.limit - self.bytes.len()
    }

    /// One past the last byte written.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Forgets the bytes below `edge`.
    pub(crate) fn acknowledge(&mut self, edge: u64) {
        let known = edge.min(self.end()).saturating_sub(self.start);
        self.bytes.drain(..known as usize);
        self.start += known;
    }

    /// The bytes of `range`; `None` if one of them is not here.
    pub(crate) fn copy(&self, range: Range) -> Option<Vec<u8>> {
        let from = range.start.checked_sub(self.start)? as usize;
        let to = range.end.checked_sub(self.start)? as usize;
        (from <= to && to <= self.bytes.len()).then(|| {
            let (front, back) = self.bytes.as_slices();
            let split = front.len();
            let mut out = Vec::with_capacity(to - from);
            out.extend(&front[from.min(split)..to.min(split)]);
            out.extend(&back[from.max(split) - split..to.max(split) - split]);
            out
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_until_they_are_acknowledged_and_no_longer() {
        let mut outbox = Outbox::new(0, 10);
        assert_eq!(outbox.write(b"abcdefghijkl"), 10);
        outbox.acknowledge(4);
        assert_eq!(outbox.write(b"klmnop"), 4);
        assert_eq!(outbox.copy(Range { start: 4, end: 14 }).unwrap(), b"efghijklmn");
        assert_eq!(outbox.copy(Range { start: 3, end: 5 }), None);
        assert_eq!(outbox.copy(Range { start: 13, end: 15 }), None);
        outbox.acknowledge(99);
        assert_eq!((outbox.end(), outbox.room()), (14, 10));
    }
}
