//! The queue of a host before its driver: a queueing discipline that fills the driver's ring.

use crate::queue::Verdict;
use crate::queue::{Arrival, ArrivalQueue, Backlog, DepartureQueue, Dropped, Fifo, Queue, State};
use crate::{Packet, Rng};
use units::Time;

/// A packet with its link.
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

    fn lower_effort(&self) -> bool {
        self.packet.lower_effort()
    }
}

enum Discipline<P> {
    /// Packets in order, and the queue that decides on arrival, if there is a limit.
    InOrder(Option<ArrivalQueue>, Fifo<LinkPacket<P>>),
    Departing(DepartureQueue<LinkPacket<P>>),
}

/// Packets of a station that its driver has not taken yet.
pub(crate) struct HostQueue<P> {
    waiting: Discipline<P>,
    dropped: Dropped<LinkPacket<P>>,
}

impl<P: Packet> HostQueue<P> {
    pub(crate) fn new(queue: Queue) -> Self {
        let waiting = match queue.start(None) {
            State::Unlimited => Discipline::InOrder(None, Fifo::new()),
            State::Arrival(queue) => Discipline::InOrder(Some(queue), Fifo::new()),
            State::Departure(queue) => Discipline::Departing(queue),
        };
        HostQueue { waiting, dropped: Dropped::new() }
    }

    /// Waiting packets and their bytes.
    pub(crate) fn backlog(&self) -> (u64, u64) {
        match &self.waiting {
            Discipline::InOrder(_, fifo) => (fifo.len(), fifo.bytes()),
            Discipline::Departing(queue) => queue.backlog(),
        }
    }

    /// Waiting packets.
    pub(crate) fn len(&self) -> u64 {
        self.backlog().0
    }

    /// Offers a packet; returns whether it is accepted.
    #[inline(always)] // runs for every packet, and would copy it once more
    pub(crate) fn offer(
        &mut self,
        now: Time,
        mut packet: LinkPacket<P>,
        mut rng: &mut dyn Rng,
    ) -> bool {
        let (queue, fifo) = match &mut self.waiting {
            Discipline::InOrder(queue, fifo) => (queue, fifo),
            Discipline::Departing(queue) => return queue.enqueue(now, packet, &mut self.dropped),
        };
        if let Some(queue) = queue {
            let (bytes, ecn_capable) = (packet.bytes(), packet.ecn_capable());
            let idle_since = Time::NEVER;
            let backlog = Backlog { packets: fifo.len(), bytes: fifo.bytes(), idle_since };
            match queue.judge(|| Arrival { now, bytes, ecn_capable, backlog }, &mut rng) {
                Verdict::Accept => {}
                Verdict::Mark => packet.mark(),
                Verdict::Drop => return false,
            }
        }
        fifo.push(now, packet);
        true
    }

    /// The next packet for the driver.
    #[inline] // twice for every packet
    pub(crate) fn take(&mut self, now: Time) -> Option<LinkPacket<P>> {
        match &mut self.waiting {
            Discipline::InOrder(_, fifo) => fifo.pop().map(|(_, packet)| packet),
            Discipline::Departing(queue) => queue.dequeue(now, &mut self.dropped),
        }
    }

    /// A packet that the discipline dropped after accepting it.
    #[inline] // twice for every packet
    pub(crate) fn dropped(&mut self) -> Option<LinkPacket<P>> {
        self.dropped.packets.pop_front()
    }
}
