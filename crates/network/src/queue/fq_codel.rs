//! Flow queues with CoDel in each: deficit round robin, and flows that have just become active go
//! first.
//!
//! Source: Høiland-Jørgensen, McKenney, Taht, Gettys and Dumazet, RFC 8290 §4. Overload drops from
//! the head of the queue with the most bytes (§4.1), half of it but at most 64 packets, as Linux
//! does.

use super::codel::{Control, INTERVAL, Law};
use super::{Codel, DepartureKind, Dropped, Fifo, HoldPackets, Kind, ROOM};
use crate::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use units::{Bytes, Described, InvalidParameter, Packets, Span, Time, ValidRange, WholePackets};

/// FQ-CoDel (RFC 8290), with the parameters that it recommends. Each path of each user is a flow.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FqCodel {
    /// Acceptable standing delay (TARGET).
    #[serde(rename(serialize = "target_s"))]
    pub target: Span,
    /// How long the delay must stay above `target` (INTERVAL).
    #[serde(rename(serialize = "interval_s"))]
    #[schemars(extend("range" = INTERVAL.right))]
    pub interval: Span,
    /// Whether packets of flows that use ECN are marked instead of dropped.
    pub ecn: bool,
    /// Number of queues that flows are hashed into.
    #[schemars(extend("range" = QUEUES.right))]
    pub queues: u32,
    /// Bytes that a queue may send in its turn.
    #[serde(rename(serialize = "quantum_bytes"))]
    #[schemars(extend("range" = QUANTUM.right))]
    pub quantum: Bytes,
    /// Capacity of the queue in packets.
    #[serde(rename(serialize = "limit_packets"), serialize_with = "Packets::whole")]
    #[schemars(with = "WholePackets", extend("range" = ROOM.right))]
    pub limit: Packets,
}

const QUEUES: ValidRange<u32> = ValidRange {
    holds: |queues| (1..=1 << 20).contains(queues),
    right: "it lies from 1 to 1048576",
};

const QUANTUM: ValidRange<Bytes> = ValidRange {
    holds: |quantum| (1..=1 << 20).contains(&quantum.0),
    right: "it lies from 1 B to 1 MiB",
};

impl Default for FqCodel {
    fn default() -> Self {
        let Codel { target, interval, ecn, .. } = Codel::default();
        let (queues, quantum) = (1024, Bytes(1514));
        FqCodel { target, interval, ecn, queues, quantum, limit: Packets(10_240.0) }
    }
}

impl Kind for FqCodel {
    const DESCRIBED: Described = Described {
        names: &["fq-codel"],
        summary: "CoDel with a separate queue for each flow.",
        source: "RFC 8290",
    };

    fn check(&self) -> Result<(), InvalidParameter> {
        INTERVAL.check("interval", &self.interval)?;
        QUEUES.check("queues", &self.queues)?;
        QUANTUM.check("quantum", &self.quantum)?;
        ROOM.check("limit", &self.limit)
    }

    fn short(limit: u64, ecn: bool) -> Self {
        let Codel { target, interval, ecn, limit } = Codel::short(limit, ecn);
        FqCodel { target, interval, ecn, queues: 4, quantum: Bytes(300), limit }
    }
}

impl DepartureKind for FqCodel {
    type State<P> = FqCodelQueue<P>;

    fn start<P: Packet>(&self) -> FqCodelQueue<P> {
        let queue = |_| FlowQueue {
            fifo: Fifo::new(),
            control: Control::default(),
            deficit: 0,
            listed: false,
        };
        FqCodelQueue {
            queues: (0..self.queues).map(queue).collect(),
            law: Law { target: self.target, interval: self.interval, ecn: self.ecn },
            quantum: self.quantum.0 as i64,
            limit: self.limit.0 as u64,
            new: VecDeque::new(),
            old: VecDeque::new(),
            waiting: 0,
            bytes: 0,
        }
    }
}

/// Most packets that an overload drops at once.
const DROP_BATCH: u64 = 64;

