//! Waiting packets in order, and packets that a queue dropped after accepting them.

use crate::Packet;
use std::collections::VecDeque;
use units::Time;

/// Waiting packets, each with its arrival time.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    packets: VecDeque<(Time, P)>,
    bytes: u64,
}

impl<P: Packet> Fifo<P> {
    pub(crate) fn new() -> Self {
        Fifo { packets: VecDeque::new(), bytes: 0 }
    }

    /// Waiting packets.
    pub(crate) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Their bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline(always)] // runs for every packet
    pub(crate) fn push(&mut self, now: Time, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.packets.push_back((now, packet));
    }

    #[inline(always)] // runs for every packet
    pub(crate) fn pop(&mut self) -> Option<(Time, P)> {
        let (since, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes());
        Some((since, packet))
    }
}

/// Packets that a queue accepted and did not send, and its counts.
#[derive(Debug)]
pub(crate) struct Dropped<P> {
    pub(crate) packets: VecDeque<P>,
    /// Packets marked so far.
    pub(crate) marks: u64,
}

impl<P> Dropped<P> {
    pub(crate) fn new() -> Self {
        Dropped { packets: VecDeque::new(), marks: 0 }
    }
}
