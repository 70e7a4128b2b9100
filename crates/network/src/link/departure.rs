//! The queue of a link, if it decides when a packet departs: it holds the waiting packets, and the
//! transmitter takes the next packet when it can send one.

use super::{Link, Offer};
use crate::Packet;
use crate::queue::{Backlog, DepartureQueue, Dropped};
use units::Time;

/// A queue that decides on departure, and the packets that it has dropped.
pub(super) struct Departure<P> {
    queue: DepartureQueue<P>,
    dropped: Dropped<P>,
    /// Packets dropped on arrival, or taken by [`Link::take_dropped`].
    pub(super) drops: u64,
}

impl<P: Packet> Departure<P> {
    pub(super) fn new(queue: DepartureQueue<P>) -> Self {
        Departure { queue, dropped: Dropped::new(), drops: 0 }
    }

    pub(super) fn marks(&self) -> u64 {
        self.dropped.marks
    }

    /// Packets that wait, and dropped packets not yet taken.
    pub(super) fn carried(&self) -> usize {
        self.queue.backlog().0 as usize + self.dropped.packets.len()
    }
}

impl<P: Packet> Link<P> {
    #[inline(always)] // runs for every hop into such a link, and out of it
    pub(super) fn departure(&self) -> Option<&Departure<P>> {
        self.extras.as_ref()?.departure.as_ref()
    }

    fn departure_mut(&mut self) -> Option<&mut Departure<P>> {
        self.extras.as_mut()?.departure.as_mut()
    }

    /// Packets that wait for a decision on departure, and their bytes.
    pub(super) fn undecided(&self) -> (u64, u64) {
        self.departure().map_or((0, 0), |departure| departure.queue.backlog())
    }

    /// The backlog, given its part on the line.
    #[inline(never)]
    pub(super) fn backlog_with_undecided(&self, on_line: Backlog) -> Backlog {
        let (packets, bytes) = self.undecided();
        Backlog { packets: packets + on_line.packets, bytes: bytes + on_line.bytes, ..on_line }
    }

    /// Adds a packet to the queue, if there is room.
    pub(super) fn enqueue(&mut self, now: Time, packet: P) -> Offer {
        let Some(Departure { queue, dropped, drops }) = self.departure_mut() else {
            return Offer::Dropped;
        };
        if !queue.enqueue(now, packet, dropped) {
            *drops += 1;
            return Offer::Dropped;
        }
        self.serve(now);
        Offer::Taken
    }

    /// Whether a queue that decides on departure is all that it has beside a plain link.
    #[inline(always)] // runs for every hop into such a link, and out of it
    pub(super) fn only_departs(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.only_departs)
    }

    /// The transmitter takes from the queue the packets that it can send at `now`.
    #[inline(always)] // mostly nothing
    pub(super) fn serve(&mut self, now: Time) {
        if self.ready() <= now {
            self.serve_ready(now);
        }
    }

    /// [`Link::serve`] with a transmitter that can send.
    fn serve_ready(&mut self, now: Time) {
        while self.ready() <= now {
            let Some(Departure { queue, dropped, .. }) = self.departure_mut() else {
                return;
            };
            let Some(packet) = queue.dequeue(now, dropped) else {
                return;
            };
            match self.schedule() {
                None => self.carry(now, packet),
                Some(_) => self.carry_extended(now, packet),
            };
        }
    }

    /// Whether [`Link::take_dropped`] returns a packet.
    #[inline(always)] // runs for every hop into such a link, and out of it
    pub fn has_dropped(&self) -> bool {
        self.departure().is_some_and(|departure| !departure.dropped.packets.is_empty())
    }

    /// A packet that the queue dropped after accepting it.
    pub fn take_dropped(&mut self) -> Option<P> {
        let departure = self.departure_mut()?;
        let packet = departure.dropped.packets.pop_front()?;
        departure.drops += 1;
        Some(packet)
    }
}
