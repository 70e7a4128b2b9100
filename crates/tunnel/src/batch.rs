//! Datagrams that leave in one call: those of one route, all of one length but the last, as the
//! kernel's segmentation takes them.

use courier::{Route, Transmit};

/// Bytes of a batch: the kernel makes it one packet of IP first, with 40 bytes of header at most.
const MOST_BYTES: usize = u16::MAX as usize - 48;

/// Datagrams of one route, one after the other.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) route: Route,
    /// Bytes of each datagram; the last may be shorter.
    pub(crate) segment: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Batch {
    /// Its datagrams in order.
    pub(crate) fn datagrams(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.bytes.chunks(self.segment.max(1))
    }

    fn takes(&self, len: usize, most: usize) -> bool {
        let whole = self.bytes.len().is_multiple_of(self.segment);
        let count = self.bytes.len() / self.segment;
        whole
            && (1..=self.segment).contains(&len)
            && count < most
            && self.bytes.len() + len <= MOST_BYTES
    }
}

/// Batches of all routes that may take more datagrams.
#[derive(Debug, Default)]
pub(crate) struct Batches(Vec<Batch>);

impl Batches {
    /// Adds a datagram to the batch of its route, of at most `most` datagrams. Returns the batch
    /// that has to leave before it.
    pub(crate) fn push(&mut self, transmit: Transmit, most: usize) -> Option<Batch> {
        let Transmit { route, bytes } = transmit;
        let segment = bytes.len().max(1);
        match self.0.iter_mut().find(|batch| batch.route == route) {
            Some(batch) if batch.takes(bytes.len(), most) => {
                batch.bytes.extend(bytes);
                None
            }
            Some(batch) => Some(std::mem::replace(batch, Batch { route, segment, bytes })),
            None => {
                self.0.push(Batch { route, segment, bytes });
                None
            }
        }
    }

    /// A batch that waits.
    pub(crate) fn pop(&mut self) -> Option<Batch> {
        self.0.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_route_gets_its_datagrams_in_order_and_no_batch_exceeds_its_limits(
            sent in prop::collection::vec(
                (0usize..3, prop_oneof![4 => Just(1400usize), 1 => 1usize..1500]), 0..200,
            ),
            most in 1usize..70,
        ) {
            let route = |local| Route { local, remote: ([192, 0, 2, 1], 9).into() };
            let (mut batches, mut left) = (Batches::default(), vec![]);
            for (at, (local, len)) in sent.iter().enumerate() {
                let transmit = Transmit { route: route(*local), bytes: vec![at as u8; *len] };
                left.extend(batches.push(transmit, most));
            }
            left.extend(std::iter::from_fn(|| batches.pop()));
            for own in 0..3 {
                let mine = left.iter().filter(|batch| batch.route == route(own));
                let got: Vec<_> = mine.flat_map(|it| it.datagrams()).map(|it| (it[0], it.len())).collect();
                let of = |(at, (local, len)): (usize, &(usize, usize))| (*local == own).then_some((at as u8, *len));
                let want: Vec<_> = sent.iter().enumerate().filter_map(of).collect();
                prop_assert_eq!(got, want);
            }
            for batch in &left {
                prop_assert!(batch.datagrams().len() <= most && batch.bytes.len() <= MOST_BYTES);
            }
        }
    }
}
