//! Packets on shared media.

use crate::forward::{Forwarder, Outside, Wake};
use crate::packet::Packet;
use network::Outcome;
use std::cmp::Reverse;
use units::Time;

impl Forwarder {
    /// A packet arrives at the first station of a medium link.
    pub(crate) fn offer_medium(&mut self, packet: Packet, link: u32) {
        if !self.media.offer(self.now, link, packet) {
            self.lose(packet);
        }
        self.expect_medium(self.media.medium_of(link));
    }

    /// Schedules the next wake-up of a medium.
    pub(crate) fn expect_medium(&mut self, medium: u32) {
        let at = self.media.next_wake(medium);
        if at != self.media_pending[medium as usize] {
            self.media_pending[medium as usize] = at;
            if at != Time::NEVER {
                self.agenda.push(Reverse((at, Wake::Medium(medium))));
            }
        }
    }

    /// Handles a wake-up of a medium.
    pub(crate) fn wake_medium(&mut self, medium: u32, outside: Outside<'_>) {
        if self.media_pending[medium as usize] != self.now {
            return; // another entry replaced it
        }
        self.media_pending[medium as usize] = Time::NEVER;
        let mut outcomes = Vec::new();
        self.media.wake(self.now, medium, &mut outcomes);
        for outcome in outcomes {
            match outcome {
                Outcome::Arrived { link, packet, .. } => {
                    self.media.count_arrived(medium, link, &packet);
                    self.hop(packet, outside);
                }
                Outcome::Left { link, packet, lost: true } | Outcome::Lost { link, packet } => {
                    self.media.count_left(medium, link, true);
                    self.lose(packet);
                }
                Outcome::Left { link, .. } => _ = self.media.count_left(medium, link, false),
            }
        }
        self.expect_medium(medium);
    }
}
