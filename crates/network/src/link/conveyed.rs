//! Packets that an unlimited link conveys but does not keep: its caller knows when they come out.
//!
//! The link hands such a packet over when it enters, and counts it as carried. To measure the link,
//! its caller shows it those that have not come out, and hides them again before the next enters.

use super::Link;
use crate::Packet;
use units::{Span, Time};

/// A packet that was conveyed.
#[derive(Clone, Copy, Debug)]
pub struct Conveyed {
    /// Its size.
    pub bytes: u32,
    /// When it enters the link; this may be ahead of time.
    pub enters: Time,
    /// When its transmission starts.
    pub starts: Time,
}

/// The times of a packet that is conveyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passing {
    /// When its transmission starts.
    pub starts: Time,
    /// When it comes out.
    pub out: Time,
    /// Whether the packet before it comes out at the same time. At a link that takes no time that
    /// one may have come out.
    pub with_last: bool,
}

impl<P: Packet> Link<P> {
    /// A packet of `bytes` enters at `now`, and is kept by the caller.
    #[inline(always)] // runs for every hop
    pub fn convey(&mut self, now: Time, bytes: u32) -> Passing {
        debug_assert!(self.is_unlimited(), "it may drop the packet");
        self.arrived += 1;
        self.carried_bytes += u64::from(bytes);
        let before = self.last_arrival;
        let starts = self.transmit(now, bytes);
        let out = self.last_exit();
        Passing { starts, out, with_last: out == before }
    }

    /// Whether it accepts every packet, and packets of `bytes` or more take time to come out.
    pub fn takes_time(&self, bytes: u32) -> bool {
        self.is_unlimited() && (self.delay > Span::ZERO || self.transmitter.takes_time(bytes))
    }

    /// A conveyed packet has not come out at `now`. Until [`Link::hide`], counters and backlog tell
    /// so.
    pub fn show(&mut self, now: Time, packet: Conveyed) {
        let Conveyed { bytes, enters, starts } = packet;
        self.carried_bytes -= u64::from(bytes);
        match (enters > now, starts > now) {
            (true, _) => return self.arrived -= 1,
            (false, true) => self.waiting_bytes += u64::from(bytes),
            (false, false) => self.started += 1,
        }
        self.line.readmit(1);
    }

    /// Ends [`Link::show`] of a packet at the same `now`.
    pub fn hide(&mut self, now: Time, packet: Conveyed) {
        let Conveyed { bytes, enters, starts } = packet;
        self.carried_bytes += u64::from(bytes);
        match (enters > now, starts > now) {
            (true, _) => return self.arrived += 1,
            (false, true) => self.waiting_bytes -= u64::from(bytes),
            (false, false) => self.started -= 1,
        }
        self.line.withhold(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkSettings;
    use crate::testing::TestPacket;
    use proptest::prelude::*;
    use units::Rate;

    proptest! {
        /// Packets come at `gaps` in ns; after some of them the links are measured.
        #[test]
        fn a_link_that_keeps_its_packets_measures_the_same(
            packets in prop::collection::vec((0u64..3000, 20u32..1500, any::<bool>()), 1..100),
            (mbps, delay) in (1u64..400_000, 0u64..10_000),
        ) {
            let rate = Some(Rate(mbps * 1_000_000));
            let delay = Span(delay);
            let link = || Link::new(LinkSettings { rate, delay, ..LinkSettings::default() });
            let (mut keeps, mut conveys) = (link(), link());
            let mut inside: Vec<(Time, Conveyed)> = Vec::new();
            let mut now = Time::ZERO;
            prop_assert_eq!(conveys.takes_time(20), delay > Span::ZERO || mbps <= 160_000);
            for (gap, bytes, look) in packets {
                now = now + Span(gap);
                while keeps.due() <= now {
                    let (out, _) = inside.remove(0);
                    prop_assert_eq!(keeps.due(), out);
                    keeps.deliver();
                }
                keeps.offer_unlimited(now, TestPacket::of(bytes));
                let Passing { starts, out, with_last } = conveys.convey(now, bytes);
                let last = inside.last().map(|(out, _)| *out);
                prop_assert!(!conveys.takes_time(20) || with_last == (last == Some(out)));
                inside.push((out, Conveyed { bytes, enters: now, starts }));
                if look {
                    inside.iter().for_each(|(_, packet)| conveys.show(now, *packet));
                    prop_assert_eq!(keeps.counters(), conveys.counters());
                    prop_assert_eq!(keeps.carried(), conveys.carried());
                    prop_assert_eq!(keeps.backlog(now), conveys.backlog(now));
                    inside.iter().for_each(|(_, packet)| conveys.hide(now, *packet));
                }
            }
        }
    }

    #[test]
    fn packets_that_enter_later_are_not_counted_yet() {
        let rate = Some(Rate(8_000_000_000));
        let mut link: Link<TestPacket> =
            Link::new(LinkSettings { rate, ..LinkSettings::default() });
        let passing = link.convey(Time(500), 1000);
        let starts = Time(500);
        assert_eq!(passing, Passing { starts, out: Time(1500), with_last: false });
        link.show(Time(499), Conveyed { bytes: 1000, enters: Time(500), starts });
        assert_eq!(link.counters(), crate::Counters::default());
        assert_eq!(link.carried(), 0);
    }

    #[test]
    fn packets_of_a_pure_delay_may_come_out_together() {
        let delay = Span(7);
        let mut link: Link<TestPacket> = Link::new(LinkSettings { delay, ..Default::default() });
        let together = [Time(1), Time(1), Time(2)].map(|now| link.convey(now, 1500).with_last);
        assert_eq!(together, [false, true, false]);
    }
}
