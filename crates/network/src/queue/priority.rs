//! Strict priority: packets of lower effort are sent only while no other packet waits.
//!
//! Source: RFC 8622, the Lower-Effort behaviour; RFC 2475 §2.3.3.3 describes schedulers of this
//! kind. Each of the two classes is a drop-tail queue of its own, as the bands of Linux's `prio`
//! are, so packets of lower effort take no room from others. A packet in transmission is not
//! interrupted.

use super::{DepartureKind, Dropped, Fifo, HoldPackets, Kind, ROOM};
use crate::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Described, InvalidParameter, Packets, Time, WholePackets};

/// Packets of paths with `lower_effort` are sent only while no other packet waits.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Priority {
    /// Capacity of each of the two classes in packets.
    #[serde(rename(serialize = "limit_packets"), serialize_with = "Packets::whole")]
    #[schemars(with = "WholePackets", extend("range" = ROOM.right))]
    pub limit: Packets,
}

impl Kind for Priority {
    const DESCRIBED: Described = Described {
        names: &["strict-priority", "prio"],
        summary: "Sends lower-effort packets only while no other packet waits.",
        source: "RFC 8622",
    };

    fn check(&self) -> Result<(), InvalidParameter> {
        ROOM.check("limit", &self.limit)
    }

    fn short(limit: u64, _: bool) -> Self {
        Priority { limit: Packets(limit as f64) }
    }
}

impl DepartureKind for Priority {
    type State<P> = PriorityQueue<P>;

    fn start<P: Packet>(&self) -> PriorityQueue<P> {
        PriorityQueue { usual: Fifo::new(), lower: Fifo::new(), limit: self.limit.0 as u64 }
    }
}

/// The two classes.
pub(crate) struct PriorityQueue<P> {
    usual: Fifo<P>,
    /// Packets of lower effort.
    lower: Fifo<P>,
    /// Most packets in each class.
    limit: u64,
}

impl<P: Packet> HoldPackets<P> for PriorityQueue<P> {
    fn enqueue(&mut self, now: Time, packet: P, _: &mut Dropped<P>) -> bool {
        let class = if packet.lower_effort() { &mut self.lower } else { &mut self.usual };
        let room = class.len() < self.limit;
        if room {
            class.push(now, packet);
        }
        room
    }

    fn dequeue(&mut self, _: Time, _: &mut Dropped<P>) -> Option<P> {
        let (_, packet) = self.usual.pop().or_else(|| self.lower.pop())?;
        Some(packet)
    }

    fn backlog(&self) -> (u64, u64) {
        (self.usual.len() + self.lower.len(), self.usual.bytes() + self.lower.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestPacket;
    use proptest::prelude::*;

    fn numbered(number: u32, lower: bool) -> TestPacket {
        TestPacket { number, lower, ..TestPacket::of(1000) }
    }

    proptest! {
        /// Arrivals (`Some`: whether of lower effort) and departures in any order.
        #[test]
        fn lower_effort_leaves_only_while_nothing_else_waits_and_takes_no_room_from_others(
            limit in 1u64..6, steps in prop::collection::vec(any::<Option<bool>>(), 0..200),
        ) {
            let mut queue = Priority { limit: Packets(limit as f64) }.start::<TestPacket>();
            let mut alone = Priority { limit: Packets(limit as f64) }.start::<TestPacket>();
            let dropped = &mut Dropped::new();
            for (number, step) in steps.into_iter().enumerate() {
                let Some(lower) = step else {
                    let before = alone.backlog().0;
                    let out = queue.dequeue(Time::ZERO, dropped);
                    prop_assert_eq!(out.is_some_and(|it| !it.lower), before > 0);
                    if before > 0 {
                        prop_assert_eq!(out, alone.dequeue(Time::ZERO, dropped));
                    }
                    continue;
                };
                let packet = numbered(number as u32, lower);
                let taken = queue.enqueue(Time::ZERO, packet, dropped);
                if !lower {
                    prop_assert_eq!(taken, alone.enqueue(Time::ZERO, packet, dropped));
                }
            }
            prop_assert!(dropped.packets.is_empty());
        }
    }
}
