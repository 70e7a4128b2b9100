//! The queue of a host before its driver: a queueing discipline that the driver's ring is filled from.

use crate::codel::{Dropped, Fifo};
use crate::departing::Departing;
use crate::queue::{Backlog, Queue, Verdict};
use crate::{Packet, Rng};
use units::Time;

/// A packet with the link that it is for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkPacket<P> {
    pub(crate) link: u32,
    pub(crate) packet: P,
}

impl<P: Packet> Packet for LinkPacket<P> {
    fn bytes(&self) -> u32 {
        self.packet.bytes()
    }

    fn path(&self) -> u32 {
        self.packet.path()
    }

    fn ecn_capable(&self) -> bool {
        self.packet.ecn_capable()
    }

    fn mark(&mut self) {
        self.packet.mark();
    }
}

enum Discipline<P> {
    InOrder(Fifo<LinkPacket<P>>),
    Departing(Departing<LinkPacket<P>>),
}

/// Packets of a station that the driver has not taken yet.
pub(crate) struct HostQueue<P> {
    queue: Queue,
    waiting: Discipline<P>,
    dropped: Dropped<LinkPacket<P>>,
}

impl<P: Packet> HostQueue<P> {
    pub(crate) fn new(queue: Queue) -> Self {
        let waiting = match Departing::new(&queue) {
            Some(departing) => Discipline::Departing(departing),
            None => Discipline::InOrder(Fifo::new()),
        };
        HostQueue { queue, waiting, dropped: Dropped::new() }
    }

    /// Discipline packets and their bytes.
    pub(crate) fn backlog(&self) -> (u64, u64) {
        match &self.waiting {
            Discipline::InOrder(fifo) => (fifo.len(), fifo.bytes()),
            Discipline::Departing(departing) => departing.waiting(),
        }
    }

    /// Discipline packets.
    pub(crate) fn len(&self) -> u64 {
        self.backlog().0
    }

    /// A packet comes; returns whether it is taken.
    pub(crate) fn offer(
        &mut self,
        now: Time,
        mut packet: LinkPacket<P>,
        mut rng: &mut dyn Rng,
    ) -> bool {
        let (packets, bytes) = self.backlog();
        let backlog = Backlog { packets, bytes, idle_since: Time::NEVER };
        let capable = packet.ecn_capable();
        match self.queue.judge(now, packet.bytes(), capable, backlog, &mut rng) {
            Verdict::Accept => {}
            Verdict::Mark => packet.mark(),
            Verdict::Full | Verdict::Early => return false,
        }
        match &mut self.waiting {
            Discipline::InOrder(fifo) => fifo.push(now, packet),
            Discipline::Departing(departing) => departing.enqueue(now, packet, &mut self.dropped),
        }
        true
    }

    /// The next packet for the driver.
    pub(crate) fn take(&mut self, now: Time) -> Option<LinkPacket<P>> {
        match &mut self.waiting {
            Discipline::InOrder(fifo) => fifo.pop().map(|(_, packet)| packet),
            Discipline::Departing(departing) => departing.dequeue(now, &mut self.dropped),
        }
    }

    /// A packet that the discipline has dropped after it had taken it.
    pub(crate) fn dropped(&mut self) -> Option<LinkPacket<P>> {
        self.dropped.packets.pop_front()
    }
}
