//! Controlled delay: drops from a queue that stays long, by how long packets have waited in it.
//!
//! Source: Nichols, Jacobson, McGregor and Iyengar, RFC 8289 §5 (symbols `TARGET`, `INTERVAL`,
//! `first_above_time`, `drop_next`, `count`, `lastcount`, `dropping`). Decisions fall when a packet leaves.

use crate::Packet;
use std::collections::VecDeque;
use units::{Span, Time};

/// What a CoDel queue is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelSettings {
    /// Acceptable standing delay (`TARGET`).
    pub target: Span,
    /// How long the delay must stay above it (`INTERVAL`): about the largest usual round trip.
    pub interval: Span,
    /// Whether packets that can be marked are marked instead of dropped.
    pub ecn: bool,
}

/// Packets that wait, each with the time at which it came.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    packets: VecDeque<(Time, P)>,
    bytes: u64,
}

impl<P: Packet> Fifo<P> {
    pub(crate) fn new() -> Self {
        Fifo { packets: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn push(&mut self, now: Time, packet: P) {
        self.bytes += u64::from(packet.bytes());
        self.packets.push_back((now, packet));
    }

    pub(crate) fn pop(&mut self) -> Option<(Time, P)> {
        let (since, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes());
        Some((since, packet))
    }
}

/// What became of the packets that were taken from a queue besides the one that goes on.
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

/// The state of one CoDel queue; all zero at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Codel {
    /// When the delay will have been above target for an interval; `None` while it is below.
    first_above_time: Option<Time>,
    drop_next: Time,
    /// Drops since this dropping state began.
    count: u64,
    lastcount: u64,
    dropping: bool,
    /// Largest packet so far (`maxpacket`): with no more than that waiting, nothing is dropped.
    largest: u32,
}

impl Codel {
    /// Takes the next packet to send from `fifo`; what is dropped on the way goes to `dropped`.
    pub(crate) fn dequeue<P: Packet>(
        &mut self,
        now: Time,
        fifo: &mut Fifo<P>,
        settings: &CodelSettings,
        dropped: &mut Dropped<P>,
    ) -> Option<P> {
        let (mut packet, mut over) = self.next(now, fifo, settings);
        if self.dropping {
            self.dropping &= over;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if settings.ecn && mark(&mut packet, dropped) {
                    self.drop_next = self.control_law(self.drop_next, settings);
                    break;
                }
                dropped.packets.extend(packet);
                (packet, over) = self.next(now, fifo, settings);
                self.dropping = over;
                if over {
                    self.drop_next = self.control_law(self.drop_next, settings);
                }
            }
        } else if over {
            if !(settings.ecn && mark(&mut packet, dropped)) {
                dropped.packets.extend(packet);
                (packet, _) = self.next(now, fifo, settings);
            }
            self.start_dropping(now, settings);
        }
        packet
    }

    /// RFC 8289 §5.6: begins at the rate at which the last dropping state ended, if that was recent.
    fn start_dropping(&mut self, now: Time, settings: &CodelSettings) {
        self.dropping = true;
        let delta = self.count - self.lastcount;
        let recent = now < self.drop_next + Span(16 * settings.interval.0);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.control_law(now, settings);
        self.lastcount = self.count;
    }

    /// The packet at the head, and whether the delay has been above target for an interval (`dodequeue`).
    fn next<P: Packet>(
        &mut self,
        now: Time,
        fifo: &mut Fifo<P>,
        settings: &CodelSettings,
    ) -> (Option<P>, bool) {
        let Some((since, packet)) = fifo.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        self.largest = self.largest.max(packet.bytes());
        if now.since(since) < settings.target || fifo.bytes() <= u64::from(self.largest) {
            self.first_above_time = None;
            return (Some(packet), false);
        }
        let first_above = *self.first_above_time.get_or_insert(now + settings.interval);
        (Some(packet), now >= first_above)
    }

    /// `t + INTERVAL / sqrt(count)` (RFC 8289 §5.4).
    fn control_law(&self, t: Time, settings: &CodelSettings) -> Time {
        t + Span((settings.interval.0 as f64 / libm::sqrt(self.count as f64)) as u64)
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

    const DEFAULT: CodelSettings =
        CodelSettings { target: Span::millis(5), interval: Span::millis(100), ecn: false };

    /// Packets of 1000 B are taken every ms from a queue in which each has waited `delay_ms`; returns the
    /// times of the drops in ms.
    fn drops(
        settings: &CodelSettings,
        delay_ms: u64,
        capable: bool,
        times: u64,
    ) -> (Vec<u64>, u64) {
        let (mut codel, mut dropped) = (Codel::default(), Dropped::new());
        let mut at = Vec::new();
        for ms in 200..200 + times {
            let mut fifo = Fifo::new();
            let now = Time(ms * 1_000_000);
            let since = Time((ms - delay_ms) * 1_000_000);
            (0..20).for_each(|_| fifo.push(since, TestPacket { capable, ..TestPacket::of(1000) }));
            assert!(codel.dequeue(now, &mut fifo, settings, &mut dropped).is_some());
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
        let ecn = CodelSettings { ecn: true, ..DEFAULT };
        assert_eq!(drops(&ecn, 6, true, 480), (vec![], 7));
        assert_eq!(drops(&ecn, 6, false, 480).0.len(), 7, "what cannot be marked is dropped");
    }

    #[test]
    fn a_single_frame_is_never_dropped_however_long_it_has_waited() {
        let (mut codel, mut dropped) = (Codel::default(), Dropped::new());
        for ms in 1..500 {
            let mut fifo = Fifo::new();
            fifo.push(Time::ZERO, TestPacket::of(1000));
            let now = Time(ms * 1_000_000);
            assert!(codel.dequeue(now, &mut fifo, &DEFAULT, &mut dropped).is_some());
        }
        assert!(dropped.packets.is_empty());
    }
}
