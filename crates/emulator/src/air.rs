//! Packets on a medium.

use crate::forward::{Forwarder, Outside, Wake};
use crate::packet::Packet;
use std::cmp::Reverse;
use topology::Aired;
use units::Time;

impl Forwarder {
    /// A packet comes to the station at the beginning of a lane.
    pub(crate) fn offer_air(&mut self, packet: Packet, lane: u32) {
        if !self.air.offer(self.now, lane, packet) {
            self.lose(packet);
        }
        self.expect_air(self.air.medium_of(lane));
    }

    /// Has a medium woken when it next has something to do.
    pub(crate) fn expect_air(&mut self, medium: u32) {
        let at = self.air.next_wake(medium);
        if at != self.air_pending[medium as usize] {
            self.air_pending[medium as usize] = at;
            if at != Time::NEVER {
                self.agenda.push(Reverse((at, Wake::Medium(medium))));
            }
        }
    }

    /// Something happens on a medium.
    pub(crate) fn wake_air(&mut self, medium: u32, outside: Outside<'_>) {
        if self.air_pending[medium as usize] != self.now {
            return; // another entry took its place
        }
        self.air_pending[medium as usize] = Time::NEVER;
        let mut aired = Vec::new();
        self.air.wake(self.now, medium, &mut aired);
        for outcome in aired {
            match outcome {
                Aired::Out(packet) => self.hop(packet, outside),
                Aired::Done { frame, lost: true, .. } | Aired::Lost(frame) => self.lose(frame),
                Aired::Done { .. } => {}
            }
        }
        self.expect_air(medium);
    }
}
