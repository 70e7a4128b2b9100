//! Exits of packets from a link of any kind, and the times to wake it.

use super::{Link, Schedule};
use crate::{Packet, Rng};
use units::Time;

/// An exit from a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passage<P> {
    /// A packet.
    Out(P),
    /// A packet that will come out once more.
    Copy(P),
    /// A packet that was lost on the line.
    Lost(P),
}

impl<P: Packet> Link<P> {
    /// The next exit at `now`: call until `None`, then [`Link::take_dropped`] until `None`, and
    /// then ask [`Link::due`]. Waking a link early is harmless.
    pub fn wake(&mut self, now: Time, rng: &mut impl Rng) -> Option<Passage<P>> {
        self.serve(now);
        if self.only_departs() {
            return self.leave_line(now).map(Passage::Out);
        }
        let impairments = self.extras.as_mut().map(|extras| &mut extras.impairments);
        if let Some(original) = impairments.and_then(|own| own.pass_original(now, rng)) {
            return Some(original);
        }
        while let Some(packet) = self.leave_line(now) {
            let passage = match &mut self.extras {
                None => Some(Passage::Out(packet)),
                Some(extras) => extras.impairments.pass(now, packet, rng),
            };
            if passage.is_some() {
                return passage;
            }
        }
        self.extras.as_mut()?.impairments.take_late(now).map(Passage::Out)
    }

    /// When to wake the link; never while it is empty.
    pub fn due(&self) -> Time {
        let out = self.line.front().map_or(Time::NEVER, |carried| carried.arrives);
        let Some(extras) = &self.extras else {
            return out;
        };
        let start = if self.undecided().0 > 0 { self.ready() } else { Time::NEVER };
        out.min(extras.impairments.due()).min(start)
    }

    /// When the transmitter can take a packet.
    pub(super) fn ready(&self) -> Time {
        self.schedule().map_or(self.transmitter.idle_at, Schedule::ready)
    }

    /// The next packet that has reached the end of the line by `now`.
    #[inline(always)] // runs for every hop out of a link that is not plain
    fn leave_line(&mut self, now: Time) -> Option<P> {
        let packet = self.line.front().filter(|carried| carried.arrives <= now)?.packet;
        self.deliver();
        Some(packet)
    }
}
