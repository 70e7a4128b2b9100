//! Disciplines that decide when a packet leaves.

use crate::Packet;
use crate::codel::{Codel, CodelSettings, Dropped, Fifo};
use crate::fq_codel::FqCodel;
use crate::queue::Queue;
use units::Time;

/// Packets that wait under such a discipline.
pub(crate) enum Departing<P> {
    Codel { codel: Codel, settings: CodelSettings, fifo: Fifo<P> },
    FqCodel(FqCodel<P>),
}

impl<P: Packet> Departing<P> {
    /// The state of `queue`, if it is such a discipline.
    pub(crate) fn new(queue: &Queue) -> Option<Self> {
        match queue {
            Queue::Codel { codel, .. } => Some(Departing::Codel {
                codel: Codel::default(),
                settings: *codel,
                fifo: Fifo::new(),
            }),
            Queue::FqCodel(settings) => Some(Departing::FqCodel(FqCodel::new(*settings))),
            Queue::Unlimited | Queue::DropTail { .. } | Queue::Red(_) | Queue::Pie(_) => None,
        }
    }

    /// Waiting packets and their bytes.
    pub(crate) fn waiting(&self) -> (u64, u64) {
        match self {
            Departing::Codel { fifo, .. } => (fifo.len(), fifo.bytes()),
            Departing::FqCodel(queue) => (queue.len(), queue.bytes()),
        }
    }

    pub(crate) fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Dropped<P>) {
        match self {
            Departing::Codel { fifo, .. } => fifo.push(now, packet),
            Departing::FqCodel(queue) => queue.enqueue(now, packet, dropped),
        }
    }

    /// The next packet to send; those that are dropped instead go to `dropped`.
    pub(crate) fn dequeue(&mut self, now: Time, dropped: &mut Dropped<P>) -> Option<P> {
        match self {
            Departing::Codel { codel, settings, fifo } => {
                codel.dequeue(now, fifo, settings, dropped)
            }
            Departing::FqCodel(queue) => queue.dequeue(now, dropped),
        }
    }
}
