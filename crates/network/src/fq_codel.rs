//! Flow queues with CoDel in each: deficit round robin, and flows that come anew go first.
//!
//! Source: Høiland-Jørgensen, McKenney, Taht, Gettys and Dumazet, RFC 8290 §4. Overload drops from the
//! head of the queue with the most bytes (§4.1), half of it but at most 64 packets, as Linux does.

use crate::Packet;
use crate::codel::{Codel, CodelSettings, Dropped, Fifo};
use std::collections::VecDeque;
use units::Time;

/// What an FQ-CoDel queue is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCodelSettings {
    /// CoDel in each flow's queue.
    pub codel: CodelSettings,
    /// Number of queues that flows are hashed into; at least 1.
    pub queues: u32,
    /// Bytes that a queue may send in its turn.
    pub quantum: u32,
    /// Packets that fit at all.
    pub limit: u64,
}

/// Packets that an overload drops at once, at most.
const DROP_BATCH: u64 = 64;

struct FlowQueue<P> {
    fifo: Fifo<P>,
    codel: Codel,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// Whether it stands in one of the two lists.
    listed: bool,
}

/// Flow queues and the two lists of those that have packets.
pub(crate) struct FqCodel<P> {
    settings: FqCodelSettings,
    queues: Vec<FlowQueue<P>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    waiting: u64,
    bytes: u64,
}

/// Spreads numbers of paths over the queues (Knuth's multiplicative hash).
fn hash(path: u32, queues: u32) -> u32 {
    let spread = u64::from(path.wrapping_mul(2_654_435_761));
    ((spread * u64::from(queues)) >> 32) as u32
}

impl<P: Packet> FqCodel<P> {
    pub(crate) fn new(settings: FqCodelSettings) -> Self {
        let queue =
            |_| FlowQueue { fifo: Fifo::new(), codel: Codel::default(), deficit: 0, listed: false };
        FqCodel {
            queues: (0..settings.queues).map(queue).collect(),
            settings,
            new: VecDeque::new(),
            old: VecDeque::new(),
            waiting: 0,
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.waiting
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// RFC 8290 §4.1.
    pub(crate) fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Dropped<P>) {
        let index = hash(packet.path(), self.settings.queues);
        let queue = &mut self.queues[index as usize];
        self.waiting += 1;
        self.bytes += u64::from(packet.bytes());
        queue.fifo.push(now, packet);
        if !queue.listed {
            queue.listed = true;
            queue.deficit = i64::from(self.settings.quantum);
            self.new.push_back(index);
        }
        if self.waiting > self.settings.limit {
            self.drop_from_fattest(dropped);
        }
    }

    fn drop_from_fattest(&mut self, dropped: &mut Dropped<P>) {
        let fattest = self.queues.iter_mut().max_by_key(|queue| queue.fifo.bytes());
        let Some(queue) = fattest else {
            return;
        };
        let half = queue.fifo.bytes() / 2;
        let mut gone = 0;
        for _ in 0..DROP_BATCH {
            let Some((_, packet)) = queue.fifo.pop() else {
                break;
            };
            gone += u64::from(packet.bytes());
            self.waiting -= 1;
            dropped.packets.push_back(packet);
            if gone >= half {
                break;
            }
        }
        self.bytes -= gone;
    }

    /// RFC 8290 §4.2.
    pub(crate) fn dequeue(&mut self, now: Time, dropped: &mut Dropped<P>) -> Option<P> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.settings.quantum);
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (queue.fifo.len(), queue.fifo.bytes());
            let packet = queue.codel.dequeue(now, &mut queue.fifo, &self.settings.codel, dropped);
            self.waiting -= packets - queue.fifo.len();
            self.bytes -= bytes - queue.fifo.bytes();
            if let Some(packet) = packet {
                queue.deficit -= i64::from(packet.bytes());
                return Some(packet);
            }
            list.pop_front();
            // A new queue that ran empty takes a turn as an old one first: otherwise it could be new again
            // with its next packet and starve the others.
            if from_new && !self.old.is_empty() {
                self.old.push_back(index);
            } else {
                queue.listed = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestPacket;
    use units::Span;

    fn settings(limit: u64) -> FqCodelSettings {
        let codel =
            CodelSettings { target: Span::millis(5), interval: Span::millis(100), ecn: false };
        FqCodelSettings { codel, queues: 1024, quantum: 1514, limit }
    }

    fn packet(path: u32, bytes: u32) -> TestPacket {
        TestPacket { path, ..TestPacket::of(bytes) }
    }

    #[test]
    fn two_backlogged_flows_share_by_bytes_whatever_their_packets() {
        let (mut queue, mut dropped) = (FqCodel::new(settings(10_000)), Dropped::new());
        (0..900).for_each(|_| queue.enqueue(Time(1), packet(1, 1500), &mut dropped));
        (0..900).for_each(|_| queue.enqueue(Time(1), packet(2, 500), &mut dropped));
        let mut sent = [0, 0];
        for _ in 0..800 {
            let packet = queue.dequeue(Time(2), &mut dropped).unwrap();
            sent[packet.path as usize - 1] += packet.bytes;
        }
        let share = f64::from(sent[0]) / f64::from(sent[0] + sent[1]);
        assert!((share - 0.5).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_sparse_flow_goes_before_a_backlog() {
        let (mut queue, mut dropped) = (FqCodel::new(settings(10_000)), Dropped::new());
        (0..100).for_each(|_| queue.enqueue(Time(1), packet(1, 1500), &mut dropped));
        (0..10).for_each(|_| assert!(queue.dequeue(Time(1), &mut dropped).is_some()));
        queue.enqueue(Time(1), packet(2, 100), &mut dropped);
        assert_eq!(queue.dequeue(Time(1), &mut dropped).unwrap().path, 2);
    }

    #[test]
    fn an_overload_drops_from_the_flow_that_has_most_and_nothing_is_lost_track_of() {
        let (mut queue, mut dropped) = (FqCodel::new(settings(100)), Dropped::new());
        queue.enqueue(Time(1), packet(2, 1500), &mut dropped);
        (0..150).for_each(|_| queue.enqueue(Time(1), packet(1, 1500), &mut dropped));
        assert!(dropped.packets.iter().all(|packet| packet.path == 1));
        assert_eq!(queue.len() + dropped.packets.len() as u64, 151);
        assert_eq!(queue.bytes(), 1500 * queue.len());
        let mut rest = 0;
        while queue.dequeue(Time(2), &mut dropped).is_some() {
            rest += 1;
        }
        assert_eq!((rest + dropped.packets.len(), queue.len(), queue.bytes()), (151, 0, 0));
    }
}
