//! TCP connections of a capture: traffic in each direction, retransmissions, and round trips.

use super::dissect::Seen;
use crate::mptcp::Mptcp;
use crate::tcp::TcpOption;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use units::{Span, Time};

/// Traffic in one direction.
#[derive(Clone, Debug, Default)]
pub struct Direction {
    /// Packets.
    pub packets: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Their IP bytes.
    pub data_ip_bytes: u64,
    /// Their payload, copies included.
    pub payload_bytes: u64,
    /// Packets with payload that was captured before, in part or whole.
    pub again_packets: u64,
    /// Payload that was captured before.
    pub again_bytes: u64,
    /// Payload acknowledged by the other side.
    pub acked_bytes: u64,
    /// Payload of the whole capture, copies included, in the counted part or not.
    pub whole_payload_bytes: u64,
    /// Round trip at the point of capture, from a segment to its first acknowledgement: mean over
    /// segments that were sent once, in seconds; `NaN` without one.
    pub rtt_s: f64,
    /// IP bytes of packets with payload in each bin.
    pub binned: Vec<u64>,
    /// When segments were sent that were sent once, and their round trips at the point of capture,
    /// in the order of their acknowledgements; empty unless they are kept.
    pub delays: Vec<(Time, Span)>,
    /// When segments were sent again; empty unless they are kept.
    pub repeats: Vec<Time>,
    keeps: bool,
    rtt: (f64, u64),
    /// Next sequence number, unwrapped, and the first one.
    space: Option<Space>,
    /// Ends of segments not acknowledged yet, with their times.
    outstanding: VecDeque<(u64, Time)>,
    /// Ranges sent more than once, in order and disjoint.
    again: VecDeque<(u64, u64)>,
    times: Vec<(Time, u32)>,
}

/// A sequence space, unwrapped to 64 bits.
#[derive(Clone, Copy, Debug)]
struct Space {
    first: u64,
    next: u64,
    acked: u64,
}

/// `value` with the upper half that brings it closest to `near`.
pub(super) fn unwrap(near: u64, value: u32) -> u64 {
    let moved = value.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(i64::from(moved))
}

/// First unwrapped sequence number: far enough from zero for late segments.
const BASE: u64 = 1 << 40;

impl Direction {
    fn send(&mut self, at: Time, seen: &Seen, counted: bool) {
        let count = u64::from(counted);
        self.packets += count;
        if seen.payload == 0 && !seen.syn {
            return;
        }
        let begin = |seq: u32| {
            let first = BASE + u64::from(seq) + u64::from(seen.syn);
            Space { first, next: first, acked: first }
        };
        let space = self.space.get_or_insert_with(|| begin(seen.seq));
        if seen.syn {
            if space.next == space.first {
                *space = begin(seen.seq);
            }
            return;
        }
        let payload = u64::from(seen.payload);
        self.data_packets += count;
        self.data_ip_bytes += u64::from(seen.ip_bytes) * count;
        self.payload_bytes += payload * count;
        self.whole_payload_bytes += payload;
        self.times.push((at, seen.ip_bytes));
        let start = unwrap(space.next, seen.seq);
        let end = start.saturating_add(payload);
        let again = space.next.saturating_sub(start).min(payload);
        if again > 0 {
            self.again_packets += count;
            self.again_bytes += again * count;
            if self.keeps && counted {
                self.repeats.push(at);
            }
        }
        let upto = end.max(space.next);
        if end > space.next {
            space.next = end;
            self.outstanding.push_back((end, at));
        }
        if again > 0 {
            self.taint(start, upto);
        }
    }

    /// All data from `start` to `upto`, which is the end of sent data, gives no round-trip samples
    /// any more: later data may have waited for the retransmission.
    fn taint(&mut self, start: u64, upto: u64) {
        let mut from = start;
        while let Some(&(begun, _)) = self.again.back().filter(|(_, ended)| *ended >= start) {
            from = from.min(begun);
            self.again.pop_back();
        }
        self.again.push_back((from, upto));
    }

    /// Whether a segment that ends at `upto` was sent once; calls must be in order.
    fn is_clean(&mut self, upto: u64) -> bool {
        while self.again.front().is_some_and(|(_, ended)| *ended < upto) {
            self.again.pop_front();
        }
        self.again.front().is_none_or(|(begun, _)| *begun >= upto)
    }

    fn acknowledge(&mut self, at: Time, ack: u32, counted: bool) {
        let Some(space) = &mut self.space else {
            return;
        };
        let ack = unwrap(space.acked, ack).min(space.next);
        if ack <= space.acked {
            return;
        }
        self.acked_bytes += if counted { ack - space.acked } else { 0 };
        space.acked = ack;
        let mut newest = None;
        while let Some(&oldest) = self.outstanding.front().filter(|(upto, _)| *upto <= ack) {
            newest = Some(oldest);
            self.outstanding.pop_front();
        }
        if let Some((upto, sent)) = newest
            && self.is_clean(upto)
            && counted
        {
            let took = at.since(sent.min(at));
            self.rtt.0 += took.seconds();
            self.rtt.1 += 1;
            if self.keeps {
                self.delays.push((sent, took));
            }
        }
    }

