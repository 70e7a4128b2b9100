//! Bytes that arrived for the application, in their places.
//!
//! [`transport::tcp::Receiver`] knows which bytes have arrived; the bytes themselves are here.

use std::collections::VecDeque;

/// The receive buffer of a connection.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// The bytes from `start` on; where nothing has arrived yet there are zeros.
    bytes: VecDeque<u8>,
    /// Number of the next byte that the application reads.
    start: u64,
}

impl Inbox {
    /// Number of the next byte that the application reads.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Puts `bytes`, the first of which has the number `at`, into their places. The caller has
    /// checked that they are within the receive window, which bounds the memory.
    pub(crate) fn put(&mut self, at: u64, bytes: &[u8]) {
        let skip = self.start.saturating_sub(at).min(bytes.len() as u64) as usize;
        let bytes = &bytes[skip..];
        if bytes.is_empty() {
            return;
        }
        let from = (at + skip as u64 - self.start) as usize;
        if from == self.bytes.len() {
            return self.bytes.extend(bytes); // the usual case
        }
        let to = from + bytes.len();
        if self.bytes.len() < to {
            self.bytes.resize(to, 0);
        }
        let (front, back) = self.bytes.as_mut_slices();
        let split = front.len();
        let middle = (split.clamp(from, to)) - from;
        front[from.min(split)..to.min(split)].copy_from_slice(&bytes[..middle]);
        back[from.max(split) - split..to.max(split) - split].copy_from_slice(&bytes[middle..]);
    }

    /// Reads into `out` what has arrived below `edge`; returns how many bytes.
    pub(crate) fn read(&mut self, edge: u64, out: &mut [u8]) -> usize {
        let ready = edge.saturating_sub(self.start).min(out.len() as u64) as usize;
        let (front, back) = self.bytes.as_slices();
        let split = front.len().min(ready);
        out[..split].copy_from_slice(&front[..split]);
        out[split..ready].copy_from_slice(&back[..ready - split]);
        self.bytes.drain(..ready);
        self.start += ready as u64;
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_that_arrive_in_any_order_are_read_in_theirs(
            pieces in prop::collection::vec((0..200_u64, 0..40_usize), 0..40), step in 1..50_usize
        ) {
            let source: Vec<u8> = (0..=255).collect();
            let mut inbox = Inbox::default();
            let mut here = [false; 256];
            let mut read: Vec<u8> = Vec::new();
            for (at, length) in pieces {
                let range = at as usize..at as usize + length;
                inbox.put(at, &source[range.clone()]);
                here[range].fill(true);
                let edge = here.iter().position(|it| !it).unwrap() as u64;
                let mut out = vec![0; step];
                let count = inbox.read(edge, &mut out);
                read.extend(&out[..count]);
            }
            prop_assert_eq!(&read[..], &source[..read.len()]);
            prop_assert_eq!(read.len() as u64, inbox.start());
        }
    }
}