struct FlowQueue<P> {
    fifo: Fifo<P>,
    control: Control,
    /// Bytes that it may still send in its turn.
    deficit: i64,
    /// Whether it is in one of the two lists.
    listed: bool,
}

/// Flow queues, and two lists of the queues that have packets.
pub(crate) struct FqCodelQueue<P> {
    law: Law,
    /// Bytes that a queue may send in its turn.
    quantum: i64,
    /// Most packets in all queues.
    limit: u64,
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

impl<P: Packet> HoldPackets<P> for FqCodelQueue<P> {
    /// RFC 8290 §4.1.
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Dropped<P>) -> bool {
        let index = hash(packet.path(), self.queues.len() as u32);
        let queue = &mut self.queues[index as usize];
        self.waiting += 1;
        self.bytes += u64::from(packet.bytes());
        queue.fifo.push(now, packet);
        if !queue.listed {
            queue.listed = true;
            queue.deficit = self.quantum;
            self.new.push_back(index);
        }
        if self.waiting > self.limit {
            self.drop_from_fattest(dropped);
        }
        true
    }

    /// RFC 8290 §4.2.
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped<P>) -> Option<P> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (queue.fifo.len(), queue.fifo.bytes());
            let packet = queue.control.dequeue(now, &mut queue.fifo, &self.law, dropped);
            self.waiting -= packets - queue.fifo.len();
            self.bytes -= bytes - queue.fifo.bytes();
            if let Some(packet) = packet {
                queue.deficit -= i64::from(packet.bytes());
                return Some(packet);
            }
            list.pop_front();
            // A new queue that ran empty takes a turn as an old one first: otherwise it could be
            // new again with its next packet and starve the others.
            if from_new && !self.old.is_empty() {
                self.old.push_back(index);
            } else {
                queue.listed = false;
            }
        }
    }

    fn backlog(&self) -> (u64, u64) {
        (self.waiting, self.bytes)
    }
}

impl<P: Packet> FqCodelQueue<P> {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestPacket;

    fn queue(limit: u64) -> FqCodelQueue<TestPacket> {
        FqCodel { limit: Packets(limit as f64), ..FqCodel::default() }.start()
    }

    fn packet(path: u32, bytes: u32) -> TestPacket {
        TestPacket { path, ..TestPacket::of(bytes) }
    }

    #[test]
    fn two_backlogged_flows_share_by_bytes_whatever_their_packets() {
        let (mut queue, mut dropped) = (queue(10_000), Dropped::new());
        (0..900).for_each(|_| assert!(queue.enqueue(Time(1), packet(1, 1500), &mut dropped)));
        (0..900).for_each(|_| assert!(queue.enqueue(Time(1), packet(2, 500), &mut dropped)));
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
        let (mut queue, mut dropped) = (queue(10_000), Dropped::new());
        (0..100).for_each(|_| assert!(queue.enqueue(Time(1), packet(1, 1500), &mut dropped)));
        (0..10).for_each(|_| assert!(queue.dequeue(Time(1), &mut dropped).is_some()));
        assert!(queue.enqueue(Time(1), packet(2, 100), &mut dropped));
        assert_eq!(queue.dequeue(Time(1), &mut dropped).unwrap().path, 2);
    }

    #[test]
    fn an_overload_drops_from_the_flow_that_has_most_and_nothing_is_lost_track_of() {
        let (mut queue, mut dropped) = (queue(100), Dropped::new());
        assert!(queue.enqueue(Time(1), packet(2, 1500), &mut dropped));
        (0..150).for_each(|_| assert!(queue.enqueue(Time(1), packet(1, 1500), &mut dropped)));
        assert!(dropped.packets.iter().all(|packet| packet.path == 1));
        assert_eq!(queue.waiting + dropped.packets.len() as u64, 151);
        assert_eq!(queue.bytes, 1500 * queue.waiting);
        let mut rest = 0;
        while queue.dequeue(Time(2), &mut dropped).is_some() {
            rest += 1;
        }
        assert_eq!((rest + dropped.packets.len(), queue.waiting, queue.bytes), (151, 0, 0));
    }
}
