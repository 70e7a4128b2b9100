//! The packets of one user in one direction: a queue, and transmission in segments.

use crate::host::{HostQueue, LinkPacket};
use crate::{Packet, Queue};
use units::Time;

/// The packets of one user in one direction.
pub(super) struct Bearer<P> {
    pub(super) host: HostQueue<P>,
    /// The packet in transmission, and its bytes carried by earlier TTIs.
    current: Option<(LinkPacket<P>, u64)>,
    /// Packets whose last byte is in the TTI under way.
    complete: Vec<LinkPacket<P>>,
    /// Resource blocks used.
    pub(super) blocks: u64,
}

/// Bytes that a packet takes; an empty packet counts as one byte.
fn length<P: Packet>(packet: &LinkPacket<P>) -> u64 {
    u64::from(packet.bytes().max(1))
}

impl<P: Packet> Bearer<P> {
    pub(super) fn new(queue: Queue) -> Self {
        Bearer { host: HostQueue::new(queue), current: None, complete: Vec::new(), blocks: 0 }
    }

    /// Bytes not yet carried.
    pub(super) fn need(&self) -> u64 {
        let (packets, bytes) = self.host.backlog();
        let rest = self.current.as_ref().map_or(0, |(packet, carried)| length(packet) - carried);
        bytes.max(packets) + rest
    }

    /// Packets that wait or are in transmission.
    pub(super) fn backlog(&self) -> u32 {
        let sending = self.complete.len() + usize::from(self.current.is_some());
        self.host.len() as u32 + sending as u32
    }

    /// A TTI begins with room for `room` bytes; returns the bytes carried.
    pub(super) fn carry(&mut self, now: Time, room: u64) -> u64 {
        let mut left = room;
        while left > 0 {
            let next = self.current.take().or_else(|| self.host.take(now).map(|next| (next, 0)));
            let Some((packet, carried)) = next else {
                break;
            };
            let part = (length(&packet) - carried).min(left);
            left -= part;
            if carried + part == length(&packet) {
                self.complete.push(packet);
            } else {
                self.current = Some((packet, carried + part));
            }
        }
        room - left
    }

    /// The TTI is over: its completed packets have arrived.
    pub(super) fn arrived(&mut self) -> impl Iterator<Item = LinkPacket<P>> {
        self.complete.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Never, TestPacket};

    #[test]
    fn a_packet_goes_over_as_many_ttis_as_its_bytes_need_and_shares_one_with_the_next() {
        let mut bearer = Bearer::new(Queue::Unlimited);
        for bytes in [250, 40, 0, 100] {
            let bound = LinkPacket { link: 3, packet: TestPacket::of(bytes) };
            assert!(bearer.host.offer(Time::ZERO, bound, &mut Never));
        }
        let mut tti = |room| {
            let carried = bearer.carry(Time::ZERO, room);
            let backlog = bearer.backlog();
            let arrived: Vec<u32> = bearer.arrived().map(|packet| packet.packet.bytes).collect();
            (carried, backlog, arrived, bearer.need())
        };
        assert_eq!(tti(100), (100, 4, vec![], 290));
        assert_eq!(tti(0), (0, 4, vec![], 290));
        assert_eq!(tti(150), (150, 4, vec![250], 140));
        assert_eq!(tti(60), (60, 3, vec![40, 0], 81));
        assert_eq!(tti(1000), (81, 1, vec![100], 0));
    }
}
