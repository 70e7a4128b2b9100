//! Controlled delay (CoDel): drops from a queue that stays long, by the waiting time of its
//! packets.
//!
//! Source: Nichols, Jacobson, McGregor and Iyengar, RFC 8289 §5 (symbols `TARGET`, `INTERVAL`,
//! `first_above_time`, `drop_next`, `count`, `lastcount`, `dropping`). It decides when a packet
//! departs.

use super::{DepartureKind, Dropped, Fifo, HoldPackets, Kind, ROOM};
use crate::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Described, InvalidParameter, Packets, Span, Time, ValidRange, WholePackets};

/// CoDel (RFC 8289), with the parameters that it recommends.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Codel {
    /// Acceptable standing delay (TARGET).
    #[serde(rename(serialize = "target_s"))]
    pub target: Span,
    /// How long the delay must stay above `target` (INTERVAL): about the largest usual round trip.
    #[serde(rename(serialize = "interval_s"))]
    #[schemars(extend("range" = INTERVAL.right))]
    pub interval: Span,
    /// Whether packets of flows that use ECN are marked instead of dropped.
    pub ecn: bool,
    /// Capacity of the queue in packets.
    #[serde(rename(serialize = "limit_packets"), serialize_with = "Packets::whole")]
    #[schemars(with = "WholePackets", extend("range" = ROOM.right))]
    pub limit: Packets,
}

pub(super) const INTERVAL: ValidRange<Span> =
    ValidRange { holds: |interval| *interval > Span::ZERO, right: "it is above zero" };

impl Default for Codel {
    fn default() -> Self {
        Codel {
            target: Span::millis(5),
            interval: Span::millis(100),
            ecn: false,
            limit: Packets(1000.0),
        }
    }
}

impl Kind for Codel {
    const DESCRIBED: Described =
        Described { names: &["codel"], summary: "Controlled delay.", source: "RFC 8289" };

    fn check(&self) -> Result<(), InvalidParameter> {
        INTERVAL.check("interval", &self.interval)?;
        ROOM.check("limit", &self.limit)
    }

    fn short(limit: u64, ecn: bool) -> Self {
        let (target, interval) = (Span::millis(1), Span::millis(10));
        Codel { target, interval, ecn, limit: Packets(limit as f64) }
    }
}

impl DepartureKind for Codel {
    type State<P> = CodelQueue<P>;

    fn start<P: Packet>(&self) -> CodelQueue<P> {
        CodelQueue {
            law: Law { target: self.target, interval: self.interval, ecn: self.ecn },
            control: Control::default(),
            fifo: Fifo::new(),
            limit: self.limit.0 as u64,
        }
    }
}

/// A CoDel queue's state.
pub(crate) struct CodelQueue<P> {
    law: Law,
    control: Control,
    fifo: Fifo<P>,
    /// Most packets in the queue.
    limit: u64,
}

impl<P: Packet> HoldPackets<P> for CodelQueue<P> {
    fn enqueue(&mut self, now: Time, packet: P, _: &mut Dropped<P>) -> bool {
        let room = self.fifo.len() < self.limit;
        if room {
            self.fifo.push(now, packet);
        }
        room
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped<P>) -> Option<P> {
        self.control.dequeue(now, &mut self.fifo, &self.law, dropped)
    }

    fn backlog(&self) -> (u64, u64) {
        (self.fifo.len(), self.fifo.bytes())
    }
}

/// The parameters of a drop decision: FQ-CoDel has the same for each of its queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    pub(super) target: Span,
    pub(super) interval: Span,
    pub(super) ecn: bool,
}

/// Control state of one queue; all zero at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Control {
    /// When the delay will have been above target for an interval; `None` while it is below.
    first_above_time: Option<Time>,
    drop_next: Time,
    /// Drops since this dropping state began.
    count: u64,
    lastcount: u64,
    dropping: bool,
    /// Largest packet so far (`maxpacket`): with no more bytes than that waiting, nothing is
    /// dropped.
    largest: u32,
}

impl Control {
    /// Takes the next packet to send from `fifo`; packets dropped before it go to `dropped`.
    #[inline(always)] // runs for every packet
    pub(super) fn dequeue<P: Packet>(
        &mut self,
        now: Time,
        fifo: &mut Fifo<P>,
        law: &Law,
        dropped: &mut Dropped<P>,
    ) -> Option<P> {
        let (packet, over) = self.next(now, fifo, law);
        match self.dropping || over {
            true => self.dequeue_over(now, (packet, over), fifo, law, dropped),
            false => packet, // mostly
        }
    }

