//! The queue of a host before its driver: a queueing discipline that the driver's ring is filled from.

use crate::codel::{Dropped, Fifo};
use crate::departing::Departing;
use crate::queue::{Backlog, Queue, Verdict};
use crate::{Packet, Rng};
use units::Time;

/// A packet with the lane that it is for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bound<F> {
    pub(crate) lane: u32,
    pub(crate) frame: F,
}

impl<F: Packet> Packet for Bound<F> {
    fn bytes(&self) -> u32 {
        self.frame.bytes()
    }

    fn path(&self) -> u32 {
        self.frame.path()
    }

    fn ecn_capable(&self) -> bool {
        self.frame.ecn_capable()
    }

    fn mark(&mut self) {
        self.frame.mark();
    }
}

enum Waiting<F> {
    InOrder(Fifo<Bound<F>>),
    Departing(Departing<Bound<F>>),
}

/// Packets of a station that the driver has not taken yet.
pub(crate) struct Host<F> {
    queue: Queue,
    waiting: Waiting<F>,
    dropped: Dropped<Bound<F>>,
}

impl<F: Packet> Host<F> {
    pub(crate) fn new(queue: Queue) -> Self {
        let waiting = match Departing::new(&queue) {
            Some(departing) => Waiting::Departing(departing),
            None => Waiting::InOrder(Fifo::new()),
        };
        Host { queue, waiting, dropped: Dropped::new() }
    }

    /// Waiting packets and their bytes.
    pub(crate) fn backlog(&self) -> (u64, u64) {
        match &self.waiting {
            Waiting::InOrder(fifo) => (fifo.len(), fifo.bytes()),
            Waiting::Departing(departing) => departing.waiting(),
        }
    }

    /// Waiting packets.
    pub(crate) fn len(&self) -> u64 {
        self.backlog().0
    }

    /// A packet comes; returns whether it is taken.
    pub(crate) fn offer(&mut self, now: Time, mut packet: Bound<F>, rng: &mut impl Rng) -> bool {
        let (packets, bytes) = self.backlog();
        let backlog = Backlog { packets, bytes, idle_since: Time::NEVER };
        let capable = packet.ecn_capable();
        match self.queue.judge(now, packet.bytes(), capable, backlog, rng) {
            Verdict::Accept => {}
            Verdict::Mark => packet.mark(),
            Verdict::Full | Verdict::Early => return false,
        }
        match &mut self.waiting {
            Waiting::InOrder(fifo) => fifo.push(now, packet),
            Waiting::Departing(departing) => departing.enqueue(now, packet, &mut self.dropped),
        }
        true
    }

    /// The next packet for the driver.
    pub(crate) fn take(&mut self, now: Time) -> Option<Bound<F>> {
        match &mut self.waiting {
            Waiting::InOrder(fifo) => fifo.pop().map(|(_, packet)| packet),
            Waiting::Departing(departing) => departing.dequeue(now, &mut self.dropped),
        }
    }

    /// A packet that the discipline has dropped after it had taken it.
    pub(crate) fn dropped(&mut self) -> Option<Bound<F>> {
        self.dropped.packets.pop_front()
    }
}