    fn finish(&mut self, first: Time, bin: Span) {
        self.rtt_s = self.rtt.0 / self.rtt.1 as f64;
        for (at, bytes) in std::mem::take(&mut self.times) {
            let index = (at.since(first).0 / bin.0) as usize;
            self.binned.resize(self.binned.len().max(index + 1), 0);
            self.binned[index] += u64::from(bytes);
        }
        (self.outstanding, self.again) = (VecDeque::new(), VecDeque::new());
    }
}

/// A TCP connection: a single one, or a subflow of a connection with several paths.
#[derive(Clone, Debug)]
pub struct Subflow {
    /// The opener or, if that was not captured, the sender of the first packet.
    pub initiator: SocketAddr,
    /// The other side.
    pub responder: SocketAddr,
    /// Whether it speaks MPTCP.
    pub multipath: bool,
    /// When it was first seen.
    pub first: Time,
    /// When it was last seen.
    pub last: Time,
    /// From the initiator.
    pub forth: Direction,
    /// To the initiator.
    pub back: Direction,
}

impl Subflow {
    /// Whether the initiator sent more payload, in the whole capture.
    pub fn upward(&self) -> bool {
        self.forth.whole_payload_bytes >= self.back.whole_payload_bytes
    }

    /// The direction with more payload, in the whole capture.
    pub fn main(&self) -> &Direction {
        match self.upward() {
            true => &self.forth,
            false => &self.back,
        }
    }
}

/// All TCP connections so far.
pub(super) struct Subflows {
    pub(super) all: Vec<Subflow>,
    /// What a direction begins with.
    fresh: Direction,
    known: BTreeMap<(SocketAddr, SocketAddr), usize>,
}

impl Subflows {
    /// None so far; with `keeps` every delay and retransmission is kept.
    pub(super) fn new(keeps: bool) -> Self {
        let fresh = Direction { keeps, ..Direction::default() };
        Subflows { all: Vec::new(), fresh, known: BTreeMap::new() }
    }

    /// Adds a segment, which is `counted` or only followed; returns its subflow.
    pub(super) fn add(&mut self, at: Time, seen: &Seen, counted: bool) -> usize {
        let pair = (seen.from.min(seen.to), seen.from.max(seen.to));
        let opens = seen.syn && seen.ack.is_none();
        let known = self.known.get(&pair).copied();
        // A SYN on reused ports begins a new connection.
        let number = known.filter(|&number| !opens || self.all[number].is_young(seen));
        let number = number.unwrap_or_else(|| {
            let (initiator, responder) = match seen.syn && seen.ack.is_some() {
                true => (seen.to, seen.from),
                false => (seen.from, seen.to),
            };
            self.all.push(Subflow {
                initiator,
                responder,
                multipath: false,
                first: at,
                last: at,
                forth: self.fresh.clone(),
                back: self.fresh.clone(),
            });
            self.known.insert(pair, self.all.len() - 1);
            self.all.len() - 1
        });
        self.all[number].count(at, seen, counted);
        number
    }

    pub(super) fn finish(mut self, first: Time, bin: Span) -> Vec<Subflow> {
        for subflow in &mut self.all {
            subflow.forth.finish(first, bin);
            subflow.back.finish(first, bin);
        }
        self.all
    }
}

impl Subflow {
    /// Whether a SYN belongs to this connection, as a retransmission or a copy.
    fn is_young(&self, seen: &Seen) -> bool {
        let again = self.initiator == seen.from && self.forth.whole_payload_bytes == 0;
        again
            && self.forth.space.is_some_and(|space| space.first as u32 == seen.seq.wrapping_add(1))
    }

    fn count(&mut self, at: Time, seen: &Seen, counted: bool) {
        self.first = self.first.min(at);
        self.last = self.last.max(at);
        let is_mptcp = |option: &TcpOption| match option {
            TcpOption::Mptcp(Mptcp::Capable { .. }) => !seen.syn || seen.ack.is_some(),
            TcpOption::Mptcp(_) => true,
            _ => false,
        };
        self.multipath |= seen.options.iter().flatten().any(is_mptcp);
        let (sent, answered) = match seen.from == self.initiator {
            true => (&mut self.forth, &mut self.back),
            false => (&mut self.back, &mut self.forth),
        };
        sent.send(at, seen, counted);
        if let Some(ack) = seen.ack {
            answered.acknowledge(at, ack, counted);
        }
    }
}
