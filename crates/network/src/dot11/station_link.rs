//! The packets of one station for another, in order.

use crate::radio::LastReception;
use std::collections::VecDeque;

/// A packet that waits for its acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending<P> {
    pub(super) packet: P,
    /// Its position among all packets of the station.
    pub(super) order: u64,
    pub(super) attempts: u32,
    /// All attempts of this packet will fail.
    pub(super) doomed: bool,
    /// The receiver has received it.
    pub(super) received: bool,
    /// The sender has finished it: acknowledged or given up.
    pub(super) done: bool,
}

/// Packets of one station to one other, or to all.
#[derive(Clone, Debug)]
pub(super) struct StationLink<P> {
    pub(super) from: usize,
    /// `None` for a broadcast.
    pub(super) to: Option<usize>,
    pub(super) queue: VecDeque<Pending<P>>,
    /// Number of packets from the front that the receiver has passed on.
    released: usize,
    /// The last probabilities with which data, and an answer to it, was received.
    pub(super) last: [LastReception; 2],
}

impl<P: Copy> StationLink<P> {
    pub(super) fn new(from: usize, to: Option<usize>) -> Self {
        StationLink { from, to, queue: VecDeque::new(), released: 0, last: Default::default() }
    }

    pub(super) fn push(&mut self, packet: P, order: u64) {
        let (attempts, doomed, received, done) = (0, false, false, false);
        self.queue.push_back(Pending { packet, order, attempts, doomed, received, done });
    }

    /// Packets not yet acknowledged or given up, oldest first.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Pending<P>> {
        self.queue.iter().filter(|waiting| !waiting.done)
    }

    /// The first pending packet. Between exchanges it is the first of all: [`StationLink::forget`]
    /// removes finished ones before it.
    pub(super) fn next(&self) -> Option<&Pending<P>> {
        let front = self.queue.front();
        debug_assert!(front.is_none_or(|front| !front.done), "a finished packet was kept");
        front
    }

    /// Calls `each` with the first `packets` pending packets.
    #[inline(always)] // runs for every frame
    pub(super) fn each_pending(&mut self, packets: usize, mut each: impl FnMut(&mut Pending<P>)) {
        if packets == 1
            && let Some(front) = self.queue.front_mut()
            && !front.done
        {
            return each(front); // mostly
        }
        let (mut left, mut at) = (packets, 0);
        while left > 0
            && let Some(waiting) = self.queue.get_mut(at)
        {
            at += 1;
            if !waiting.done {
                left -= 1;
                each(waiting);
            }
        }
    }

    /// The next packet that the receiver passes on: received packets in order, without those given
    /// up.
    #[inline] // runs for every packet
    pub(super) fn release(&mut self) -> Option<P> {
        while let Some(next) = self.queue.get(self.released) {
            if !next.received && !next.done {
                return None;
            }
            self.released += 1;
            if next.received {
                return Some(next.packet);
            }
        }
        None
    }

    /// Removes finished packets from the front.
    #[inline] // runs for every packet
    pub(super) fn forget(&mut self) {
        while self.released > 0 && self.queue.front().is_some_and(|front| front.done) {
            self.queue.pop_front();
            self.released -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_passed_on_in_order_past_those_that_were_given_up() {
        let mut link = StationLink::new(0, Some(1));
        (0..4u64).for_each(|order| link.push(order, order));
        link.queue[1].received = true;
        assert_eq!(link.release(), None);
        link.queue[0].received = true;
        assert_eq!([link.release(), link.release(), link.release()], [Some(0), Some(1), None]);
        link.queue[2].done = true;
        link.queue[3].received = true;
        assert_eq!(link.release(), Some(3));
        link.queue.iter_mut().for_each(|waiting| waiting.done = true);
        link.forget();
        assert!(link.queue.is_empty() && link.released == 0);
    }
}