    /// The packet to send, if the delay has been `over` target for an interval at the next one, or
    /// was before.
    #[inline(never)] // keeps the code of other packets short
    fn dequeue_over<P: Packet>(
        &mut self,
        now: Time,
        (mut packet, mut over): (Option<P>, bool),
        fifo: &mut Fifo<P>,
        law: &Law,
        dropped: &mut Dropped<P>,
    ) -> Option<P> {
        if self.dropping {
            self.dropping &= over;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if law.ecn && mark(&mut packet, dropped) {
                    self.drop_next = self.control_law(self.drop_next, law);
                    break;
                }
                dropped.packets.extend(packet);
                (packet, over) = self.next(now, fifo, law);
                self.dropping = over;
                if over {
                    self.drop_next = self.control_law(self.drop_next, law);
                }
            }
        } else if over {
            if !(law.ecn && mark(&mut packet, dropped)) {
                dropped.packets.extend(packet);
                (packet, _) = self.next(now, fifo, law);
            }
            self.start_dropping(now, law);
        }
        packet
    }

    /// RFC 8289 §5.6: begins at the rate at which the last dropping state ended, if that was
    /// recent.
    fn start_dropping(&mut self, now: Time, law: &Law) {
        self.dropping = true;
        let delta = self.count - self.lastcount;
        let recent = now < self.drop_next + Span(16 * law.interval.0);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.control_law(now, law);
        self.lastcount = self.count;
    }

    /// The packet at the head, and whether the delay has been above target for an interval
    /// (`dodequeue`).
    #[inline(always)] // runs for every packet
    fn next<P: Packet>(&mut self, now: Time, fifo: &mut Fifo<P>, law: &Law) -> (Option<P>, bool) {
        let Some((since, packet)) = fifo.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        self.largest = self.largest.max(packet.bytes());
        if now.since(since) < law.target || fifo.bytes() <= u64::from(self.largest) {
            self.first_above_time = None;
            return (Some(packet), false);
        }
        let first_above = *self.first_above_time.get_or_insert(now + law.interval);
        (Some(packet), now >= first_above)
    }

    /// `t + INTERVAL / sqrt(count)` (RFC 8289 §5.4).
    fn control_law(&self, t: Time, law: &Law) -> Time {
        t + Span((law.interval.0 as f64 / libm::sqrt(self.count as f64)) as u64)
    }
}

/// Marks a packet, if there is one and it can be marked.
fn mark<P: Packet>(packet: &mut Option<P>, dropped: &mut Dropped<P>) -> bool {
    let Some(packet) = packet.as_mut().filter(|packet| packet.ecn_capable()) else {
        return false;
    };
    packet.mark();
    dropped.marks += 1;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestPacket;

    const DEFAULT: Law = Law { target: Span::millis(5), interval: Span::millis(100), ecn: false };

    /// Packets of 1000 B are taken every ms from a queue in which each has waited `delay_ms`;
    /// returns the times of the drops in ms.
    fn drops(law: &Law, delay_ms: u64, capable: bool, times: u64) -> (Vec<u64>, u64) {
        let (mut control, mut dropped) = (Control::default(), Dropped::new());
        let mut at = Vec::new();
        for ms in 200..200 + times {
            let mut fifo = Fifo::new();
            let now = Time(ms * 1_000_000);
            let since = Time((ms - delay_ms) * 1_000_000);
            (0..20).for_each(|_| fifo.push(since, TestPacket { capable, ..TestPacket::of(1000) }));
            assert!(control.dequeue(now, &mut fifo, law, &mut dropped).is_some());
            at.extend(dropped.packets.drain(..).map(|_| ms - 200));
        }
        (at, dropped.marks)
    }

    #[test]
    fn a_delay_below_target_drops_nothing_and_one_above_drops_after_an_interval_and_ever_faster() {
        assert_eq!(drops(&DEFAULT, 4, false, 1000), (vec![], 0));
        // after 100 ms, then 100/sqrt(1), 100/sqrt(2), 100/sqrt(3), … ms later, in whole ms
        assert_eq!(drops(&DEFAULT, 6, false, 480).0, [100, 200, 271, 329, 379, 424, 464]);
    }

    #[test]
    fn frames_that_can_be_marked_are_marked_at_the_same_times() {
        let ecn = Law { ecn: true, ..DEFAULT };
        assert_eq!(drops(&ecn, 6, true, 480), (vec![], 7));
        assert_eq!(drops(&ecn, 6, false, 480).0.len(), 7, "what cannot be marked is dropped");
    }

    #[test]
    fn a_single_frame_is_never_dropped_however_long_it_has_waited() {
        let (mut control, mut dropped) = (Control::default(), Dropped::new());
        for ms in 1..500 {
            let mut fifo = Fifo::new();
            fifo.push(Time::ZERO, TestPacket::of(1000));
            let now = Time(ms * 1_000_000);
            assert!(control.dequeue(now, &mut fifo, &DEFAULT, &mut dropped).is_some());
        }
        assert!(dropped.packets.is_empty());
    }
}
